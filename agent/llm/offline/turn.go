package offline

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text/lazy"
)

// turn is the state of the rules: the question, the history, and the tool results for this question. It is parsed
// from the messages of each request, since the model is stateless. An answer ends its question, and discards the
// results that belong to it.
type turn struct {
	question string
	earlier  []exchange
	tools    []llm.ToolSpec
	noTools  bool
	results  []result
	added    []passage  // text that came with the question in addition to the documents, without numbers
	past     []document // documents of the last answer, as the system message lists them
	chosen   string     // the one document that the question is limited to, as the system message names it
}

// exchange is an earlier question with its answer.
type exchange struct{ question, answer string }

// result is a tool's result with its call.
type result struct {
	tool  string
	round int // index of the model's turn with the call
	input map[string]any
	out   output
}

// output has all fields of the outputs of document tools.
type output struct {
	Documents    []document `json:"documents"`
	Results      []found    `json:"results"`
	TotalFound   int        `json:"total_found"`
	More         bool       `json:"more"`
	KeySentences []string   `json:"key_sentences"`
	Result       any        `json:"result"`
	Expression   string     `json:"expression"`
	Error        any        `json:"error"`
	Quotes       []checked  `json:"quotes"`
	// typing errors of the query: typed → looked for as well
	Corrected map[string]string `json:"corrected"`
	tableResult
	document
}

// document is a document in a tool's output. Not every tool has every field.
type document struct {
	DocID    string    `json:"doc_id"`
	Filename string    `json:"filename"`
	Title    string    `json:"title"`
	Type     string    `json:"type"`
	Pages    int       `json:"pages"`
	Added    string    `json:"added"`
	Score    float64   `json:"score"`
	Passages []passage `json:"passages"`

	Meta map[string]any `json:"meta"` // of a list
}

// name returns the document's display name.
func (d document) name() string {
	if d.Filename != "" {
		return d.Filename
	}
	return d.Title
}

// passage is a part of a document with its citation number.
type passage struct {
	N       int    `json:"n"`
	Page    int    `json:"page"`
	Section string `json:"section"`
	Text    string `json:"text"`
}

// newTurn parses a request's messages. Asides of the program are not questions; an answer before an aside was
// withdrawn.
func newTurn(req llm.Request) turn {
	t := turn{tools: req.Tools, noTools: req.NoTools}
	calls := map[string]llm.Call{}
	rounds := map[string]int{}
	for i, msg := range req.Messages {
		switch msg.Role {
		case llm.RoleSystem:
			for _, m := range pastDocument().FindAllStringSubmatch(msg.Text, -1) {
				t.past = append(t.past, document{Title: m[1], DocID: m[2]})
			}
			if _, chosen, ok := strings.Cut("\n"+msg.Text, "\n"+llm.ChosenDocument); ok {
				t.chosen, _, _ = strings.Cut(chosen, "\n")
			}
		// A new question discards the tool results of the previous one.
		case llm.RoleUser:
			if msg.Aside {
				continue
			}
			if t.question != "" {
				t.earlier = append(t.earlier, exchange{question: t.question})
			}
			t.question, t.results, t.added = strings.TrimSpace(msg.Text), nil, nil
		case llm.RoleAssistant:
			for _, call := range msg.Calls {
				calls[call.ID], rounds[call.ID] = call, i
			}
			// the answer of an earlier turn
			if len(msg.Calls) == 0 && t.question != "" && !(i+1 < len(req.Messages) && req.Messages[i+1].Aside) {
				t.earlier = append(t.earlier, exchange{t.question, msg.Text})
				t.question, t.results = "", nil
			}
		case llm.RoleTool:
			r := readResult(calls[msg.CallID], msg.Text)
			if r.input["doc_id"] == llm.AddedDocument {
				t.added = r.out.Passages
				continue
			}
			r.round = rounds[msg.CallID]
			t.results = append(t.results, r)
		}
	}
	if t.question == "" && len(t.earlier) > 0 { // a history that ends with an answer: answer again
		last := t.earlier[len(t.earlier)-1]
		t.question, t.earlier = last.question, t.earlier[:len(t.earlier)-1]
	}
	return t
}

