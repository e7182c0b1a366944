package openai

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/footnote/footnote/agent/llm"
)

// afterFinish is the timeout of the usage and [DONE] after the reply's last chunk.
func (m *Model) afterFinish() time.Duration { return min(m.patience.Idle, 3*time.Second) }

// endReply validates that the reply is complete and yields its calls and its end. A reply without text and calls is
// KindEmpty, so that callers can retry. Calls of a NoTools request, and of a filtered or refused reply, are dropped,
// since they may be truncated. The order is: the proof of the end, an incomplete rune, the finish, the calls, an
// empty reply, and at last calls, notices and Done.
func (r *reply) endReply(ctx context.Context) *llm.Error {
	switch {
	case !r.sawAny && r.events.Size > 0 && r.events.Skipped == 0:
		return r.m.noStream(ctx, "", r.events.Buffered())
	case r.finish == "" && !r.ended:
		return &llm.Error{Kind: llm.KindIncomplete, Message: "The model's reply was cut off.", Shown: r.text}
	}
	// An incomplete rune at the end is replaced by U+FFFD.
	if len(r.tail) > 0 {
		r.text = true
		r.yieldPart(llm.Text(bytes.ToValidUTF8(r.tail, []byte("�"))))
	}
	finish := r.finishKind()
	cut := finish == llm.FinishLength
	calls := r.calls.finishCalls(r.takenIDs(), len(r.req.Messages), cut)
	if r.req.NoTools || finish == llm.FinishFilter || finish == llm.FinishRefusal {
		for _, call := range calls {
			r.yieldPart(llm.DroppedCall(call))
		}
		calls = nil
	}
	if len(calls) > 0 && (finish == llm.FinishStop || finish == llm.FinishOther) {
		finish = llm.FinishCalls
	} else if len(calls) == 0 && finish == llm.FinishCalls {
		finish = llm.FinishStop
	}
	if finish == llm.FinishStop && !r.text {
		return &llm.Error{
			Kind: llm.KindEmpty, Message: "The model sent an empty reply. Ask again, or use another model.",
			Usage: r.reportedUsage(),
		}
	}
	for _, call := range calls {
		r.yieldPart(call)
	}
	for _, notice := range r.known.refusedOptions(r.m.name, r.req) {
		r.yieldPart(notice)
	}
	r.yieldPart(llm.Done{Finish: finish, Usage: r.reportedUsage(), First: r.first})
	r.drainStream()
	return nil
}

// reportedUsage returns the usage that the server reported, nil if none.
func (r *reply) reportedUsage() *llm.Usage {
	if !r.usage.said {
		return nil
	}
	return &llm.Usage{In: r.usage.in, Out: r.usage.out}
}

// finishKind maps a finish reason to llm.Finish. A reply with calls that used all allowed tokens counts as
// truncated, whatever the server reports. The values come from OpenAI, and from servers that pass on those of other
// providers or of their own engine.
func (r *reply) finishKind() llm.Finish {
	if r.refused {
		return llm.FinishRefusal
	}
	if len(r.calls.open) > 0 && r.req.MaxTokens > 0 && r.usage.said && r.usage.out >= r.req.MaxTokens {
		return llm.FinishLength
	}
	switch r.finish {
	case "", "stop", "end_turn", "eos", "stop_sequence":
		return llm.FinishStop
	case "tool_calls", "function_call", "tool_use":
		return llm.FinishCalls
	case "length", "max_tokens":
		return llm.FinishLength
	case "content_filter", "safety":
		return llm.FinishFilter
	case "refusal":
		return llm.FinishRefusal
	}
	return llm.FinishOther
}

// takenIDs returns the ids of the history's calls.
func (r *reply) takenIDs() map[string]bool {
	taken := map[string]bool{}
	for _, msg := range r.req.Messages {
		for _, call := range msg.Calls {
			taken[call.ID] = true
		}
	}
	return taken
}

// drainStream reads the few bytes that may follow, so that the connection can be reused. If the server keeps the
// stream open, the connection is closed. It takes 50 ms and 4 KiB at most, since Done was already yielded and the
// caller waits.
func (r *reply) drainStream() {
	r.dog.LimitRest(50 * time.Millisecond)
	_, _ = io.CopyN(io.Discard, r.dog.Body, 4096) // an error only costs the connection
}
