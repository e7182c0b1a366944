package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio/ssetest"
	"github.com/footnote/footnote/server/runlog"
)

func TestAgentChatAnswersWithSources(t *testing.T) {
	b := newBench(t)
	b.stage.play = script()
	for _, tt := range []struct{ name, style, want string }{
		{"by default markers name sources and a list follows", ``,
			"It is sound [Source 1].\n\nSources:\n[Source 1] Survey.pdf, Roof, p. 2: " + b.url + "/d/d1?c=r.1"},
		{"numeric leaves the answer as it is", `,"citation_style":"numeric"`, "It is sound [1]."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.send("POST", "/agent/chat", `{"message":"Is the roof sound?"`+tt.style+`}`)
			var answer api.AgentAnswer
			got.decode(t, &answer)
			if got.status != 200 || answer.Status != "success" || answer.Response != tt.want ||
				answer.RetrievalMode != chat.ModeFullBook ||
				len(answer.Citations) != 1 || answer.Confidence != 0.9 ||
				answer.Tokens != (chat.Tokens{In: 10, Out: 5}) || answer.LatencyMS != 12 ||
				answer.Cost == nil || *answer.Cost != 0.25 {
				t.Errorf("got %d %+v; want 200, Status %q, Response %v, RetrievalMode %v, 1 citation, Confidence "+
					"0.9, LatencyMS 12",
					got.status, answer, "success", tt.want, chat.ModeFullBook)
			}
		})
	}
	got := b.send("POST", "/agent/chat", `{"message":"Is the roof sound?"}`, "Accept", "text/event-stream")
	if events := ssetest.NewReader(strings.NewReader(got.body)).All(t); len(events) != len(script()) {
		t.Errorf("stream of %d events", len(events))
	}
	got = b.send("POST", "/agent/chat/structured", `{"message":"Is the roof sound?"}`)
	var grounded api.GroundedResponse
	got.decode(t, &grounded)
	if grounded.Answer != "It is sound [Source 1]." || len(grounded.Sources) != 1 ||
		grounded.Sources[0].Quote != "sound" || grounded.RetrievalMode != "full_book" {
		t.Errorf("structured: %s", got.body)
	}
	got = b.send(
		"POST", "/agent/query",
		`{"question":"Is the roof sound?","history":[["Hello?","Hello."]],"context":"The roof is sound."}`,
	)
	var response api.AgentResponse
	got.decode(t, &response)
	if response.TotalSteps != len(hostile) || response.StepsUsed != 2 || response.TotalRetrievalCalls != len(hostile) ||
		response.LLMTokensUsed != 15 ||
		len(response.Citations) != 1 || response.Citations[0].ContentSnippet != "sound" ||
		response.TotalLatencyMS != 12 || response.Cost == nil {
		t.Errorf("query: %s", got.body)
	}
	for i, step := range response.Steps {
		result, _ := step.Observation.Result.(map[string]any)
		if step.StepNumber != i+1 || step.Action.Tool != "read_document" ||
			string(step.Action.ToolInput) != string(step.ToolInput) ||
			step.Observation.Success == nil || !*step.Observation.Success || step.Observation.Error != nil ||
			result["text"] != hostile[i] {
			t.Errorf("step %d = %+v; want StepNumber %v, Action.Tool %q, %v, Observation.Success true",
				i, step, i+1, "read_document", string(step.ToolInput))
		}
	}
	run, err := b.store.Run(t.Context(), chat.Local, response.ID)
	if err != nil || len(run.Request.History) != 1 || run.Request.AddedContext == "" || run.Request.ContextText != "" {
		t.Errorf("stored request: %+v, %v; want 1, something, ContextText nothing", run.Request, err)
	}
}

