package relay

import (
	"slices"
	"strconv"

	"github.com/footnote/footnote/chat"
)

// responseEncoder encodes a run as the events of a response, and collects its output. A reconnecting reader gets the
// same events under the same numbers. A text that is no answer ends as an incomplete message, and is not in the output
// of the last event.
type responseEncoder struct {
	*eventTranslator
	response V1Response // complete at the end
	first    int64      // events before this number are not sent
	next     int64      // the next event's number

	items   []any          // all started items; nil for a withdrawn text
	calls   []*openCall    // in the order they began
	message *V1MessageItem // the open text
	at      int            // its index
}

// openCall is a tool call of the output.
type openCall struct {
	at    int // index of its item
	id    string
	step  chat.Step
	about []V1SummaryPart // empty for a search
}

// newResponseEncoder returns an encoder for a run, which sends the events from a number on.
func newResponseEncoder(run chat.Run, first int64) *responseEncoder {
	return &responseEncoder{response: newResponse(run), first: first}
}

// sendEvent sends an event under the next number.
func (w *responseEncoder) sendEvent(kind string, e V1ResponseEvent) {
	e.Type, e.SequenceNumber = "response."+kind, w.next
	w.next++
	if e.SequenceNumber >= w.first {
		w.send(e.Type, e)
	}
}

func (w *responseEncoder) begin(s *eventTranslator) {
	w.eventTranslator = s
	w.sendEvent("created", V1ResponseEvent{Response: &w.response})
	w.sendEvent("in_progress", V1ResponseEvent{Response: &w.response})
}

// part returns an event about the part of the open message.
func (w *responseEncoder) part() V1ResponseEvent {
	return V1ResponseEvent{OutputIndex: &w.at, ItemID: w.message.ID, ContentIndex: new(int)}
}

func (w *responseEncoder) openText() {
	id := "msg_" + w.t.RunID
	if w.texts > 1 {
		id += "_" + strconv.Itoa(w.texts-1)
	}
	w.at = len(w.items)
	w.message = &V1MessageItem{Type: "message", ID: id, Status: inProgress, Role: "assistant", Content: []V1TextPart{}}
	w.items = append(w.items, w.message)
	w.sendEvent("output_item.added", V1ResponseEvent{OutputIndex: &w.at, Item: w.message})
	w.message.Content = []V1TextPart{{Type: "output_text", Annotations: []V1ResponseAnnotation{}, Logprobs: []any{}}}
	added := w.part()
	added.Part = w.message.Content[0]
	w.sendEvent("content_part.added", added)
}

func (w *responseEncoder) addText(text string) {
	w.message.Content[0].Text = w.draft[:w.sent]
	delta := w.part()
	delta.Delta, delta.Logprobs = &text, new([]any{})
	w.sendEvent("output_text.delta", delta)
}

// closeText ends the message with its footnotes. A withdrawn one leaves the output.
func (w *responseEncoder) closeText(whole, status string, citations []chat.Citation) {
	if status == withdrawn {
		w.items[w.at], status = nil, incomplete
	}
	w.message.Status = status
	text := &w.message.Content[0]
	text.Annotations = responseAnnotations(whole, citations, w.base)
	for n, mark := range text.Annotations {
		added := w.part()
		added.AnnotationIndex, added.Annotation = &n, &mark
		w.sendEvent("output_text.annotation.added", added)
	}
	done, over := w.part(), w.part()
	done.Text, done.Logprobs, over.Part = &whole, new([]any{}), text
	w.sendEvent("output_text.done", done)
	w.sendEvent("content_part.done", over)
	w.sendEvent("output_item.done", V1ResponseEvent{OutputIndex: &w.at, Item: w.message})
}

func (w *responseEncoder) think(string, string) {} // the items of calls have it

// call sends the new state of a tool call.
func (w *responseEncoder) call(step, was chat.Step) {
	if was.CallID == "" {
		kind := itemType(step)
		call := &openCall{at: len(w.items), id: kind[:1] + "s_" + w.t.RunID + "_" + step.CallID, step: step}
		w.calls = append(w.calls, call)
		running := step
		running.Status, running.Result = chat.StatusRunning, nil
		w.items = append(w.items, toolItem(call.id, running, nil, w.base))
		w.sendEvent("output_item.added", V1ResponseEvent{OutputIndex: &call.at, Item: w.items[call.at]})
		if kind != reasoning {
			w.sendEvent(kind+"."+inProgress, V1ResponseEvent{OutputIndex: &call.at, ItemID: call.id})
			w.sendEvent(kind+".searching", V1ResponseEvent{OutputIndex: &call.at, ItemID: call.id})
		}
	}
	if isOver(was) {
		return
	}
	call := w.calls[slices.IndexFunc(w.calls, func(c *openCall) bool { return c.step.CallID == step.CallID })]
	call.step = step
	w.addSummary(call, step.Thought)
	w.addSummary(call, step.Message)
	w.items[call.at] = toolItem(call.id, step, call.about, w.base)
	if isOver(step) {
		w.closeCall(call)
	}
}

// addSummary sends a sentence about a call that is not sent yet; a search has none.
func (w *responseEncoder) addSummary(call *openCall, text string) {
	part, n := V1SummaryPart{"summary_text", text}, len(call.about)
	if text == "" || itemType(call.step) != reasoning || slices.Contains(call.about, part) {
		return
	}
	call.about = append(call.about, part)
	at := V1ResponseEvent{OutputIndex: &call.at, ItemID: call.id, SummaryIndex: &n}
	added, delta, done, over := at, at, at, at
	added.Part, delta.Delta, done.Text, over.Part = V1SummaryPart{Type: "summary_text"}, &text, &text, part
	w.sendEvent("reasoning_summary_part.added", added)
	w.sendEvent("reasoning_summary_text.delta", delta)
	w.sendEvent("reasoning_summary_text.done", done)
	w.sendEvent("reasoning_summary_part.done", over)
}

// closeCall sends the end of a tool call.
func (w *responseEncoder) closeCall(call *openCall) {
	if kind := itemType(call.step); kind != reasoning && call.step.Status == chat.StatusComplete {
		w.sendEvent(kind+"."+completed, V1ResponseEvent{OutputIndex: &call.at, ItemID: call.id})
	}
	w.sendEvent("output_item.done", V1ResponseEvent{OutputIndex: &call.at, Item: w.items[call.at]})
}

// output returns the items of the response's output.
func (w *responseEncoder) output() []any {
	return slices.DeleteFunc(append([]any{}, w.items...), func(item any) bool { return item == nil })
}

// end sends the result of the run. Calls that have not ended are cancelled, and a failed answer leaves the output.
func (w *responseEncoder) end(failure error) {
	for _, call := range w.calls {
		if !isOver(call.step) {
			call.step.Status = chat.StatusCancelled
			w.items[call.at] = toolItem(call.id, call.step, call.about, w.base)
			w.closeCall(call)
		}
	}
	w.response = w.response.ended(w.t, failure)
	kind := w.response.Status
	switch kind {
	case failed:
		w.items = slices.DeleteFunc(w.items, func(item any) bool { _, is := item.(*V1MessageItem); return is })
	case cancelled:
		kind = incomplete // cancelled responses have no event of their own
	}
	w.response.Output = w.output()
	w.sendEvent(kind, V1ResponseEvent{Response: &w.response})
}
