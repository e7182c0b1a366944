package agui

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// teller encodes a run as events. The answer is the message with the run's id. Text with footnotes that turns out to
// be a thought stays, as a message of its own. Tool calls belong to a message before the answer.
type teller struct {
	base   string // prefix of the sources' links
	in     Input
	events []any // events for the current event of the log

	run      string // run id; empty before its first event
	texts    int    // text messages so far
	open     bool   // the last one is unfinished
	draft    runlog.Draft
	called   map[string]bool
	waiting  []string // waiting calls in the last state sent
	thoughts map[string]string
}

// Tell returns the protocol's events for an event of the log.
func (w *teller) Tell(t *runlog.Trace, p chat.Payload) []any {
	w.events = nil
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
		if !slices.Equal(w.waiting, waiting(t)) {
			w.addState(t, []runlog.GroundedSource{}, nil)
		}
	case chat.Answer:
		w.endText()
	}
	return w.events
}

// End returns the last events: the rest of a cancelled run, its sources, and its outcome.
func (w *teller) End(t *runlog.Trace, failure error) []any {
	w.events = nil
	w.begin(t)
	if failure == nil {
		w.addText(w.draft.Rest())
	}
	w.endText()
	if failure != nil {
		w.addState(t, []runlog.GroundedSource{}, nil)
		e := httpio.AsError(failure)
		w.add(Event{Type: "RUN_ERROR", Message: e.Message, Code: e.Code})
		return w.events
	}
	judged := t.Judged()
	w.addState(t, runlog.SourcesOf(t.Citations, w.base), &judged)
	over := Event{Type: "RUN_FINISHED", ThreadID: w.in.ThreadID, RunID: w.in.RunID}
	if t.Status == chat.RunCancelled {
		over.Outcome = json.RawMessage(`{"type":"cancelled"}`)
	}
	w.add(over)
	return w.events
}

// begin sends the events that identify the run, once.
func (w *teller) begin(t *runlog.Trace) {
	if w.run != "" {
		return
	}
	w.run, w.called, w.thoughts = t.RunID, map[string]bool{}, map[string]string{}
	w.add(Event{Type: "RUN_STARTED", ThreadID: w.in.ThreadID, RunID: w.in.RunID})
	w.addState(t, []runlog.GroundedSource{}, nil)
}

func (w *teller) add(e Event) { w.events = append(w.events, e) }

// addState sends the client's state with ours in it.
func (w *teller) addState(t *runlog.Trace, sources []runlog.GroundedSource, judged *runlog.Judged) {
	w.waiting = waiting(t)
	w.add(Event{Type: "STATE_SNAPSHOT", Snapshot: w.in.withFootnote(State{
		RunID: t.RunID, SessionID: t.SessionID, Status: t.Status, Waiting: w.waiting, Sources: sources, Judged: judged,
	})})
}

// waiting returns the pending calls of a run.
func waiting(t *runlog.Trace) []string {
	ids := []string{}
	for _, step := range t.Steps {
		if step.Status == chat.StatusPending {
			ids = append(ids, step.CallID)
		}
	}
	return ids
}

// textID returns the id of the open message: the run id, with a number after retracted text.
func (w *teller) textID() string {
	if w.texts == 1 {
		return w.run
	}
	return w.run + "_" + strconv.Itoa(w.texts)
}

// addText appends to the answer's text.
func (w *teller) addText(text string) {
	if text == "" {
		return
	}
	if !w.open {
		w.open = true
		w.texts++
		w.add(Event{Type: "TEXT_MESSAGE_START", MessageID: w.textID(), Role: "assistant"})
	}
	w.add(Event{Type: "TEXT_MESSAGE_CONTENT", MessageID: w.textID(), Delta: text})
}

// endText ends the open message, if any.
func (w *teller) endText() {
	if w.open {
		w.open = false
		w.add(Event{Type: "TEXT_MESSAGE_END", MessageID: w.textID()})
	}
}

// addStep sends a step's changes: its thought, and for a tool call its input and result. Call ids are unique in a
// run; the prefix makes them unique in a thread.
func (w *teller) addStep(step chat.Step) {
	id := w.run + "_" + step.CallID
	// calls of one turn share its thought, which was sent with their group
	if step.Thought != "" && step.Thought != w.thoughts[id] && step.Thought != w.thoughts[w.run+"_"+step.ParentID] {
		w.thoughts[id] = step.Thought
		thought := id + "_thought"
		w.add(Event{Type: "REASONING_START", MessageID: thought})
		w.add(Event{Type: "REASONING_MESSAGE_START", MessageID: thought, Role: "reasoning"})
		w.add(Event{Type: "REASONING_MESSAGE_CONTENT", MessageID: thought, Delta: step.Thought})
		w.add(Event{Type: "REASONING_MESSAGE_END", MessageID: thought})
		w.add(Event{Type: "REASONING_END", MessageID: thought})
	}
	if step.ToolName == "" {
		return
	}
	if !w.called[id] {
		w.called[id] = true
		w.add(Event{
			Type: "TOOL_CALL_START", ToolCallID: id, ToolCallName: step.ToolName, ParentMessageID: w.run + "_calls",
		})
		w.add(Event{Type: "TOOL_CALL_ARGS", ToolCallID: id, Delta: cmp.Or(string(step.ToolInput), "{}")})
		w.add(Event{Type: "TOOL_CALL_END", ToolCallID: id})
	}
	if step.Status == chat.StatusPending || step.Status == chat.StatusRunning {
		return
	}
	content := string(step.ToolOutput)
	if step.Error != nil {
		content = step.Error.Message
	}
	w.add(Event{
		Type: "TOOL_CALL_RESULT", ToolCallID: id, MessageID: id + "_result", Role: "tool",
		Content: cmp.Or(content, step.Message, "{}"),
	})
}
