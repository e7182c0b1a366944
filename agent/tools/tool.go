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

// Numberer gives a passage its number in the run's sources: the one it has, or the next free one.
//
// It is only called while outputs are made, one call after the other, so the same log gives the same numbers.
type Numberer func(corpus.Passage, corpus.Document) int

// Result is what a tool call came to. A tool has two ways to fail: a refused result, which the model can mend, and an
// error, which it can't. A result may be kept and used by later calls and other runs, so it holds nothing of its own
// run. It may be kept in a cache and used by other runs of the same user at the same time, so nothing may be changed in
// it. Exactly one of Output and WhyRefused is set.
//
// Message and Summary are sentences for a page and are stored with the step. Transient keeps a result out of the
// cache.
type Result struct {
	// Output makes the output, an object, and what it comes to. It is called once in each run, in the order of the
	// calls.
	Output        func(Numberer) (output any, result chat.StepResult)
	Message       string // for people: "Found 3 documents"
	Summary       string // for people: "5 passages in 3 documents"
	Details       map[string]any
	SourceChanges SourceChanges
	Rewrite       *Rewrite // a language model makes a better output; nil: none is wanted
	Check         *Check   // a language model judges texts; nil: none are to be judged
	Transient     bool     // something did not answer: the same call may give more in a moment; it is not kept
	WhyRefused    string   // why nothing was done, for the model; empty when it was
}

// Rewrite is what a run asks its language model for, to make a better output of a result. Without a model, or when it
// fails, the result is kept.
type Rewrite struct {
	Order   string // what the model is to do with the data
	Data    string
	Written func(said string) Result // the result with what the model wrote
	Noted   func(note string) Result // the result with a note
}

// SourceChanges are what a call changes in its run's sources beside what its chat.StepResult says. What it changes
// elsewhere, in another server, are side effects: see Tool.HasSideEffects.
type SourceChanges struct {
	Documents   []corpus.Document // that the run knows of from now on
	Hits        []corpus.Result   // passages that a search found
	EmptySearch string            // the words of a search of the library's list that found nothing
}

// refusedResult answers the model with what to do otherwise. The run goes on after it: the model reads the sentence as
// the call's result.
func refusedResult(format string, args ...any) (Result, error) {
	return Result{WhyRefused: fmt.Sprintf(format, args...)}, nil
}

// ModelView is an output that tells the model less than it shows to people and programs. It reads the stored output, so
// that a run which is carried on tells the model the same again.
type ModelView interface{ ForModel() any }

// Tool is one thing a model can do, as runs use it: its arguments are JSON. buildTool makes it of a definition, which
// has the Go type of the arguments; mcpTool makes it of a tool of another server. It is immutable and shared by all
// runs.
//
// Its functions get arguments that Normalise has returned and may be called by many runs at once.
type Tool struct {
	Name       string          // as models call it; stored with each call
	Action     chat.Action     // the kind of step that its calls are, for people
	Capability chat.Capability // what it can do, so that another tool can stand in for it; empty: nothing like others
	Label      *chat.Label     // how pages name its calls; nil: its messages say it
	// among tools of a capability, one with a lower number stands in first; 0: it stands in for no other
	Preference      int
	Unique          bool // no other tool stands in for it
	Resumable       bool // retrieve_more goes on with its query
	Retrieval       bool // counts against the budget of retrieval calls
	Cached          bool // the same call gives the same result until the library changes
	WithoutPassages bool // its results are no passages: an answer from them alone needs no footnotes
	Continues       bool // the same call goes on where the one before ended, so it may be made again
	EndsRun         bool // its argument is the answer: the run ends with it
	AnswersNext     bool // the next turn is the answer
	Approve         bool // a person has to allow each call
	// it may change something elsewhere: that it begins is stored before it does, so that nobody makes the call again
	HasSideEffects bool
	missing        string        // why it can't work as the program is set up; empty: it can
	Verbatim       bool          // its arguments are passed on as the model wrote them
	Timeout        time.Duration // of one call; 0: that of all tools
	MaxTopK        int           // the most its argument top_k may be; 0: it has none
	EchoedArg      string        // the argument that comes back with a failure: {"error": …, "query": …}; empty: none
	Spec           llm.ToolSpec  // what models are told of it
	Schema         *jsonschema.Resolved
	aliases        map[string]string // other names of arguments that models use, to those of the schema
	// why arguments that fit can only fail, as far as can be told beforehand
	WhyImpossible func(json.RawMessage) error
	Describe      func(*Context, json.RawMessage) string // what a call is about to do, for people: "Reading Survey.pdf"
	// makes a call. Its arguments are those that Normalise returned; an error is one that the model can't mend
	Run        func(context.Context, *Context, json.RawMessage) (Result, error)
	modelView  func(json.RawMessage) (ModelView, error) // reads a stored output; nil: the model is told all of it
	vocabulary func(json.RawMessage) string             // see definition.vocabulary; nil: none
	computed   func(json.RawMessage) json.RawMessage    // see definition.computed; nil: it computes nothing
}

