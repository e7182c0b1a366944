package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

func keysOf(passages []corpus.Passage, limit int, focus string) (out []string) {
	for _, s := range keySentences(passages, "en", limit, focus) {
		out = append(out, s.text)
	}
	return out
}

// Key sentences are statements of different sections, without the framing of a letter.
func TestKeySentencesCoverDifferentSections(t *testing.T) {
	letter := []corpus.Passage{
		{Section: "Letter", Text: "Dear Ms Whitlock and dear Mr Prowse,\n\nThe rent for the flat will be £882 a " +
			"month from 1 June 2024. The rent for the flat was £840 a month from 1 June 2023.\n\n" +
			"The rent is the rent of the flat and of nothing else at all."},
		{Section: "Repairs", Text: "Rent, boiler, flat: what of the rent of the flat is for the boiler of the flat?! " +
			"The boiler of the flat will be renewed before 30 September."},
		{Section: "End", Text: "Please answer by 15 May so that I can plan the works.\n\n" +
			"Kind regards, Alan Prowse, Mill Rise"},
	}
	got := keysOf(letter, 3, "")
	want := []string{
		"The rent for the flat will be £882 a month from 1 June 2024.",
		"The boiler of the flat will be renewed before 30 September.",
		"Please answer by 15 May so that I can plan the works.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the key sentences are %q, want %q", got, want)
	}
	if got := keysOf(letter, 1, "boiler"); !slices.Equal(got, want[1:2]) {
		t.Errorf("about the boiler it is %q, want %q", got, want[1:2])
	}
	if got := keysOf(nil, 3, ""); len(got) > 0 {
		t.Errorf("of nothing they are %q, want none", got)
	}
}

// If no line ends as a sentence, lines are used.
func TestKeySentencesFallBackToLines(t *testing.T) {
	list := []corpus.Passage{{
		Text: "- Student tariff with 100 Mbit/s for £24 a month\n\n- Plus tariff with 250 Mbit/s for £32 a month",
	}}
	if got := keysOf(list, 2, ""); len(got) != 2 {
		t.Errorf("the key sentences are %q, want both lines", got)
	}
}

// Arguments are coerced where the meaning is unambiguous; all others stay for the schema to refuse.
func TestCoerceArguments(t *testing.T) {
	t.Parallel()
	box, err := NewRegistry(Config{})
	if err != nil {
		t.Fatal(err)
	}
	whole := Set{Tools: box.Tools}
	for _, tt := range []struct{ tool, args, want string }{
		{"search_documents", `{"query":"roof","max_results":"5"}`, `{"max_results":5,"query":"roof"}`},
		{"search_documents", `{"q":"roof"}`, `{"max_results":10,"query":"roof"}`},
		{"search_documents", `{"keywords":["roof","damp"]}`, `{"max_results":10,"query":"roof damp"}`},
		{"search_documents", `{"query":["roof"]}`, `{"max_results":10,"query":"roof"}`},
		{"search_documents", `{"query":{"type":"string","value":"roof"}}`, `{"max_results":10,"query":"roof"}`},
		{"read_multiple_documents", `{"document_ids":"d1"}`, `{"doc_ids":["d1"]`},
		{"read_multiple_documents", `{"doc_ids":"[\"d1\",\"d2\"]"}`, `{"doc_ids":["d1","d2"]`},
		{"search_documents", `{"query":[7]}`, ""},
		{"search_documents", `{"query":"roof","max_results":"many"}`, ""},
		{"search_documents", `{"query":"roof","q":"damp"}`, ""},
		{"search_documents", `{}`, ""},
	} {
		tool := whole.Find(tt.tool)
		got, err := tool.Normalise(tool.CoerceArgs(json.RawMessage(tt.args)), nil)
		if (err == nil) != (tt.want != "") || !strings.HasPrefix(string(got), strings.TrimSuffix(tt.want, "}")) {
			t.Errorf("%s %s: %s %v, want %s", tt.tool, tt.args, got, err, tt.want)
		}
	}
}