// pastDocument matches a line of the system message with a document of the last answer.
var pastDocument = lazy.Regexp(`(?m)^\d+\. (.+) \(doc_id (\S+)\)$`)

// pastMeant returns the document of the last answer if a question refers to it: with an empty name, or only a
// pronoun.
func (t turn) pastMeant(name string) (document, bool) {
	if len(t.past) == 0 || name != "" && strings.TrimSpace(pointsBack().ReplaceAllString(name, "")) != "" {
		return document{}, false
	}
	return t.past[0], true
}

// readResult decodes the first JSON object of a tool's text; lines around it are a fence.
func readResult(call llm.Call, text string) result {
	r := result{tool: call.Name}
	_ = json.Unmarshal(call.Arguments, &r.input) // a call without arguments has no input
	start := strings.IndexByte(text, '{')
	if start < 0 || json.NewDecoder(strings.NewReader(text[start:])).Decode(&r.out) != nil {
		r.out = output{Error: "unreadable"}
	}
	return r
}

// has reports whether a tool is offered and may be called.
func (t turn) has(tool string) bool {
	return !t.noTools && slices.ContainsFunc(t.tools, func(s llm.ToolSpec) bool { return s.Name == tool })
}

// of returns the results of a tool.
func (t turn) of(tool string) []result {
	var out []result
	for _, r := range t.results {
		if r.tool == tool {
			out = append(out, r)
		}
	}
	return out
}

// found returns the documents of all searches, deduplicated, best first. The results of searches of one round are
// interleaved by rank.
func (t turn) found() []document {
	var out []document
	for searches := t.searches(); len(searches) > 0; {
		n := 1
		for n < len(searches) && searches[n].round == searches[0].round {
			n++
		}
		out = together(out, searches[:n])
		searches = searches[n:]
	}
	return out
}

// together adds the results of one round of searches.
func together(out []document, searches []result) []document {
	for rank, more := 0, true; more; rank++ {
		more = false
		for _, r := range searches {
			if rank < len(r.out.Documents) {
				more = true
				if d := r.out.Documents[rank]; !slices.ContainsFunc(out,
					func(o document) bool { return o.DocID == d.DocID }) {
					out = append(out, d)
				}
			}
			if passages := byDocument(r.out.Results); rank < len(passages) {
				more = true
				d := passages[rank]
				if i := slices.IndexFunc(out, func(o document) bool {
					return o.DocID == d.DocID && o.Title == d.Title
				}); i >= 0 {
					out[i].add(d.Passages)
				} else {
					out = append(out, d)
				}
			}
		}
	}
	return out
}

// read returns the documents that were read, with their passages.
func (t turn) read() []document {
	var out []document
	for _, r := range t.results {
		switch r.tool {
		case "read_document", "lookup", "get_document_summary":
			if r.out.Error == nil {
				out = append(out, r.out.document)
			}
		case "read_multiple_documents":
			out = append(out, r.out.Documents...)
		}
	}
	return out
}

// shown returns all passages that were read, or found in documents that were not read, deduplicated by number. Text
// that came with the question is first, then readings, then search results.
func (t turn) shown() []source {
	var out []source
	seen := map[int]bool{}
	add := func(d document, read bool) {
		for _, p := range d.Passages {
			if !seen[p.N] && p.N > 0 && strings.TrimSpace(p.Text) != "" {
				seen[p.N] = true
				out = append(out, source{passage: p, document: d, read: read})
			}
		}
	}
	for _, p := range t.added {
		out = append(out, source{passage: p, document: document{DocID: llm.AddedDocument}, read: true})
	}
	for _, d := range t.read() {
		add(d, true)
	}
	for _, d := range t.found() {
		add(d, false)
	}
	return out
}

// corrected returns the typing errors of all searches, with the words that the searches read them as.
func (t turn) corrected() map[string]string {
	all := map[string]string{}
	for _, r := range t.searches() {
		maps.Copy(all, r.out.Corrected)
	}
	return all
}

// source is a passage with its document.
type source struct {
	passage
	document document
	read     bool
}
