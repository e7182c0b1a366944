package tools

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// args holds the arguments of all tools, under the names of the implementations. TopK is between 1 and the tool's
// maximum. Page is a reading page, a part of a long document (corpus.Reading.Part), or a page of a list.
type args struct {
	raw json.RawMessage

	Query          string         `json:"query"`
	TopK           int            `json:"top_k"`
	MaxResults     int            `json:"max_results"`
	MinScore       float64        `json:"min_score"` // 0–1
	Pattern        string         `json:"pattern"`
	DocID          string         `json:"doc_id"`
	DocIDs         []string       `json:"doc_ids"`
	FocusQuery     string         `json:"focus_query"`
	Page           int            `json:"page"`
	Filters        map[string]any `json:"filters"`
	CitationNumber int            `json:"citation_number"`
	CitedText      string         `json:"cited_text"`
	Reason         string         `json:"reason"`
	Question       string         `json:"question"`
	Quotes         []quote        `json:"quotes"`
	Texts          []string       `json:"texts"`
	Focus          string         `json:"focus"`
	Expression     string         `json:"expression"`
	Answer         string         `json:"answer"`
	tableArgs
}

// decode decodes arguments that Normalise has returned, and gives them the names of the implementation.
func (t *Tool) decode(raw json.RawMessage) (in args, err error) {
	in.raw = raw
	if t.Verbatim {
		return in, nil
	}
	var fields map[string]json.RawMessage
	if err = json.Unmarshal(raw, &fields); err != nil {
		return in, err
	}
	for _, p := range t.params {
		if value, ok := fields[p.name]; ok && p.field != "" {
			fields[p.field] = value
			delete(fields, p.name)
		}
	}
	if raw, err = json.Marshal(fields); err == nil {
		err = json.Unmarshal(raw, &in)
	}
	return in, err
}

// AnswerOf decodes the answer from the arguments of a call that ends a run.
func AnswerOf(raw json.RawMessage) (answer string, ok bool) {
	var in args
	err := json.Unmarshal(raw, &in)
	return in.Answer, err == nil
}

// param is a parameter of a tool: its name, and the JSON Schema of its values.
type param struct {
	name, schema string
	required     bool
	field        string // its name in args, if it differs
	aliases      string // further names that models use, separated by spaces
}

// as sets the name of a parameter in args.
func (p param) as(field string) param { p.field = field; return p }

// also adds aliases.
func (p param) also(names string) param { p.aliases += " " + names; return p }

// property returns a parameter with a schema. A name that ends with ! is required.
func property(name, schema string) param {
	name, required := strings.CutSuffix(name, "!")
	return param{name: name, schema: schema, required: required}
}

// textParam returns a parameter that is a text of up to most characters. A required one has at least 1.
func textParam(name string, most int, about string) param {
	least := ""
	if strings.HasSuffix(name, "!") {
		least = `"minLength":1,`
	}
	return property(name, fmt.Sprintf(`{"type":"string",%s"maxLength":%d,"description":%q}`, least, most, about))
}

// query returns the parameter query of a search.
func query(about string) param { return textParam("query!", 1000, about) }

// docID returns a parameter that is a reference to a document, as Context.find accepts it.
func docID(name string) param {
	return textParam(name, 500, "The document's id, title or file name").also("document_id")
}

// docIDs returns a required parameter with references to documents.
func docIDs(most int) param {
	return property("doc_ids!", fmt.Sprintf(`{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"string",`+
		`"minLength":1,"maxLength":500},"description":"Ids, titles or file names"}`, most)).also("document_ids")
}

// count returns a parameter that is a whole number from 1. A default of 0 and an empty description are omitted.
func count(name string, most, usual int, about string) param {
	schema := fmt.Sprintf(`{"type":"integer","minimum":1,"maximum":%d`, most)
	if usual > 0 {
		schema += fmt.Sprintf(`,"default":%d`, usual)
	}
	if about != "" {
		schema += fmt.Sprintf(`,"description":%q`, about)
	}
	return property(name, schema+"}")
}

// topK returns the parameter top_k of a search for passages. The default of a request replaces its own.
func topK(most int, about string) param { return count("top_k", most, 5, about) }

// share returns a parameter that is a number from 0 to 1.
func share(name string, usual float64, about string) param {
	return property(name,
		fmt.Sprintf(`{"type":"number","minimum":0,"maximum":1,"default":%v,"description":%q}`, usual, about))
}

// objectSchema returns the schema of a tool's arguments. It is compact, as every request to a model contains it.
func objectSchema(params []param) (json.RawMessage, error) {
	var required, properties []string
	for _, p := range params {
		properties = append(properties, fmt.Sprintf("%q:%s", p.name, p.schema))
		if p.required {
			required = append(required, fmt.Sprintf("%q", p.name))
		}
	}
	needs := ""
	if len(required) > 0 {
		needs = `,"required":[` + strings.Join(required, ",") + `]`
	}
	var out bytes.Buffer
	err := json.Compact(&out, []byte(`{"type":"object","additionalProperties":false`+needs+
		`,"properties":{`+strings.Join(properties, ",")+`}}`))
	return out.Bytes(), err
}

//go:embed *.md
var docFiles embed.FS

// docs returns the descriptions of tools for the model by name, from the sections of the .md files.
var docs = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	files, _ := docFiles.ReadDir(".") // embedded files can be read
	for _, f := range files {
		text, _ := docFiles.ReadFile(f.Name())
		for section := range strings.SplitSeq("\n"+string(text), "\n# ") {
			name, body, _ := strings.Cut(section, "\n")
			out[name] = strings.TrimSpace(body)
		}
	}
	return out
})