func TestUnknownSchemaIsNotChecked(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"type":"object","properties":{"a":{"$ref":"https://example.org/x.json"}}}`, `{"type":"object","required":7}`,
	} {
		if err := resolveSchema([]byte(raw)).Validate(map[string]any{"a": 1}); err != nil {
			t.Errorf("%s: %v, want no error", raw, err)
		}
	}
	if err := resolveSchema([]byte(`{"type":"object","required":["a"]}`)).Validate(map[string]any{}); err == nil {
		t.Error("valid schema: got no error for a missing field, want one")
	}
}

func TestInvalidInputHasPlainMessage(t *testing.T) {
	t.Parallel()
	const foreign = `{"type":"object","required":["item"],"additionalProperties":false,"properties":{
		"item":{"type":"string","minLength":2},"count":{"type":"integer","exclusiveMinimum":0},` +
		`"share":{"type":"number","maximum":1},"gift":{"type":["boolean","null"]},
		"size":{"enum":["small","large",3]},"tags":{"type":"array","maxItems":2,"items":{"type":"string",` +
		`"maxLength":3}},"code":{"type":"string","pattern":"^[A-Z]+$"},
		"to":{"type":"object","required":["street"],"properties":{"street":{"type":"string"},` +
		`"number":{"type":"integer","minimum":1,"maximum":999}}},
		"step":{"type":"integer","multipleOf":5},"link":{"$ref":"#/$defs/link"}},"$defs":{"link":{"type":"string",` +
		`"maxLength":1}}}`
	tool := &Tool{
		Name: "shop__order", Verbatim: true, schema: resolveSchema(json.RawMessage(foreign)),
		Spec: llm.ToolSpec{Schema: json.RawMessage(foreign)},
	}
	for _, tt := range []struct{ input, want string }{
		{`{}`, `“item” is missing; it must be a text of at least 2 characters`},
		{`{"item":7}`, `“item” must be a text of at least 2 characters`},
		{`{"item":"slates","count":0}`, `“count” must be a whole number above 0`},
		{`{"item":"slates","count":1.5}`, `“count” must be a whole number above 0`},
		{`{"item":"slates","share":2}`, `“share” must be a number of at most 1`},
		{`{"item":"slates","gift":"yes"}`, `“gift” must be true or false, or null`},
		{`{"item":"slates","size":"huge"}`, `“size” must be one of “small”, “large”, 3`},
		{`{"item":"slates","tags":["a","b","c"]}`, `“tags” must be a list of at most 2 items`},
		{`{"item":"slates","tags":["a","long"]}`, `“tags[1]” must be a text of at most 3 characters`},
		{`{"item":"slates","code":"abc"}`, `“code” must be a text of the form ^[A-Z]+$`},
		{`{"item":"slates","to":{}}`, `“to.street” is missing; it must be a text`},
		{`{"item":"slates","to":{"street":"Mill","number":0}}`, `“to.number” must be a whole number from 1 to 999`},
		{`{"item":"slates","to":"Mill"}`, `“to” must be an object with the fields “number”, “street”`},
		{`{"item":"slates","step":7}`, `“step” must be a whole number divisible by 5`},
		{`{"item":"slates","colour":"red"}`,
			`there is no field “colour”; there are “code”, “count”, “gift”, “item”, “link”, “share”, “size”, “step”, ` +
				`“tags”, “to”`},
		{`{"item":"slates","link":"far"}`,
			`it does not fit the fields “code”, “count”, “gift”, “item”, “link”, “share”, “size”, “step”, “tags”, ` +
				`“to”`},
		{`[1]`, `it must be a JSON object`},
	} {
		if args, err := tool.Normalise(json.RawMessage(tt.input), nil); err == nil || err.Error() != tt.want {
			t.Errorf("error for %s =\n %v, want\n %s (passed as %s)", tt.input, err, tt.want, args)
		}
	}
}

func TestToolWithoutFieldsNamesUnknownField(t *testing.T) {
	t.Parallel()
	all, err := NewRegistry(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all.Find("generate_answer").Normalise(json.RawMessage(`{"context":"x"}`), nil); err == nil ||
		err.Error() != "there is no field “context”; there are none" {
		t.Errorf("got %v, want %q", err, "there is no field “context”; there are none")
	}
}

func TestToolsOfCapabilityAreInterchangeable(t *testing.T) {
	t.Parallel()
	all, err := NewRegistry(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ set, names, want string }{
		{"cursor", "search_documents read_document grep_documents", "search_documents read_document grep_documents"},
		{"react", "search_documents read_multiple_documents get_document_summary", "retrieve lookup summarize"},
		{"strategy", "search_documents read_multiple_documents list_documents",
			"hybrid_search read_document metadata_search"},
		{"documentation", "search_documents read_document", "retrieve_documentation"},
		{"strategy", "grep_documents web_search calculate rerank_documents unknown", ""},
		{"react", "read_document read_multiple_documents", "lookup"},
	} {
		got := all.Toolsets[tt.set].Available(strings.Fields(tt.names))
		if want := strings.Fields(tt.want); !slices.Equal(got, want) {
			t.Errorf("%s has for %s: %v, want %v", tt.set, tt.names, got, want)
		}
	}
}

// The page, the API and the log of a stored run identify a tool by its label alone.
func TestToolsOfCapabilityShareLabel(t *testing.T) {
	t.Parallel()
	all, err := NewRegistry(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range all.Toolsets {
		for _, tool := range set.Tools {
			switch l := tool.Label; {
			case l == nil:
				if tool.Capability != "" {
					t.Errorf("%s: %s has no label, want one", name, tool.Name)
				}
			case l.Doing == "" || l.Done == "":
				t.Errorf("%s: %s has the label %+v, want both tenses", name, tool.Name, *l)
			case l.Argument != "" && tool.schema.Schema().Properties[l.Argument] == nil:
				t.Errorf("%s: %s has no argument %q, want the one of its label", name, tool.Name, l.Argument)
			case (l.Form == chat.LabelQuote || l.Form == chat.LabelCode) && l.Argument == "":
				t.Errorf("%s: the label of %s names no argument, want the words it is about", name, tool.Name)
			}
		}
	}
}

func TestModelDoesNotSeeFilePaths(t *testing.T) {
	d := corpus.Document{Meta: map[string]any{
		"author": "Ada", corpus.MetaWatched: map[string]any{"folder": "/home/ada", "path": "a.md"},
	}}
	told, err := json.Marshal(listedDocuments([]corpus.Document{d}))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(told), "/home/ada") || !strings.Contains(string(told), `"author":"Ada"`) {
		t.Errorf("metadata for the model = %s; want the author and no folder", told)
	}
	if len(d.Meta) != 2 {
		t.Errorf("the document has meta %v, want both keys as before", d.Meta)
	}
}

func TestClipRespectsLimit(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{
		"a long text":    map[string]any{"a": strings.Repeat("x\"", 50_000)},
		"a long list":    map[string]any{"a": make([]string, 50_000)},
		"many names":     manyNames(5000),
		"many documents": readingOutput{object: object{{"documents", make([]readingOutput, 400)}}},
	} {
		whole, err := Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		short, err := Clip(v, whole)
		if err != nil || utf8.RuneCount(short) > MaxOutput || !json.Valid(short) || short[0] != '{' {
			t.Errorf("%s: %d characters, %v; want at most %d", name, utf8.RuneCount(short), err, MaxOutput)
		}
	}
}

func manyNames(n int) map[string]any {
	out := map[string]any{}
	for i := range n {
		out[fmt.Sprintf("name%d", i)] = i
	}
	return out
}
