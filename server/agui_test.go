package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/agui"
)

// aguiBody is a body of AG-UI with one question.
const aguiBody = `{"threadId":"thread-1","runId":"r1","state":{"a":1},"messages":[{"id":"m1","role":"user",` +
	`"content":"Why?"}],"tools":[],"context":[],"forwardedProps":{}}`

// aguiEvents reads a stream for AG-UI, each event in a few words, with RUN for the run's id.
func aguiEvents(t *testing.T, got reply) (list []string, state map[string]any) {
	t.Helper()
	if got.status != 200 {
		t.Fatalf("got %d %s, want 200", got.status, got.body)
	}
	run := "no run yet"
	for line := range strings.SplitSeq(got.body, "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e agui.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v in %q, want no error", err, data)
		}
		if e.Type == "STATE_SNAPSHOT" {
			state = e.Snapshot
			if ours, ok := state["footnote"].(map[string]any); ok {
				run, _ = ours["run_id"].(string)
				if list, _ := ours["waiting"].([]any); len(list) > 0 {
					e.Content = fmt.Sprint("waiting for ", list)
				}
			}
		}
		list = append(list, strings.ReplaceAll(strings.Join(strings.Fields(strings.Join([]string{
			e.Type, e.ThreadID, e.RunID, e.MessageID, e.ToolCallID, e.ParentMessageID, e.Delta, e.Content,
			string(e.Outcome), e.Message, string(e.Code),
		}, " ")), " "), run, "RUN"))
	}
	return list, state
}

func TestAGUIGetsARunAsEvents(t *testing.T) {
	cite := chat.Citation{Number: 1, Title: "A", URL: "/d/a", Quote: "so"}
	step := chat.Step{
		CallID: "c", ToolName: "read", Message: "It reads", Status: chat.StatusRunning, ToolStatus: chat.StatusRunning,
		ToolInput: json.RawMessage(`{"a":1}`),
	}
	done, failed, pending := step, step, step
	pending.Status = chat.StatusPending
	done.Status, done.ToolOutput = chat.StatusComplete, json.RawMessage(`{"b":2}`)
	failed.Status, failed.Error = chat.StatusError, &chat.StepError{Message: "No such file."}
	answer := chat.Answer{Markdown: "Yes [1].", Citations: []chat.Citation{cite}}
	over := chat.RunDone{Status: chat.RunCompleted}
	calls := []string{
		"TOOL_CALL_START RUN_c RUN_calls", `TOOL_CALL_ARGS RUN_c {"a":1}`, "TOOL_CALL_END RUN_c",
	}
	text := []string{"TEXT_MESSAGE_START RUN", "TEXT_MESSAGE_CONTENT RUN Yes [1].", "TEXT_MESSAGE_END RUN"}
	const finished = "RUN_FINISHED thread-1 r1"
	for _, tt := range []struct {
		name string
		play []chat.Payload
		want [][]string // between the first state and the end
		end  string
	}{
		{"a thought before a call is reasoning, and the call's result follows it",
			[]chat.Payload{
				chat.AnswerDelta{Text: "Let me look."}, chat.AnswerReset{CallID: "c"}, step, done, answer, over,
			},
			[][]string{{
				"REASONING_START RUN_c_thought", "REASONING_MESSAGE_START RUN_c_thought",
				"REASONING_MESSAGE_CONTENT RUN_c_thought Let me look.", "REASONING_MESSAGE_END RUN_c_thought",
				"REASONING_END RUN_c_thought",
			}, calls, {`TOOL_CALL_RESULT RUN_c_result RUN_c {"b":2}`}, text, {"STATE_SNAPSHOT"}}, finished},
		{"a call that fails has the sentence as its result",
			[]chat.Payload{step, failed, answer, over},
			[][]string{
				calls, {"TOOL_CALL_RESULT RUN_c_result RUN_c No such file."}, text, {"STATE_SNAPSHOT"},
			}, finished},
		{"a call that waits for a person is in the state",
			[]chat.Payload{chat.RunStarted{}, pending, step, done, answer, over},
			[][]string{calls, {"STATE_SNAPSHOT waiting for [c]", "STATE_SNAPSHOT"},
				{`TOOL_CALL_RESULT RUN_c_result RUN_c {"b":2}`}, text, {"STATE_SNAPSHOT"}}, finished},
		{"a thought with a footnote stays as a message of its own",
			[]chat.Payload{cite, chat.AnswerDelta{Text: "See [1]"}, chat.AnswerReset{CallID: "x"}, answer, over},
			[][]string{
				{"TEXT_MESSAGE_START RUN", "TEXT_MESSAGE_CONTENT RUN See [1]", "TEXT_MESSAGE_END RUN"},
				{"TEXT_MESSAGE_START RUN_2", "TEXT_MESSAGE_CONTENT RUN_2 Yes [1].", "TEXT_MESSAGE_END RUN_2"},
				{"STATE_SNAPSHOT"},
			}, finished},
		{"a stopped run hands over what there is",
			[]chat.Payload{chat.AnswerDelta{Text: "Yes [1]."}, chat.RunDone{Status: chat.RunCancelled}},
			[][]string{text, {"STATE_SNAPSHOT"}}, finished + ` {"type":"cancelled"}`},
		{"a run that failed says why",
			[]chat.Payload{chat.AnswerDelta{Text: "So"}, chat.RunDone{
				Status: chat.RunFailed, Error: &chat.StepError{Code: chat.CodeModelFailed, Message: "No model."},
			}}, [][]string{{"STATE_SNAPSHOT"}}, "RUN_ERROR No model. model_failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.stage.play = tt.play
			got, state := aguiEvents(t, b.send("POST", "/ag-ui", aguiBody))
			want := []string{"RUN_STARTED thread-1 r1", "STATE_SNAPSHOT"}
			for _, part := range tt.want {
				want = append(want, part...)
			}
			if diff := cmp.Diff(append(want, tt.end), got); diff != "" || state["a"] != 1.0 {
				t.Errorf("events: %s; state %v; want none and the client's state in it", diff, state)
			}
		})
	}
}

