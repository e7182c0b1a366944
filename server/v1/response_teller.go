package v1

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/runlog"
)

// responseTeller converts a run to the events of a response, and collects its output. The events depend on the log
// alone, so that a reconnecting reader gets the same events under the same numbers. A client can't retract text, so
// a runlog.Draft decides which text is sent. Text with footnotes that turns out to be a thought ends as an
// incomplete message, and is not in the output of the last event.
type responseTeller struct {
	base     string // prefix of the sources' links
	response Response
	send     func(ResponseEvent) error // nil: only the output is needed

	sent      int64 // events sent
	began     bool
	items     []openItem
	draft     runlog.Draft
	withdrawn int // messages
}

// openItem is an item of the output.
type openItem struct {
	id     string
	call   string // id of its step; empty for the answer
	step   chat.Step
	told   []SummaryPart // of a step other than a search
	text   string        // of the answer
	marks  []ResponseAnnotation
	status string // of the answer's text when it is closed
	closed bool
	gone   bool // removed from the output
}

// tell sends an event under the next sequence number.
func (w *responseTeller) tell(e ResponseEvent) error {
	e.SequenceNumber = w.sent
	w.sent++
	if w.send == nil {
		return nil
	}
	return w.send(e)
}

// tellAll sends events until one fails.
func (w *responseTeller) tellAll(events ...ResponseEvent) error {
	for _, e := range events {
		if err := w.tell(e); err != nil {
			return err
		}
	}
	return nil
}

// begin sends the first events of the response, once.
func (w *responseTeller) begin() error {
	if w.began {
		return nil
	}
	w.began = true
	start := w.response
	return w.tellAll(
		ResponseEvent{Type: "response.created", Response: &start},
		ResponseEvent{Type: "response.in_progress", Response: &start},
	)
}

// see sends the events for a payload of the log, which the trace already includes.
func (w *responseTeller) see(t *runlog.Trace, p chat.Payload) error {
	if err := w.begin(); err != nil {
		return err
	}
	if step, ok := p.(chat.Step); ok && step.ToolName != "" {
		whole, _ := t.Log.Step(step.CallID)
		return w.seeStep(whole)
	}
	told := w.draft.Add(p)
	if told.Withdrawn {
		if err := w.withdraw(); err != nil {
			return err
		}
	}
	if err := w.addText(told.Text); err != nil {
		return err
	}
	if answer, ok := p.(chat.Answer); ok {
		return w.endText(completed, answer.Citations)
	}
	return nil
}

// seeStep sends the new state of a tool call.
func (w *responseTeller) seeStep(step chat.Step) error {
	i := slices.IndexFunc(w.items, func(item openItem) bool { return item.call == step.CallID })
	if i < 0 {
		i = len(w.items)
		prefix := "rs_"
		if step.Capability == chat.CapabilitySearch {
			prefix = "fs_"
			if step.ToolName == webSearch {
				prefix = "ws_"
			}
		}
		w.items = append(w.items, openItem{id: prefix + w.runID() + "_" + step.CallID, call: step.CallID, step: step})
		running := step
		running.Status, running.Result = chat.StatusRunning, nil
		if err := w.tell(ResponseEvent{
			Type: "response.output_item.added", OutputIndex: &i, Item: toolItem(w.items[i].id, running, nil, w.base),
		}); err != nil {
			return err
		}
		if err := w.tellSearch(i, inProgress, "searching"); err != nil {
			return err
		}
	}
	item := &w.items[i]
	if item.closed {
		return nil
	}
	item.step = step
	if err := w.addSummary(i, step.Thought, step.Message); err != nil {
		return err
	}
	if itemStatus(step.Status) == inProgress {
		return nil
	}
	return w.closeStep(i)
}

// runID returns the run's id.
func (w *responseTeller) runID() string { return w.response.ID[len("resp_"):] }

// tellSearch sends the states of a search; other steps have none.
func (w *responseTeller) tellSearch(i int, states ...string) error {
	item := w.items[i]
	if item.step.Capability != chat.CapabilitySearch {
		return nil
	}
	kind := "response.file_search_call."
	if item.step.ToolName == webSearch {
		kind = "response.web_search_call."
	}
	for _, state := range states {
		if err := w.tell(ResponseEvent{Type: kind + state, OutputIndex: &i, ItemID: item.id}); err != nil {
			return err
		}
	}
	return nil
}

// addSummary sends the sentences about a step that are not sent yet; a search has none.
func (w *responseTeller) addSummary(i int, sentences ...string) error {
	item := &w.items[i]
	if item.step.Capability == chat.CapabilitySearch {
		return nil
	}
	for _, text := range sentences {
		part := SummaryPart{"summary_text", text}
		if text == "" || slices.Contains(item.told, part) {
			continue
		}
		n := len(item.told)
		item.told = append(item.told, part)
		at := ResponseEvent{OutputIndex: &i, ItemID: item.id, SummaryIndex: &n}
		added, delta, done, over := at, at, at, at
		added.Type, added.Part = "response.reasoning_summary_part.added", SummaryPart{Type: "summary_text"}
		delta.Type, delta.Delta = "response.reasoning_summary_text.delta", &text
		done.Type, done.Text = "response.reasoning_summary_text.done", &text
		over.Type, over.Part = "response.reasoning_summary_part.done", part
		if err := w.tellAll(added, delta, done, over); err != nil {
			return err
		}
	}
	return nil
}

// closeStep sends the end of a tool call.
func (w *responseTeller) closeStep(i int) error {
	item := &w.items[i]
	item.closed = true
	if item.step.Status == chat.StatusComplete {
		if err := w.tellSearch(i, completed); err != nil {
			return err
		}
	}
	return w.tell(ResponseEvent{Type: "response.output_item.done", OutputIndex: &i, Item: w.item(i)})
}

// item returns the current state of an output item.
func (w *responseTeller) item(i int) any {
	item := w.items[i]
	if item.call != "" {
		return toolItem(item.id, item.step, item.told, w.base)
	}
	return MessageItem{
		Type: "message", ID: item.id, Status: cmp.Or(item.status, inProgress), Role: "assistant",
		Content: []TextPart{textPart(item.text, item.marks)},
	}
}

// textPart returns a text part with its footnotes.
func textPart(text string, marks []ResponseAnnotation) TextPart {
	return TextPart{
		Type: "output_text", Text: text, Annotations: append([]ResponseAnnotation{}, marks...), Logprobs: []any{},
	}
}

// noLogprobs is the empty list of log-probabilities.
var noLogprobs = json.RawMessage("[]")

// output returns the items of the response's output.
func (w *responseTeller) output() []any {
	out := []any{}
	for i, item := range w.items {
		if !item.gone {
			out = append(out, w.item(i))
		}
	}
	return out
}
