package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"footnote/chat"
	"footnote/corpus"
	"footnote/llm"
	"footnote/schema"
)

// numberer gives a passage its number in the run's sources: the one it has, or the next free one.
type numberer func(corpus.Passage, corpus.Document) int

// result is what a tool call came to. A tool has two ways to fail: a refused result, which the model can mend, and an
// error, which it can't. A result may be kept and used by later calls and other runs, so it holds nothing of its own run.
type result struct {
	output  func(numberer) any // makes the output, an object; called once in each run, in the order of the calls
	message string             // for people: "Found 3 documents"
	summary string             // for people: "5 passages in 3 documents"
	details map[string]any
	effect  func(*desk) // what the call changes on the run's desk; nil for nothing
	passing bool        // something did not answer: the same call may give more in a moment, so the result is not kept
	refused string      // why nothing was done, for the model; empty when it was
}

// refuse answers the model with what to do otherwise.
func refuse(format string, args ...any) (result, error) {
	return result{refused: fmt.Sprintf(format, args...)}, nil
}

// forModel is an output that tells the model less than it shows to people and programs.
type forModel interface{ forModel() any }

// tool is one thing a model can do. It is immutable and shared by all runs.
type tool struct {
	name      string
	action    chat.Action
	retrieval bool          // counts against the budget of retrieval calls
	cached    bool          // the same call gives the same result until the library changes
	bare      bool          // its results are no passages: an answer from them alone needs no footnotes
	onward    bool          // the same call goes on where the one before ended, so it may be made again
	ends      bool          // its argument is the answer: the run ends with it
	enough    bool          // the next turn is the answer
	approve   bool          // a person has to allow each call
	acts      bool          // it may change something elsewhere: that it begins is stored before it does, so that nobody makes the call again
	verbatim  bool          // its arguments are passed on as the model wrote them
	timeout   time.Duration // of one call; 0: that of all tools
	topK      int           // the most its argument top_k may be; 0: it has none
	echo      string
	spec      llm.ToolSpec
	schema    *jsonschema.Resolved
	aliases   map[string]string
	fails     func(json.RawMessage) error // why arguments that fit can only fail, as far as can be told beforehand
	doing     func(*desk, json.RawMessage) string
	do        func(context.Context, *desk, json.RawMessage) (result, error)
}

// toolKind declares a tool with the Go type of its arguments.
type toolKind[In any] struct {
	name      string
	action    chat.Action
	retrieval bool
	cached    bool
	bare      bool
	onward    bool
	ends      bool
	enough    bool
	topK      int
	echo      string            // the argument that comes back with an error: {"error": …, "query": …}
	doc       string            // what the model is told
	schema    string            // JSON Schema of the arguments
	aliases   map[string]string // other names of arguments that models use
	fails     func(In) error    // why a call can only fail; nil: that can't be told beforehand
	doing     func(*desk, In) string
	do        func(context.Context, *desk, In) (result, error)
}

// build checks the declaration.
func (k toolKind[In]) build() (*tool, error) {
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
	return &tool{
		name: k.name, action: k.action, retrieval: k.retrieval, cached: k.cached, bare: k.bare, onward: k.onward, ends: k.ends, enough: k.enough,
		topK: k.topK, echo: k.echo, schema: resolved, aliases: k.aliases,
		spec: llm.ToolSpec{Name: k.name, Description: strings.TrimSpace(k.doc), Schema: compact.Bytes()},
		fails: func(args json.RawMessage) error {
			var in In
			if k.fails == nil || json.Unmarshal(args, &in) != nil {
				return nil
			}
			return k.fails(in)
		},
		doing: func(d *desk, args json.RawMessage) string {
			var in In
			if json.Unmarshal(args, &in) != nil {
				return k.name
			}
			return k.doing(d, in)
		},
		do: func(ctx context.Context, d *desk, args json.RawMessage) (result, error) {
			var in In
			if err := json.Unmarshal(args, &in); err != nil {
				return refuse("the arguments can't be read: %v", err)
			}
			return k.do(ctx, d, in)
		},
	}, nil
}

// normalise checks arguments against the schema and returns them in one form: known names, no nulls, trimmed strings,
// defaults filled in, keys in order. A topK that is given takes the place of the tool's own default. Its error says in plain words what does not fit.
func (t *tool) normalise(args json.RawMessage, topK *int) (json.RawMessage, error) {
	in := map[string]any{}
	if len(bytes.TrimSpace(args)) > 0 {
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, errors.New("it must be a JSON object")
		}
	}
	for name, v := range in {
		if t.verbatim {
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
	if _, given := in["top_k"]; !given && t.topK > 0 && topK != nil {
		in["top_k"] = min(*topK, t.topK)
	}
	if t.schema.Validate(in) != nil {
		return nil, errors.New(schema.Misfit(t.schema.Schema(), in))
	}
	if err := t.schema.ApplyDefaults(&in); err != nil {
		return nil, err
	}
	return json.Marshal(in)
}