func TestSourcesOfAgentChatAreItsMarkers(t *testing.T) {
	cites := func(number int, document string) chat.Citation {
		return chat.Citation{
			Number: number, DocumentID: document, Title: "Title of " + document, Filename: document + ".pdf",
			Section: "Roof", URL: "/d/" + document, SourceURL: "https://example.org/" + document,
		}
	}
	for _, tt := range []struct {
		name   string
		answer chat.Answer
		want   []chat.Source
	}{
		{
			"two footnotes of one document, and a document that was only read",
			chat.Answer{
				Markdown: "It is sound [1], but old [2].", StopReason: chat.StopAnswered,
				Citations: []chat.Citation{cites(1, "d1"), cites(2, "d1")},
				Sources:   []chat.Source{{Number: 1, DocumentID: "d1", Cited: true}, {DocumentID: "d2"}},
			},
			[]chat.Source{
				{Number: 1, DocumentID: "d1", Title: "Title of d1", Filename: "d1.pdf", Section: "Roof", URL: "/d/d1",
					SourceURL: "https://example.org/d1", Cited: true},
				{Number: 2, DocumentID: "d1", Title: "Title of d1", Filename: "d1.pdf", Section: "Roof", URL: "/d/d1",
					SourceURL: "https://example.org/d1", Cited: true},
			},
		},
		{
			"a refusal after a document was read",
			chat.Answer{
				Markdown: "I couldn't find it.", StopReason: chat.StopRefused,
				Sources: []chat.Source{{DocumentID: "d2"}},
			},
			[]chat.Source{},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.stage.play = []chat.Payload{tt.answer, chat.RunDone{Status: chat.RunCompleted}}
			var got api.AgentAnswer
			b.send("POST", "/agent/chat", `{"message":"Is the roof sound?"}`).decode(t, &got)
			if diff := cmp.Diff(tt.want, got.Sources); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHowARunEndedIsHowAgentChatAnswers(t *testing.T) {
	refusal := "I couldn't find relevant information about that in your documents."
	failed := &chat.StepError{
		Code: chat.CodeModelFailed, Message: "The model's server refused the key. Check OPENAI_API_KEY.",
	}
	for _, tt := range []struct {
		name   string
		play   []chat.Payload
		status int
		part   string
	}{
		{"a refusal is a success without sources",
			[]chat.Payload{
				chat.Answer{Markdown: refusal, StopReason: chat.StopRefused}, chat.RunDone{Status: chat.RunCompleted},
			}, 200, `"response":"` + refusal + `","citations":[],"sources":[]`},
		{"an input guardrail is 422",
			[]chat.Payload{
				chat.RunDone{
					Status: chat.RunGuardrailTriggered, Error: &chat.StepError{
						Code: chat.CodeGuardrail, Message: "Ask about the documents.",
					},
				},
			}, 422, `"status":"guardrail_triggered"`},
		{"an output guardrail is 422", []chat.Payload{chat.RunDone{Status: chat.RunCitationValidationFailed}}, 422,
			`"status":"citation_validation_failed"`},
		{"a failed model is 500 with its sentence", []chat.Payload{chat.RunDone{Status: chat.RunFailed, Error: failed}},
			500, failed.Message},
		{"an interrupted run is 503", []chat.Payload{chat.RunDone{Status: chat.RunInterrupted}}, 503, "Ask it again"},
		{"a cancelled run hands over what there is",
			[]chat.Payload{chat.AnswerDelta{Text: "So far"}, chat.RunDone{Status: chat.RunCancelled}}, 200,
			`"status":"cancelled","response":"So far"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.stage.play = tt.play
			got := b.send("POST", "/agent/chat", `{"message":"Why?"}`)
			if got.status != tt.status || !strings.Contains(got.body, tt.part) {
				t.Errorf("got %d %s, want %d with %s", got.status, got.body, tt.status, tt.part)
			}
		})
	}
}

func TestTheTraceIsTheLogFolded(t *testing.T) {
	b := newBench(t)
	run := b.begin("Is the roof sound?")
	all := script()
	b.append(run.ID, all[:3]...)
	b.append(run.ID, chat.AnswerDelta{Text: "A thought"}, chat.AnswerReset{CallID: "c0"})
	var early runlog.Trace
	b.send("GET", "/agent/runs/"+run.ID, "").decode(t, &early)
	if early.Text != "" || early.Status != chat.RunRunning || early.Answer != nil || early.EndedAt != nil {
		t.Errorf("after the reset: %+v; want Text nothing and Status %v", early, chat.RunRunning)
	}
	if early.Tokens != (chat.Tokens{In: 7, Out: 3}) || early.Cost == nil || *early.Cost != 0.125 ||
		early.LatencyMS < 0 {
		t.Errorf("what it came to so far: %+v, cost %v", early.Tokens, early.Cost)
	}
	b.append(run.ID, all[3:]...)
	got := b.send("GET", "/agent/runs/"+run.ID, "")
	var tr runlog.Trace
	got.decode(t, &tr)
	if tr.Tokens != (chat.Tokens{In: 10, Out: 5}) || tr.Cost == nil || *tr.Cost != 0.25 || tr.LatencyMS != 12 {
		t.Errorf("what it came to: %+v, cost %v, %d ms; want 12", tr.Tokens, tr.Cost, tr.LatencyMS)
	}
	if tr.Status != chat.RunCompleted || tr.Text != "It is sound [1]." || tr.Answer == nil ||
		tr.LastSeq != int64(len(all)+2) || tr.EndedAt == nil {
		t.Errorf("trace = %s", got.body)
	}
	if len(tr.Steps) != len(hostile) {
		t.Fatalf("%d steps, want %d", len(tr.Steps), len(hostile))
	}
	for i, step := range tr.Steps {
		var in, out struct{ Text string }
		if err := json.Unmarshal(step.ToolInput, &in); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(step.ToolOutput, &out); err != nil {
			t.Fatal(err)
		}
		if step.Status != chat.StatusComplete || in.Text != hostile[i] || out.Text != hostile[i] {
			t.Errorf("step %d = %+v, want Status %v", i, step, chat.StatusComplete)
		}
	}
	output := b.send("GET", "/agent/runs/"+run.ID+"/steps/c1/output", "")
	if diff := cmp.Diff(string(tr.Steps[1].ToolOutput), output.body); diff != "" {
		t.Error(diff)
	}
	if got := b.send("GET", "/agent/runs/"+run.ID+"/steps/none/output", ""); got.status != 404 {
		t.Errorf("an unknown step: %d, want 404", got.status)
	}
}

func TestRunsCanBeSteered(t *testing.T) {
	b := newBench(t)
	for _, how := range []string{"cancel", "answer-now"} {
		run := b.begin("Is the roof sound?")
		if got := b.send("POST", "/agent/runs/"+run.ID+"/"+how, ""); got.status != 202 {
			t.Errorf("%s: %d %s, want 202", how, got.status, got.body)
		}
		if got := b.send("POST", "/agent/runs/"+run.ID+"/"+how, ""); got.status != 409 {
			t.Errorf("%s of an ended run: %d, want 409", how, got.status)
		}
		if got := b.send("POST", "/agent/runs/"+chat.NewID()+"/"+how, ""); got.status != 404 {
			t.Errorf("%s of an unknown run: %d, want 404", how, got.status)
		}
	}
}
