package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/schema"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

// Numberer returns a passage's number in the run's sources, and assigns the next free one to a new passage.
//
// It is called only while outputs are made, sequentially, so the same log gives the same numbers.
type Numberer func(corpus.Passage, corpus.Document) int

// Result is the result of a tool call. A call fails in one of two ways: with a refusal, which the model can correct,
// or with an error, which it can't. Exactly one of Output and WhyRefused is set. With Check, WhyRefused is the
// fallback without a model.
//
// A result may be cached and used concurrently by other runs of the same user. So it is immutable and holds no state
// of its run.
//
// Message and Summary are sentences for the page and are stored with the step. Transient keeps a result out of the
// cache.
type Result struct {
	// Output builds the output, an object, and the step's result. It is called once in each run, in the order of the
	// calls.
	Output        func(Numberer) (output any, result chat.StepResult)
	Message       locale.Message // for people: "Found 3 documents"
	Summary       locale.Message // for people: "5 passages in 3 documents"
	Details       map[string]any
	SourceChanges SourceChanges
	Rewrite       *Rewrite       // request to a language model for a better output; nil: none
	Check         *Check         // texts for a language model to judge; nil: none
	Transient     bool           // partial result: a retry may return more; not cached
	WhyRefused    locale.Message // reason of a refusal, for the model; empty if the call succeeded
}

// Rewrite is a request to the run's language model for a better output of a result. The original result is the
// fallback without a model or if the request fails.
type Rewrite struct {
	Order   string // instruction for the model
	Data    string
	Written func(said string) Result // builds the result from the model's text
	Noted   func(note string) Result // builds the result with a note
}

// SourceChanges are a call's changes to its run's sources beyond its chat.StepResult. Changes to other systems are
// side effects: see Tool.HasSideEffects.
type SourceChanges struct {
	Documents   []corpus.Document // added to the run's sources
	Hits        []corpus.Result   // passages of a search
	EmptySearch string            // query of a metadata search without results
}

// refusal is the reason why a call can't be made as it is. Run returns it as Result.WhyRefused: the run continues,
// and the model reads the sentence as the call's result.
type refusal locale.Message

func (r refusal) Error() string { return locale.Message(r).String() }

func refused(form string, values ...any) error { return refusal(locale.Say(form, values...)) }

// Tool is a tool as runs use it, with JSON arguments: a row of the table, or a tool of an MCP server. It is immutable
// and shared by all runs.
//
// Its methods get arguments that Normalise has returned. They are safe for concurrent use.
type Tool struct {
	Name       string          // as models call it; stored with each call
	Action     chat.Action     // kind of its steps, for the page
	Capability chat.Capability // groups tools that can replace each other; empty: none
	Label      *chat.Label     // label of its calls on the page; nil: the messages are shown
	Retrieval  bool            // counts against the budget of retrieval calls
	Cached     bool            // results are cached until the library changes
	Continues  bool            // the same call returns the next results, so it may be repeated
	EndsRun    bool            // its argument is the answer, which ends the run
	// the next turn is the answer
	AnswersNext bool
	Approve     bool // a user has to approve each call
	// it may change other systems: the start of a call is stored first, so that it is never repeated
	HasSideEffects bool
	Verbatim       bool          // arguments are passed on unchanged
	Timeout        time.Duration // timeout of one call; 0: the default of all tools
	MaxTopK        int           // maximum of its argument top_k; 0: it has none
	EchoedArg      string        // argument that an error echoes: {"error": …, "query": …}; empty: none
	Spec           llm.ToolSpec  // its description for models

	sets       string // names of its toolsets, separated by spaces
	preference int    // order of fallbacks within a capability, lowest first; 0: never a fallback
	unique     bool   // has no fallback
	web        bool   // searches the web instead of the library
	missing    string // why it can't work in this configuration; empty: it can
	// an answer from its results alone needs no footnotes
	withoutPassages bool

	params  []param
	aliases map[string]string // aliases of arguments that models use, to the names in the schema
	schema  *jsonschema.Resolved

	run func(context.Context, *Context, args) (Result, error)
	// The other functions may be nil. A call's message is that of the label, then, and models get all of an output.
	describe      func(*Context, args) string           // progress message
	whyImpossible func(args) error                      // why valid arguments can only fail, if known before the call
	forModel      func(json.RawMessage) any             // the part of an output that the model gets
	computed      func(json.RawMessage) json.RawMessage // values of an output that need no footnote
	vocabulary    func(args) string                     // words that answers use for a result without passages
}