// definition declares a tool with the Go type In of its arguments; buildTool makes the Tool of it. Each field without a
// comment is the field of Tool with that name. Its functions get arguments that fit the schema.
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
	echoedArg       string            // the argument that comes back with an error: {"error": …, "query": …}
	doc             string            // what the model is told
	schema          string            // JSON Schema of the arguments
	aliases         map[string]string // other names of arguments that models use
	whyImpossible   func(In) error    // why a call can only fail; nil: that can't be told beforehand
	describe        func(*Context, In) string
	run             func(context.Context, *Context, In) (Result, error)
	modelView       func(json.RawMessage) (ModelView, error) // viewOf its output; nil: the model is told all of it
	// words with which answers speak of a result without passages, beside those that it holds; nil: none
	vocabulary func(In) string
	// what of an output was computed, so that an answer may say it as the result of a calculation; nil: nothing
	computed func(output json.RawMessage) json.RawMessage
}

// buildTool checks the declaration and makes the tool. It fails for a schema that can't be read or whose defaults do
// not fit it: a mistake in the program, found when it starts. The schema is compacted, as every request to a model has
// it. Arguments that do not fit In after they passed the schema are refused, not an error: the model wrote them.
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

// MarkStep notes on a step what the call is, for whoever shows it.
func (t *Tool) MarkStep(s *chat.Step) {
	s.ActionType, s.Capability, s.Label = t.Action, t.Capability, t.Label
}

// Normalise checks arguments against the schema and returns them in one form: known names, no nulls, trimmed strings,
// defaults filled in, keys in order. A topK that is given takes the place of the tool's own default. Its error says in
// plain words what does not fit. Equal calls are then equal as bytes, by which repeated calls and cached results are
// known. Order of the steps: nulls and spaces, other names, the request's top_k, the schema, defaults. An alias beside
// its proper name is dropped. Verbatim arguments are only checked.
//
// args may be empty, as some models send nothing for a tool that needs nothing.
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

// NeedsNoFootnote reports whether something in the output of a call that ended so may be said without a passage behind
// it: a result of a tool that shows none, what was computed of passages, or what another server says of its failure.
func (t *Tool) NeedsNoFootnote(status chat.Status) bool {
	return (t.WithoutPassages || t.computed != nil) && status == chat.StatusComplete ||
		t.Verbatim && status == chat.StatusError
}

// Returned is what a call came to, for the check of an answer that says it without a footnote: see NeedsNoFootnote.
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

// NoteResult notes in the sources of a run what a call of the tool came to: when the call is over, and again when the
// run is carried on after a restart. The documents that were opened must be known. It reads the stored result and
// nothing else, so a run that is taken over comes to the same sources.
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

// NoteOutcome notes what a call of the tool changed, when it is over.
//
// It is for a call that was made just now: it has the hits themselves, which a stored result does not.
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

// ModelOutput is what the model was told of a stored output.
func (t *Tool) ModelOutput(stored json.RawMessage) (any, error) {
	if t.modelView == nil {
		var v any
		err := json.Unmarshal(stored, &v)
		return v, err
	}
	return t.modelView(stored)
}

// viewOf reads a stored output of the type Out.
func viewOf[Out ModelView](stored json.RawMessage) (ModelView, error) {
	var out Out
	err := json.Unmarshal(stored, &out)
	return out, err
}
