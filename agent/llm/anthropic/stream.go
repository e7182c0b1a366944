package anthropic

import (
	"context"
	"encoding/json"
	"errors"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
)

// These are not limits of the provider: they bound the memory for a server that does not stop.
const (
	maxBlocks    = 256 // of one reply
	maxArguments = 1 << 20
)

// block is a content block that is being streamed.
type block struct {
	kind      string
	id, name  string
	arguments []byte
	thought   thought
}

// reply converts the events of one stream to parts. Blocks are identified by the server's index, and kept in the
// order of their start. text and yielded differ: after yielded thinking there is no retry, but the caller may still
// show another reply.
type reply struct {
	m       *Model
	req     llm.Request
	dog     *httpllm.Watchdog
	yield   func(llm.Part, error) bool
	blocks  []*block
	at      map[int64]*block
	usage   llm.Usage
	counted bool
	stop    string
	text    bool
	yielded bool
	stopped bool
}

// streamOnce sends a request and yields the parts of its reply. yielded reports whether any part was yielded: after
// that there must be no retry. A connection that breaks after the stop reason is not an error, since the reply is
// complete.
func (m *Model) streamOnce(
	ctx context.Context, req llm.Request, params sdk.MessageNewParams, yield func(llm.Part, error) bool,
) (yielded bool, failed *llm.Error) {
	ctx, dog := httpllm.Watch(ctx, m.patience)
	defer dog.Stop()
	stream := m.messages.NewStreaming(context.WithValue(ctx, watchdogKey{}, dog), params)
	defer stream.Close()
	r := &reply{m: m, req: req, dog: dog, yield: yield, at: map[int64]*block{}}
	ended := false
	for !ended && !r.stopped && stream.Next() {
		event := stream.Current()
		ended = event.Type == "message_stop"
		if failed := r.handleEvent(&event); failed != nil {
			failed.Shown = r.text
			return r.yielded, failed
		}
	}
	if err := stream.Err(); err != nil && !ended && !r.stopped && r.stop == "" {
		failed = m.classifyBreak(ctx, err, dog.Body != nil)
		failed.Shown = r.text
		return r.yielded, failed
	}
	if !r.stopped {
		failed = r.endReply()
	}
	return r.yielded, failed
}

// classifyBreak converts the error of a stream. An API error in the stream is classified by its content.
func (m *Model) classifyBreak(ctx context.Context, err error, began bool) *llm.Error {
	if said, ok := errors.AsType[*sdk.Error](err); ok {
		return m.server.Classify(0, []byte(said.RawJSON()), nil)
	}
	e := m.server.Transport(ctx, err)
	if began && e.Kind == llm.KindUnreachable {
		return &llm.Error{
			Kind: llm.KindIncomplete, Message: "The connection to the model was lost during its reply.",
			Err: e.Err,
		}
	}
	return e
}

// yieldPart yields a part, unless the consumer has stopped.
func (r *reply) yieldPart(p llm.Part) {
	if r.stopped {
		return
	}
	r.yielded = true
	r.stopped = !r.yield(p, nil)
}

// handleEvent handles one event: blocks start, grow by deltas, and end with the message. A delta without a block is
// a protocol error. The prompt's tokens come with message_start and include cache reads and writes. Those of the
// reply come with message_delta, which also has the stop reason. From then on the rest of the stream has a timeout
// of a few seconds (afterStop). Other events, such as pings, are ignored.
func (r *reply) handleEvent(e *sdk.MessageStreamEventUnion) *llm.Error {
	switch e.Type {
	case "message_start":
		in := e.Message.Usage
		r.usage.In, r.counted = int(in.InputTokens+in.CacheCreationInputTokens+in.CacheReadInputTokens), true
	case "content_block_start":
		if len(r.blocks) == maxBlocks {
			return &llm.Error{Kind: llm.KindProtocol, Message: "The model's reply has too many parts."}
		}
		b := &block{kind: e.ContentBlock.Type, id: e.ContentBlock.ID, name: e.ContentBlock.Name}
		b.thought.Redacted, b.thought.Signature = e.ContentBlock.Data, e.ContentBlock.Signature
		r.blocks, r.at[e.Index] = append(r.blocks, b), b
		r.yieldPieces(b, e.ContentBlock.Text, e.ContentBlock.Thinking)
	case "content_block_delta":
		b := r.at[e.Index]
		if b == nil {
			return &llm.Error{Kind: llm.KindProtocol, Message: "The model server sent an invalid chunk."}
		}
		if len(b.arguments)+len(e.Delta.PartialJSON) > maxArguments {
			return &llm.Error{Kind: llm.KindProtocol, Message: "The arguments of a tool call are longer than 1 MiB."}
		}
		b.arguments = append(b.arguments, e.Delta.PartialJSON...)
		b.thought.Signature += e.Delta.Signature
		r.yieldPieces(b, e.Delta.Text, e.Delta.Thinking)
	case "message_delta":
		r.stop = string(e.Delta.StopReason)
		r.usage.Out = int(e.Usage.OutputTokens)
		r.dog.LimitRest(min(r.m.patience.Idle, afterStop))
	}
	return nil
}