// build validates a row of the table and completes it. It fails for an invalid schema and without a description,
// programming errors found at the start.
func (t *Tool) build() error {
	raw, err := objectSchema(t.params)
	t.Spec = llm.ToolSpec{Name: t.Name, Description: docs()[t.Name], Schema: raw}
	var s jsonschema.Schema
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err == nil {
		t.schema, err = s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	}
	if err == nil && t.Spec.Description == "" {
		err = errors.New("it has no description")
	}
	if err != nil {
		return fmt.Errorf("tool %s: %w", t.Name, err)
	}
	if top := s.Properties["top_k"]; top != nil {
		t.MaxTopK = int(*top.Maximum)
	}
	t.aliases = map[string]string{}
	for _, p := range t.params {
		for alias := range strings.FieldsSeq(p.aliases) {
			t.aliases[alias] = p.name
		}
	}
	return nil
}

// Describe returns the progress message of a call: "Reading Survey.pdf".
func (t *Tool) Describe(d *Context, raw json.RawMessage) string {
	in, err := t.decode(raw)
	switch {
	case err != nil:
		return t.Name
	case t.describe != nil:
		return t.describe(d, in)
	}
	var given map[string]any
	_ = json.Unmarshal(raw, &given) // decode has read it
	about, _ := given[t.Label.Argument].(string)
	about = text.Shorten(about, 120)
	if t.Label.Form == chat.LabelQuote {
		return t.Label.Doing + ": " + about
	}
	if t.Label.Form == chat.LabelTitle {
		about = d.displayName(about)
	}
	return t.Label.Doing + " " + about
}

// Impossible returns the reason why a call with valid arguments can only fail, if that is known before the call.
func (t *Tool) Impossible(raw json.RawMessage) error {
	in, err := t.decode(raw)
	if t.whyImpossible == nil || err != nil {
		return nil
	}
	return t.whyImpossible(in)
}

// Run makes a call. An error is one that the model can't correct. Arguments that pass the schema but can't be decoded
// are refused, since the model wrote them.
func (t *Tool) Run(ctx context.Context, d *Context, raw json.RawMessage) (Result, error) {
	in, err := t.decode(raw)
	if err != nil {
		return Result{WhyRefused: locale.Say("the arguments can't be read: {1}", err)}, nil
	}
	r, err := t.run(ctx, d, in)
	if why, ok := errors.AsType[refusal](err); ok {
		return Result{WhyRefused: locale.Message(why)}, nil
	}
	return r, err
}

// MarkStep sets the action, capability and label of a step for the page.
func (t *Tool) MarkStep(s *chat.Step) {
	s.ActionType, s.Capability, s.Label = t.Action, t.Capability, t.Label
}

// Normalise validates arguments against the schema and returns them in a canonical form, so that equal calls are
// equal bytes. Repeated calls and cached results are recognised by these bytes. The steps are: drop nulls, trim
// strings, resolve aliases, set the request's top_k, validate, apply defaults. An alias is dropped if its proper
// name is given. Arguments of Verbatim tools get no aliases. Its error names the invalid argument for the model.
//
// args may be empty, as some models send nothing for a tool without arguments.
func (t *Tool) Normalise(args json.RawMessage, topK *int) (json.RawMessage, error) {
	in := map[string]any{}
	if len(bytes.TrimSpace(args)) > 0 {
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, errors.New("it must be a JSON object")
		}
	}
	for name, v := range in {
		if t.Verbatim {
			break
		}
		switch v := v.(type) {
		case nil:
			delete(in, name)
			continue
		case string:
			in[name] = strings.TrimSpace(v)
		}
		if proper, ok := t.aliases[name]; ok {
			if _, twice := in[proper]; !twice {
				in[proper] = in[name]
			}
			delete(in, name)
		}
	}
	if _, given := in["top_k"]; !given && t.MaxTopK > 0 && topK != nil {
		in["top_k"] = min(*topK, t.MaxTopK)
	}
	if t.schema.Validate(in) != nil {
		return nil, errors.New(schema.Mismatch(t.schema.Schema(), in))
	}
	if err := t.schema.ApplyDefaults(&in); err != nil {
		return nil, err
	}
	return json.Marshal(in)
}

