package aisdk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// teller encodes a run as chunks. Text with footnotes that turns out to be a thought stays, as a text part of its
// own; other thoughts become reasoning. Sources are sent with the whole answer, when their numbers are final.
type teller struct {
	base   string // prefix of the sources' links
	chunks []any  // chunks for the current event

	begun bool
	texts int  // text parts so far
	open  bool // the last one is unfinished
	draft runlog.Draft
	calls map[string]*call
	cited bool // the sources were sent
}

// call is the part of a step that was sent.
type call struct {
	input   json.RawMessage // nil: the call was not sent yet
	waits   bool            // for approval
	thought string
}

// Tell returns the chunks for an event.
func (w *teller) Tell(t *runlog.Trace, p chat.Payload) []any {
	w.chunks = nil
	w.begin(t)
	told := w.draft.Add(p)
	if told.Withdrawn {
		w.endText()
	}
	w.addText(told.Text)
	switch p := p.(type) {
	case chat.Step:
		step, _ := t.Log.Step(p.CallID)
		w.addStep(step)
	case chat.Answer:
		w.endText()
		w.addSources(p.Citations)
	}
	return w.chunks
}

// End returns the last chunks: the rest of a cancelled run, and its outcome.
func (w *teller) End(t *runlog.Trace, failure error) []any {
	w.chunks = nil
	w.begin(t)
	if failure == nil {
		w.addText(w.draft.Rest())
	}
	w.endText()
	if failure != nil {
		w.add(Chunk{Type: "error", ErrorText: httpio.AsError(failure).Message})
		return w.chunks
	}
	w.addSources(t.Citations)
	judged, tokens := t.Judged(), t.Tokens
	about := Metadata{
		RunID: t.RunID, SessionID: t.SessionID, Status: t.Status, Tokens: &tokens, Footnote: &judged,
	}
	if t.Answer != nil {
		about.Reason = t.Answer.StopReason
	}
	w.add(Chunk{Type: "finish-step"})
	if t.Status == chat.RunCancelled {
		w.add(Chunk{Type: "message-metadata", MessageMetadata: &about})
		w.add(Chunk{Type: "abort", Reason: "The question was stopped."})
		return w.chunks
	}
	w.add(Chunk{Type: "finish", FinishReason: t.FinishReason(), MessageMetadata: &about})
	return w.chunks
}

// begin sends the message's ids, once.
func (w *teller) begin(t *runlog.Trace) {
	if w.begun {
		return
	}
	w.begun, w.calls = true, map[string]*call{}
	w.add(Chunk{
		Type: "start", MessageID: t.RunID, MessageMetadata: &Metadata{RunID: t.RunID, SessionID: t.SessionID},
	})
	w.add(Chunk{Type: "start-step"})
}

func (w *teller) add(chunk Chunk) { w.chunks = append(w.chunks, chunk) }

// textID returns the id of the open text part.
func (w *teller) textID() string { return "text-" + strconv.Itoa(w.texts) }

// addText appends to the answer's text.
func (w *teller) addText(text string) {
	if text == "" {
		return
	}
	if !w.open {
		w.open = true
		w.texts++
		w.add(Chunk{Type: "text-start", ID: w.textID()})
	}
	w.add(Chunk{Type: "text-delta", ID: w.textID(), Delta: text})
}

// endText ends the open text part, if any.
func (w *teller) endText() {
	if w.open {
		w.open = false
		w.add(Chunk{Type: "text-end", ID: w.textID()})
	}
}

// addStep sends a step's changes: its thought, and for a tool call its input and result.
func (w *teller) addStep(step chat.Step) {
	known := w.calls[step.CallID]
	if known == nil {
		known = &call{}
		w.calls[step.CallID] = known
	}
	group := w.calls[step.ParentID] // has sent the thought that calls of one turn share
	if step.Thought != "" && step.Thought != known.thought && (group == nil || step.Thought != group.thought) {
		known.thought = step.Thought
		id := "thought-" + step.CallID
		w.add(Chunk{Type: "reasoning-start", ID: id})
		w.add(Chunk{Type: "reasoning-delta", ID: id, Delta: step.Thought})
		w.add(Chunk{Type: "reasoning-end", ID: id})
	}
	if step.ToolName == "" {
		return
	}
	about := &ToolMetadata{
		Status: step.Status, Message: step.Message, DurationMS: step.DurationMS, Truncated: step.Truncated,
	}
	input, waits := objectOr(step.ToolInput), step.Status == chat.StatusPending
	if !bytes.Equal(input, known.input) || waits != known.waits { // a user may have approved another input
		known.input, known.waits = input, waits
		w.add(Chunk{
			Type: "tool-input-available", ToolCallID: step.CallID, ToolName: step.ToolName, Input: input,
			Title: cmp.Or(step.Title, step.Message), Dynamic: true, ProviderExecuted: true, ToolMetadata: about,
		})
	}
	chunk := Chunk{ToolCallID: step.CallID, Dynamic: true, ProviderExecuted: true, ToolMetadata: about}
	switch step.Status {
	case chat.StatusPending, chat.StatusRunning:
		return
	case chat.StatusComplete:
		chunk.Type, chunk.Output = "tool-output-available", objectOr(step.ToolOutput)
	case chat.StatusError, chat.StatusCancelled, chat.StatusSkipped:
		chunk.Type, chunk.ErrorText = "tool-output-error", step.Message
		if step.Error != nil {
			chunk.ErrorText = cmp.Or(step.Error.Message, step.Message)
		}
	}
	w.add(chunk)
}

// objectOr returns a JSON object, or the empty one if raw is empty.
func objectOr(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// addSources sends the sources of an answer, once.
func (w *teller) addSources(citations []chat.Citation) {
	if w.cited {
		return
	}
	w.cited = true
	for _, source := range runlog.SourcesOf(citations, w.base) {
		w.add(Chunk{
			Type: "source-url", SourceID: strconv.Itoa(source.Number), URL: source.URL, Title: source.Title,
			ProviderMetadata: &SourceMetadata{source},
		})
	}
}