// yieldPieces yields text and thinking.
func (r *reply) yieldPieces(b *block, text, thinking string) {
	r.dog.SawPiece()
	if thinking != "" {
		b.thought.Thinking += thinking
		r.yieldPart(llm.Reasoning(thinking))
	}
	if text != "" {
		r.text = true
		r.yieldPart(llm.Text(text))
	}
}

// endReply validates that the reply is complete and yields its calls and its end. The order matters: the calls of a
// reply that was cut off at its token limit are marked before they are yielded; unwanted calls are dropped; the
// finish is corrected by whether there are calls, as servers disagree; an empty reply is an error; and the signature
// comes before the calls, so that a caller that stops at the first call has it.
func (r *reply) endReply() *llm.Error {
	if r.stop == "" {
		return &llm.Error{Kind: llm.KindIncomplete, Message: "The model's reply was cut off.", Shown: r.text}
	}
	finish := finishOf(r.stop)
	var thoughts []thought
	var calls []llm.Call
	for _, b := range r.blocks {
		switch b.kind {
		case "thinking", "redacted_thinking":
			if b.thought.Signature != "" || b.thought.Redacted != "" {
				thoughts = append(thoughts, b.thought)
			}
		case "tool_use":
			call := llm.Call{ID: b.id, Name: b.name}
			if call.Arguments, call.Malformed = httpllm.Arguments(b.arguments); finish == llm.FinishLength {
				call.Malformed = "the reply was truncated at its token limit before the call was complete"
			}
			calls = append(calls, call)
		}
	}
	if r.req.NoTools || finish == llm.FinishRefusal {
		for _, call := range calls {
			r.yieldPart(llm.DroppedCall(call))
		}
		calls = nil
	}
	switch {
	case len(calls) > 0 && (finish == llm.FinishStop || finish == llm.FinishOther):
		finish = llm.FinishCalls
	case len(calls) == 0 && finish == llm.FinishCalls:
		finish = llm.FinishStop
	}
	if finish == llm.FinishStop && !r.text {
		return &llm.Error{
			Kind: llm.KindEmpty, Message: "The model sent an empty reply. Ask again, or use another model.",
			Usage: r.reportedUsage(),
		}
	}
	if len(thoughts) > 0 {
		if raw, err := json.Marshal(thoughts); err == nil {
			r.yieldPart(llm.Signature(raw))
		}
	}
	for _, call := range calls {
		r.yieldPart(call)
	}
	for _, notice := range r.m.refusedOptions(r.req) {
		r.yieldPart(notice)
	}
	r.yieldPart(llm.Done{Finish: finish, Usage: r.reportedUsage()})
	return nil
}

// reportedUsage returns the usage that the server reported, nil if none.
func (r *reply) reportedUsage() *llm.Usage {
	if !r.counted {
		return nil
	}
	return &r.usage
}

// finishOf maps a stop reason to llm.Finish. An unknown one is FinishOther, which is not an error, since providers
// add values.
func finishOf(stop string) llm.Finish {
	switch stop {
	case "end_turn", "stop_sequence":
		return llm.FinishStop
	case "tool_use":
		return llm.FinishCalls
	case "max_tokens", "model_context_window_exceeded":
		return llm.FinishLength
	case "refusal":
		return llm.FinishRefusal
	}
	return llm.FinishOther
}
