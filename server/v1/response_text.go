package v1

import (
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/runlog"
)

// openText returns the index of the open message, or -1.
func (w *responseTeller) openText() int {
	for i, item := range w.items {
		if item.call == "" && !item.closed {
			return i
		}
	}
	return -1
}

// addText appends to the answer.
func (w *responseTeller) addText(text string) error {
	if text == "" {
		return nil
	}
	i, part := w.openText(), 0
	if i < 0 {
		i = len(w.items)
		id := "msg_" + w.runID()
		if w.withdrawn > 0 {
			id += "_" + strconv.Itoa(w.withdrawn)
		}
		w.items = append(w.items, openItem{id: id})
		if err := w.tellAll(
			ResponseEvent{Type: "response.output_item.added", OutputIndex: &i, Item: MessageItem{
				Type: "message", ID: id, Status: inProgress, Role: "assistant", Content: []TextPart{},
			}},
			ResponseEvent{
				Type: "response.content_part.added", OutputIndex: &i, ItemID: id, ContentIndex: &part,
				Part: textPart("", nil),
			},
		); err != nil {
			return err
		}
	}
	w.items[i].text += text
	return w.tell(ResponseEvent{
		Type: "response.output_text.delta", OutputIndex: &i, ItemID: w.items[i].id, ContentIndex: &part, Delta: &text,
		Logprobs: noLogprobs,
	})
}

// endText ends the open message, if any, with its footnotes.
func (w *responseTeller) endText(status string, citations []chat.Citation) error {
	i, part := w.openText(), 0
	if i < 0 {
		return nil
	}
	item := &w.items[i]
	marks := responseAnnotations(item.text, citations, w.base)
	for n, mark := range marks {
		if err := w.tell(ResponseEvent{
			Type: "response.output_text.annotation.added", OutputIndex: &i, ItemID: item.id, ContentIndex: &part,
			AnnotationIndex: &n, Annotation: &mark,
		}); err != nil {
			return err
		}
	}
	item.marks, item.closed, item.status = marks, true, status
	return w.tellAll(
		ResponseEvent{
			Type: "response.output_text.done", OutputIndex: &i, ItemID: item.id, ContentIndex: &part, Text: &item.text,
			Logprobs: noLogprobs,
		},
		ResponseEvent{
			Type: "response.content_part.done", OutputIndex: &i, ItemID: item.id, ContentIndex: &part,
			Part: textPart(item.text, marks),
		},
		ResponseEvent{Type: "response.output_item.done", OutputIndex: &i, Item: w.item(i)},
	)
}

// withdraw ends a message that is not part of the answer.
func (w *responseTeller) withdraw() error {
	i := w.openText()
	if i < 0 {
		return nil
	}
	w.withdrawn++
	w.items[i].gone = true
	return w.endText(incomplete, nil)
}

// end sends the rest of a finished run, and its result. failure is the reason for a missing answer.
func (w *responseTeller) end(t *runlog.Trace, failure error) error {
	if err := w.begin(); err != nil {
		return err
	}
	if failure == nil {
		if err := w.addText(w.draft.Rest()); err != nil {
			return err
		}
	}
	for i, item := range w.items {
		if item.call != "" && !item.closed {
			w.items[i].step.Status = chat.StatusCancelled
			if err := w.closeStep(i); err != nil {
				return err
			}
		}
	}
	if err := w.endText(incomplete, t.Citations); err != nil {
		return err
	}
	last := w.response.ended(t, failure)
	kind := "response." + completed
	switch last.Status {
	case failed:
		kind = "response." + failed
		w.dropTexts()
	case cancelled, incomplete:
		kind = "response." + incomplete // cancelled responses have no event of their own
	}
	last.Output = w.output()
	w.response = last
	return w.tell(ResponseEvent{Type: kind, Response: &last})
}

// dropTexts removes the text of a failed answer from the output.
func (w *responseTeller) dropTexts() {
	for i := range w.items {
		w.items[i].gone = w.items[i].gone || w.items[i].call == ""
	}
}
