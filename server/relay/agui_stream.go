package relay

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// aguiEncoder encodes a run as AG-UI's events. The answer is the message with the run's id. Tool calls belong to a
// message before the answer.
type aguiEncoder struct {
	*eventTranslator
	in      AgUiInput
	waiting []string // calls in the last state sent that wait for approval
}

func (w *aguiEncoder) sendEvent(e AgUiEvent) { w.send("", e) }

// begin sends the events that identify the run.
func (w *aguiEncoder) begin(s *eventTranslator) {
	w.eventTranslator = s
	w.sendEvent(AgUiEvent{Type: "RUN_STARTED", ThreadID: w.in.ThreadID, RunID: w.in.RunID})
	w.sendState([]runlog.GroundedSource{}, nil)
}

// sendState sends the client's state with ours in it.
func (w *aguiEncoder) sendState(sources []runlog.GroundedSource, judged *runlog.Judged) {
	w.waiting = waiting(w.t)
	w.sendEvent(AgUiEvent{Type: "STATE_SNAPSHOT", Snapshot: w.in.withFootnote(AgUiState{
		RunID: w.t.RunID, SessionID: w.t.SessionID, Status: w.t.Status, Waiting: w.waiting, Sources: sources,
		Judged: judged,
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
func (w *aguiEncoder) textID() string {
	if w.texts == 1 {
		return w.t.RunID
	}
	return w.t.RunID + "_" + strconv.Itoa(w.texts)
}

func (w *aguiEncoder) openText() {
	w.sendEvent(AgUiEvent{Type: "TEXT_MESSAGE_START", MessageID: w.textID(), Role: "assistant"})
}

func (w *aguiEncoder) addText(text string) {
	w.sendEvent(AgUiEvent{Type: "TEXT_MESSAGE_CONTENT", MessageID: w.textID(), Delta: text})
}

func (w *aguiEncoder) closeText(string, string, []chat.Citation) {
	w.sendEvent(AgUiEvent{Type: "TEXT_MESSAGE_END", MessageID: w.textID()})
}

func (w *aguiEncoder) think(callID, thought string) {
	id := w.t.RunID + "_" + callID + "_thought"
	w.sendEvent(AgUiEvent{Type: "REASONING_START", MessageID: id})
	w.sendEvent(AgUiEvent{Type: "REASONING_MESSAGE_START", MessageID: id, Role: "reasoning"})
	w.sendEvent(AgUiEvent{Type: "REASONING_MESSAGE_CONTENT", MessageID: id, Delta: thought})
	w.sendEvent(AgUiEvent{Type: "REASONING_MESSAGE_END", MessageID: id})
	w.sendEvent(AgUiEvent{Type: "REASONING_END", MessageID: id})
}

// call sends the call once, its result, and the state when another call waits. Call ids are unique in a run; the
// prefix makes them unique in a thread.
func (w *aguiEncoder) call(step, was chat.Step) {
	id := w.t.RunID + "_" + step.CallID
	if was.CallID == "" {
		w.sendEvent(AgUiEvent{
			Type: "TOOL_CALL_START", ToolCallID: id, ToolCallName: step.ToolName,
			ParentMessageID: w.t.RunID + "_calls",
		})
		w.sendEvent(AgUiEvent{Type: "TOOL_CALL_ARGS", ToolCallID: id, Delta: cmp.Or(string(step.ToolInput), "{}")})
		w.sendEvent(AgUiEvent{Type: "TOOL_CALL_END", ToolCallID: id})
	}
	if isOver(step) {
		content := string(step.ToolOutput)
		if step.Error != nil {
			content = step.Error.Message
		}
		w.sendEvent(AgUiEvent{
			Type: "TOOL_CALL_RESULT", ToolCallID: id, MessageID: id + "_result", Role: "tool",
			Content: cmp.Or(content, step.Message, "{}"),
		})
	}
	if !slices.Equal(w.waiting, waiting(w.t)) {
		w.sendState([]runlog.GroundedSource{}, nil)
	}
}

// end sends the last state and the outcome.
func (w *aguiEncoder) end(failure error) {
	if failure != nil {
		w.sendState([]runlog.GroundedSource{}, nil)
		e := httpio.AsError(failure)
		w.sendEvent(AgUiEvent{Type: "RUN_ERROR", Message: e.Message.String(), Code: e.Code})
		return
	}
	judged := w.t.Judged()
	w.sendState(runlog.SourcesOf(w.t.Citations, w.base), &judged)
	over := AgUiEvent{Type: "RUN_FINISHED", ThreadID: w.in.ThreadID, RunID: w.in.RunID}
	if w.t.Status == chat.RunCancelled {
		over.Outcome = json.RawMessage(`{"type":"cancelled"}`)
	}
	w.sendEvent(over)
}
