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
	Message       string // for people: "Found 3 documents"
	Summary       string // for people: "5 passages in 3 documents"
	Details       map[string]any
	SourceChanges SourceChanges
	Rewrite       *Rewrite // request to a language model for a better output; nil: none
	Check         *Check   // texts for a language model to judge; nil: none
	Transient     bool     // partial result: a retry may return more; not cached
	WhyRefused    string   // reason of a refusal, for the model; empty if the call succeeded
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

// refusedResult returns a refusal. The run continues: the model reads the sentence as the call's result.
func refusedResult(format string, args ...any) (Result, error) {
	return Result{WhyRefused: fmt.Sprintf(format, args...)}, nil
}

// ModelView is an output that omits fields for the model. It is decoded from the stored output, so that a resumed
// run gives the model the same output again.
type ModelView interface{ ForModel() any }

// Tool is a tool as runs use it, with JSON arguments. buildTool builds it from a definition, which has the Go type
// of the arguments; mcpTool builds it from a tool of an MCP server. It is immutable and shared by all runs.
//
// Its functions get arguments that Normalise has returned. They are safe for concurrent use.
type Tool struct {
	Name       string          // as models call it; stored with each call
	Action     chat.Action     // kind of its steps, for the page
	Capability chat.Capability // groups tools that can replace each other; empty: none
	Label      *chat.Label     // label of its calls on the page; nil: the messages are shown
	// order of fallbacks within a capability, lowest first; 0: never a fallback
	Preference      int
	Unique          bool // has no fallback
	Resumable       bool // retrieve_more continues its query
	Retrieval       bool // counts against the budget of retrieval calls
	Cached          bool // results are cached until the library changes
	WithoutPassages bool // results have no passages: an answer from them alone needs no footnotes
	Continues       bool // the same call returns the next results, so it may be repeated
	EndsRun         bool // its argument is the answer, which ends the run
	AnswersNext     bool // the next turn is the answer
	Approve         bool // a user has to approve each call
	// it may change other systems: the start of a call is stored first, so that it is never repeated
	HasSideEffects bool
	missing        string        // why it can't work in this configuration; empty: it can
	Verbatim       bool          // arguments are passed on unchanged
	Timeout        time.Duration // timeout of one call; 0: the default of all tools
	MaxTopK        int           // maximum of its argument top_k; 0: it has none
	EchoedArg      string        // argument that an error echoes: {"error": …, "query": …}; empty: none
	Spec           llm.ToolSpec  // its description for models
	Schema         *jsonschema.Resolved
	aliases        map[string]string // aliases of arguments, to the names in the schema
	// why valid arguments can only fail, if known before the call
	WhyImpossible func(json.RawMessage) error
	Describe      func(*Context, json.RawMessage) string // progress message: "Reading Survey.pdf"
	// runs a call with arguments from Normalise; an error is one that the model can't correct
	Run        func(context.Context, *Context, json.RawMessage) (Result, error)
	modelView  func(json.RawMessage) (ModelView, error) // decodes a stored output; nil: the model gets all of it
	vocabulary func(json.RawMessage) string             // see definition.vocabulary; nil: none
	computed   func(json.RawMessage) json.RawMessage    // see definition.computed; nil: it computes nothing
}

// definition declares a tool with the Go type In of its arguments; buildTool builds the Tool. Fields without a
// comment are the fields of Tool with that name. Its functions get arguments that are valid for the schema.
type definition[In any] struct {
	name            string
	action          chat.Action
	capability      chat.Capability
	label           chat.Label // empty: the tool has none
	preference      int
	unique          bool
	resumable       bool
	retrieval       bool
	cached          bool
	withoutPassages bool
	continues       bool
	endsRun         bool
	answersNext     bool
	maxTopK         int
	echoedArg       string            // argument that an error echoes: {"error": …, "query": …}
	doc             string            // description for the model
	schema          string            // JSON Schema of the arguments
	aliases         map[string]string // aliases of arguments that models use
	whyImpossible   func(In) error    // why a call can only fail; nil: not known before the call
	describe        func(*Context, In) string
	run             func(context.Context, *Context, In) (Result, error)
	modelView       func(json.RawMessage) (ModelView, error) // viewOf its output; nil: the model gets all of it
	// words that answers use for a result without passages, beside its own; nil: none
	vocabulary func(In) string
	// values of an output that were computed, which an answer may state without a footnote; nil: none
	computed func(output json.RawMessage) json.RawMessage
}