func TestAnAGUIRunIsNamedByItsClient(t *testing.T) {
	b := newBench(t)
	b.stage.play = []chat.Payload{chat.Answer{Markdown: "So."}, chat.RunDone{Status: chat.RunCompleted}}
	before := `"messages":[{"id":"x","role":"user","content":"Hello?"},{"id":"y","role":"assistant",` +
		`"content":"Hi [2]."},`
	first := strings.Replace(strings.Replace(aguiBody, `"messages":[`, before, 1), `"context":[]`,
		`"context":[{"description":"The reader","value":"is a roofer"},{"description":"Nothing","value":" "}]`, 1)
	for range 2 {
		b.send("POST", "/ag-ui", first)
	}
	runs, err := b.store.Runs(t.Context(), chat.Local, "thread-1")
	if err != nil || len(runs) != 1 {
		t.Fatalf("got %d runs, %v; want 1 and no error", len(runs), err)
	}
	asked := runs[0].Request
	if diff := cmp.Diff([][2]string{{"Hello?", "Hi."}}, asked.History); diff != "" ||
		asked.AddedContext != "The reader\nis a roofer" {
		t.Errorf("history: %s; context %q; want no difference and the context with a value", diff, asked.AddedContext)
	}
	other := strings.Replace(first, "Why?", "How?", 1)
	if got := b.send("POST", "/ag-ui", other); got.status != 422 || strings.Contains(got.body, "{") {
		t.Errorf("another question under the same name: %d %s, want 422 and a sentence", got.status, got.body)
	}
	next := strings.Replace(strings.Replace(first, `{"id":"m1"`, `{"id":"m0","role":"user","content":"Why?"},`+
		`{"id":"`+runs[0].ID+`_calls","role":"assistant","toolCalls":[]},{"id":"`+runs[0].ID+
		`","role":"assistant","content":"So."},{"id":"m1"`, 1), `"r1"`, `"r2"`, 1)
	b.send("POST", "/ag-ui", next)
	runs, err = b.store.Runs(t.Context(), chat.Local, "thread-1")
	if err != nil || len(runs) != 2 || runs[1].ParentID != runs[0].ID {
		t.Fatalf("got %+v, %v; want a second run behind the first", runs, err)
	}
	if diff := cmp.Diff([][2]string{{"Hello?", "Hi."}}, runs[1].Request.History); diff != "" {
		t.Errorf("the second question's history: %s; want what was said outside alone", diff)
	}
	for body, part := range map[string]string{
		strings.Replace(aguiBody, `"r1"`, `""`, 1):            "runId must have 1 to 100 bytes",
		strings.Replace(aguiBody, `"thread-1"`, `"a b"`, 1):   "A session id has",
		strings.Replace(aguiBody, `"Why?"`, `5`, 1):           "content must be text",
		strings.Replace(aguiBody, `"user"`, `"assistant"`, 1): "The last message must have the role",
	} {
		if got := b.send("POST", "/ag-ui", body); got.status != 400 || !strings.Contains(got.body, part) {
			t.Errorf("%s: %d %s, want 400 and %q", body, got.status, got.body, part)
		}
	}
}