// NeedsNoFootnote reports whether an answer may state parts of a call's output without a footnote. That holds for a
// completed call of a tool without passages or with computed values, and for the error of an MCP tool.
func (t *Tool) NeedsNoFootnote(status chat.Status) bool {
	return (t.withoutPassages || t.computed != nil) && status == chat.StatusComplete ||
		t.Verbatim && status == chat.StatusError
}

// Returned converts a call to the form in which answers are checked against it: see NeedsNoFootnote.
func (t *Tool) Returned(input, output json.RawMessage, message string) cite.Returned {
	r := cite.Returned{
		Tool: t.Name, Verbatim: t.Verbatim, Computed: t.computed != nil, Input: input, Output: output, Message: message,
	}
	if t.computed != nil {
		r.Output = t.computed(output)
	}
	if in, err := t.decode(input); t.vocabulary != nil && err == nil {
		r.Vocabulary = t.vocabulary(in)
	}
	return r
}

// resumable reports whether retrieve_more continues the tool's query.
func (t *Tool) resumable() bool { return t.MaxTopK > 0 }

// NoteResult updates a run's sources from a call's stored result, after the call and again when the run is resumed.
// The opened documents must be in the sources. It reads nothing but the stored result, so a resumed run has the same
// sources.
func (t *Tool) NoteResult(s *cite.Sources, r chat.StepResult) {
	if t.Capability == chat.CapabilitySearch {
		s.NoteSearch(r.Query, r.Found)
		if t.resumable() {
			s.NoteLatestSearch(r.Query)
		}
	}
	if t.web {
		s.NoteWebSearch()
	}
	for _, part := range r.Opened {
		if doc, ok := s.Document(part.DocumentID); ok {
			s.NoteReading(doc, part.Part)
		}
	}
	if r.Quote != nil {
		s.AddQuote(r.Quote.N, r.Quote.Words)
	}
	if t.Capability == chat.CapabilityOpen {
		s.NoteShownToUser()
	}
	if t.Capability == chat.CapabilityCheck {
		for _, hit := range r.Hits {
			s.NoteChecked(hit.N, hit.Answers)
		}
	}
}

// NoteOutcome updates the sources after a call in this process. It also records the hits, which a stored result
// lacks.
func (t *Tool) NoteOutcome(s *cite.Sources, e SourceChanges, r chat.StepResult) {
	s.AddDocuments(e.Documents...)
	for _, hit := range e.Hits {
		s.AddDocuments(hit.Document)
		s.NoteHit(hit)
		if t.resumable() {
			s.NoteScore(hit.Passage.ID, hit.Score)
		}
	}
	if e.EmptySearch != "" {
		s.NoteEmptySearch(e.EmptySearch, 0)
	}
	t.NoteResult(s, r)
}

// ForModel returns the part of a completed call's output that the model gets, which lacks fields for the page and API
// clients. It reads the encoded output, so that a resumed run gives the model the same again.
func (t *Tool) ForModel(output json.RawMessage) any {
	if t.forModel == nil {
		return output
	}
	return t.forModel(output)
}

// without returns a function that drops the named fields of an output, at any depth.
func without(names ...string) func(json.RawMessage) any {
	return eachObject(func(o object) object { return o.without(names...) })
}

// eachObject returns a function that changes each object in an output, at any depth, those around others first.
func eachObject(change func(object) object) func(json.RawMessage) any {
	var walk func(json.RawMessage) any
	walk = func(raw json.RawMessage) any {
		var fields object
		var list []json.RawMessage
		switch {
		case raw[0] == '{' && json.Unmarshal(raw, &fields) == nil:
			fields = change(fields)
			for i, f := range fields {
				fields[i].value = walk(f.value.(json.RawMessage))
			}
			return fields
		case raw[0] == '[' && json.Unmarshal(raw, &list) == nil:
			out := make([]any, len(list))
			for i, item := range list {
				out[i] = walk(item)
			}
			return out
		}
		return raw
	}
	return walk
}