// buildTool validates the declaration and builds the tool. It fails if the schema can't be parsed or its defaults
// are invalid, a programming error found at the start. The schema is compacted, as every request to a model contains
// it. Arguments that pass the schema but can't be decoded into In are refused, since the model wrote them.
func (k definition[In]) buildTool() (*Tool, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(k.schema), &schema); err != nil {
		return nil, fmt.Errorf("schema of tool %s: %w", k.name, err)
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return nil, fmt.Errorf("schema of tool %s: %w", k.name, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(k.schema)); err != nil {
		return nil, fmt.Errorf("schema of tool %s: %w", k.name, err)
	}
	t := &Tool{
		Name: k.name, Action: k.action, Capability: k.capability, Preference: k.preference, Unique: k.unique,
		Resumable: k.resumable, modelView: k.modelView, Retrieval: k.retrieval, Cached: k.cached,
		WithoutPassages: k.withoutPassages, Continues: k.continues, EndsRun: k.endsRun, AnswersNext: k.answersNext,
		computed: k.computed, MaxTopK: k.maxTopK, EchoedArg: k.echoedArg, Schema: resolved, aliases: k.aliases,
		Spec: llm.ToolSpec{Name: k.name, Description: strings.TrimSpace(k.doc), Schema: compact.Bytes()},
		WhyImpossible: func(args json.RawMessage) error {
			var in In
			if k.whyImpossible == nil || json.Unmarshal(args, &in) != nil {
				return nil
			}
			return k.whyImpossible(in)
		},
		Describe: func(d *Context, args json.RawMessage) string {
			var in In
			if json.Unmarshal(args, &in) != nil {
				return k.name
			}
			return k.describe(d, in)
		},
		Run: func(ctx context.Context, d *Context, args json.RawMessage) (Result, error) {
			var in In
			if err := json.Unmarshal(args, &in); err != nil {
				return refusedResult("the arguments can't be read: %v", err)
			}
			return k.run(ctx, d, in)
		},
	}
	if k.vocabulary != nil {
		t.vocabulary = func(args json.RawMessage) string {
			var in In
			if json.Unmarshal(args, &in) != nil {
				return ""
			}
			return k.vocabulary(in)
		}
	}
	if k.label.Doing != "" {
		t.Label = &k.label
	}
	return t, nil
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
	if t.Schema.Validate(in) != nil {
		return nil, errors.New(schema.Misfit(t.Schema.Schema(), in))
	}
	if err := t.Schema.ApplyDefaults(&in); err != nil {
		return nil, err
	}
	return json.Marshal(in)
}

// NeedsNoFootnote reports whether an answer may state parts of a call's output without a footnote. That holds for a
// completed call of a tool without passages or with computed values, and for the error of an MCP tool.
func (t *Tool) NeedsNoFootnote(status chat.Status) bool {
	return (t.WithoutPassages || t.computed != nil) && status == chat.StatusComplete ||
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
	if t.vocabulary != nil {
		r.Vocabulary = t.vocabulary(input)
	}
	return r
}

// NoteResult updates a run's sources from a call's stored result, after the call and again when the run is resumed.
// The opened documents must be in the sources. It reads nothing but the stored result, so a resumed run has the same
// sources.
func (t *Tool) NoteResult(s *cite.Sources, r chat.StepResult) {
	if t.Capability == chat.CapabilitySearch {
		s.NoteSearch(r.Query, r.Found)
		if t.Resumable {
			s.NoteLatestSearch(r.Query)
		}
	}
	if t.Name == webSearchName {
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
		if t.Resumable {
			s.NoteScore(hit.Passage.ID, hit.Score)
		}
	}
	if e.EmptySearch != "" {
		s.NoteEmptySearch(e.EmptySearch, 0)
	}
	t.NoteResult(s, r)
}

// ModelOutput decodes a stored output to the form that the model gets.
func (t *Tool) ModelOutput(stored json.RawMessage) (any, error) {
	if t.modelView == nil {
		var v any
		err := json.Unmarshal(stored, &v)
		return v, err
	}
	return t.modelView(stored)
}

// viewOf decodes a stored output of type Out.
func viewOf[Out ModelView](stored json.RawMessage) (ModelView, error) {
	var out Out
	err := json.Unmarshal(stored, &out)
	return out, err
}
