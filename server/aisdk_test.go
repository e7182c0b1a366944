package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/aisdk"
)

// sdkBody is a body of the AI SDK with one question.
const sdkBody = `{"id":"chat-1","trigger":"submit-message","messages":[{"id":"m1","role":"user",` +
	`"parts":[{"type":"text","text":"Why?"}]}]}`

// chunks reads a stream for the AI SDK.
func chunks(t *testing.T, got reply) []aisdk.Chunk {
	t.Helper()
	if got.status != 200 || got.header.Get("X-Vercel-AI-UI-Message-Stream") != "v1" {
		t.Fatalf("got %d %v %s, want 200 and the stream's header", got.status, got.header, got.body)
	}
	if !strings.HasSuffix(got.body, "data: [DONE]\n\n") {
		t.Errorf("the stream ends in %q, want [DONE]", got.body[max(0, len(got.body)-40):])
	}
	var list []aisdk.Chunk
	for line := range strings.SplitSeq(got.body, "\n") {
		data, ok := strings.CutPrefix(line, "data: {")
		if !ok {
			continue
		}
		var chunk aisdk.Chunk
		if err := json.Unmarshal([]byte("{"+data), &chunk); err != nil {
			t.Fatalf("%v in %q, want no error", err, data)
		}
		list = append(list, chunk)
	}
	return list
}

// inShort is a chunk in a few words.
func inShort(c aisdk.Chunk) string {
	waits := ""
	if c.ToolMetadata != nil && c.ToolMetadata.Status == chat.StatusPending {
		waits = "waits"
	}
	return strings.TrimSpace(strings.Join(strings.Fields(strings.Join([]string{
		c.Type, c.ID, c.Delta, c.ToolCallID, string(c.Input), string(c.Output), c.ErrorText, c.SourceID,
		c.Reason, waits,
	}, " ")), " "))
}

func TestTheAISDKGetsARunAsParts(t *testing.T) {
	cite := chat.Citation{Number: 1, Title: "A", URL: "/d/a", Quote: "so"}
	call := func(status chat.Status, step chat.Step) chat.Step {
		step.CallID, step.ToolName, step.Status, step.ToolStatus = "c", "read", status, status
		step.Message = "It reads"
		return step
	}
	input := json.RawMessage(`{"a":1}`)
	running := call(chat.StatusRunning, chat.Step{ToolInput: input})
	done := call(chat.StatusComplete, chat.Step{ToolOutput: json.RawMessage(`{"b":2}`)})
	over := chat.RunDone{Status: chat.RunCompleted}
	answer := chat.Answer{Markdown: "Yes [1].", Citations: []chat.Citation{cite}}
	for _, tt := range []struct {
		name string
		play []chat.Payload
		want []string // between start and end
		end  string
	}{
		{"a thought before a call is reasoning, and the call's output follows it",
			[]chat.Payload{
				chat.AnswerDelta{Text: "Let me look."}, chat.AnswerReset{CallID: "c"}, running, done, answer, over,
			},
			[]string{
				"reasoning-start thought-c", "reasoning-delta thought-c Let me look.", "reasoning-end thought-c",
				`tool-input-available c {"a":1}`, `tool-output-available c {"b":2}`,
				"text-start text-1", "text-delta text-1 Yes [1].", "text-end text-1", "source-url 1", "finish-step",
			}, "finish"},
		{"a thought with a footnote stays as a text of its own",
			[]chat.Payload{cite, chat.AnswerDelta{Text: "See [1]"}, chat.AnswerReset{CallID: "x"}, answer, over},
			[]string{
				"text-start text-1", "text-delta text-1 See [1]", "text-end text-1", "text-start text-2",
				"text-delta text-2 Yes [1].", "text-end text-2", "source-url 1", "finish-step",
			}, "finish"},
		{"a call that fails is an error of the tool",
			[]chat.Payload{
				running, call(chat.StatusError, chat.Step{Error: &chat.StepError{Message: "No such file."}}),
				answer, over,
			},
			[]string{
				`tool-input-available c {"a":1}`, "tool-output-error c No such file.", "text-start text-1",
				"text-delta text-1 Yes [1].", "text-end text-1", "source-url 1", "finish-step",
			}, "finish"},
		{"an input that was changed by its approval is told anew",
			[]chat.Payload{
				call(chat.StatusPending, chat.Step{ToolInput: input}),
				call(chat.StatusRunning, chat.Step{ToolInput: json.RawMessage(`{"a":2}`)}), done,
				chat.RunDone{Status: chat.RunCancelled},
			},
			[]string{
				`tool-input-available c {"a":1} waits`, `tool-input-available c {"a":2}`,
				`tool-output-available c {"b":2}`,
				"finish-step", "message-metadata",
			}, "abort The question was stopped."},
		{"an approved call no longer waits",
			[]chat.Payload{
				call(chat.StatusPending, chat.Step{ToolInput: input}), running, done,
				chat.RunDone{Status: chat.RunCancelled},
			},
			[]string{
				`tool-input-available c {"a":1} waits`, `tool-input-available c {"a":1}`,
				`tool-output-available c {"b":2}`, "finish-step", "message-metadata",
			}, "abort The question was stopped."},
		{"a stopped run hands over what there is",
			[]chat.Payload{chat.AnswerDelta{Text: "So far"}, chat.RunDone{Status: chat.RunCancelled}},
			[]string{
				"text-start text-1", "text-delta text-1 So far", "text-end text-1", "finish-step", "message-metadata",
			}, "abort The question was stopped."},
		{"a run that failed says why",
			[]chat.Payload{chat.AnswerDelta{Text: "So"}, chat.RunDone{
				Status: chat.RunFailed, Error: &chat.StepError{Code: chat.CodeModelFailed, Message: "No model."},
			}}, nil, "error No model."},
		{"an answer that a guardrail held back is not told",
			[]chat.Payload{chat.AnswerDelta{Text: "Secret"}, chat.RunDone{
				Status: chat.RunCitationValidationFailed, Error: &chat.StepError{Message: "Not with footnotes."},
			}}, nil, "error Not with footnotes."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.stage.play = tt.play
			list := chunks(t, b.send("POST", "/ui/chat", sdkBody))
			var got []string
			for _, chunk := range list {
				got = append(got, inShort(chunk))
			}
			want := append(append([]string{"start", "start-step"}, tt.want...), tt.end)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("chunks: %s; want none", diff)
			}
		})
	}
}

func TestTheAISDKsChatIsASession(t *testing.T) {
	b := newBench(t)
	b.stage.play = []chat.Payload{chat.Answer{Markdown: "So."}, chat.RunDone{Status: chat.RunCompleted}}
	send := func(body string, want [][2]string) chat.Run {
		t.Helper()
		list := chunks(t, b.send("POST", "/ui/chat", body))
		run, err := b.store.Run(t.Context(), chat.Local, list[0].MessageID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, run.Request.History); diff != "" || run.SessionID != "chat-1" {
			t.Errorf("session %q, history %s; want chat-1 and no difference", run.SessionID, diff)
		}
		return run
	}
	before := `{"id":"x","role":"user","parts":[{"type":"text","text":"Hello?"}]},` +
		`{"id":"y","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"Hello [2]."}]},`
	first := send(strings.Replace(sdkBody, `"messages":[`, `"messages":[`+before, 1), [][2]string{{"Hello?", "Hello."}})
	next := strings.Replace(sdkBody, `"messages":[`, `"messages":[`+before+
		`{"id":"m0","role":"user","parts":[{"type":"text","text":"Why?"}]},`+
		`{"id":"`+first.ID+`","role":"assistant","parts":[{"type":"text","text":"So."}]},`, 1)
	if second := send(next, [][2]string{{"Hello?", "Hello."}}); second.ParentID != first.ID {
		t.Errorf("the second question follows %q, want %q", second.ParentID, first.ID)
	}
	system := strings.Replace(sdkBody, `"messages":[`,
		`"messages":[{"id":"s","role":"system","parts":[{"type":"text","text":"Be brief."}]},`, 1)
	if third := send(system, nil); third.Request.Instructions != "Be brief." {
		t.Errorf("instructions = %q, want %q", third.Request.Instructions, "Be brief.")
	}
	regenerate := strings.Replace(sdkBody, "submit-message", "regenerate-message", 1)
	if fourth := send(regenerate, nil); fourth.ParentID != "" {
		t.Errorf("the first question sdkBody again follows %q, want nothing", fourth.ParentID)
	}
}

func TestTheAISDKResumesOnlyWhatIsUnderWay(t *testing.T) {
	b := newBench(t)
	for path, want := range map[string]int{"/ui/chat/none/stream": 204, "/ui/chat/a%20b/stream": 400} {
		if got := b.send("GET", path, ""); got.status != want {
			t.Errorf("GET %s: %d, want %d", path, got.status, want)
		}
	}
	run := b.begin("Why?") // under way: nothing is played
	b.append(run.ID, chat.AnswerDelta{Text: "So"})
	res, events := b.open("/ui/chat/" + run.SessionID + "/stream")
	if res.StatusCode != 200 {
		t.Fatalf("status = %d, want 200", res.StatusCode)
	}
	if got := b.send("POST", "/ui/chat/"+run.SessionID+"/stop", ""); got.status != 204 {
		t.Errorf("stop: %d %s, want 204", got.status, got.body)
	}
	var all strings.Builder
	for {
		event, err := events.Next()
		if err != nil {
			break
		}
		all.WriteString(event.Data + "\n")
	}
	for _, part := range []string{`"messageId":"` + run.ID + `"`, `"delta":"So"`, `"type":"abort"`, "[DONE]"} {
		if !strings.Contains(all.String(), part) {
			t.Errorf("the stream has no %s: %s", part, all.String())
		}
	}
	if got := b.send("GET", "/ui/chat/"+run.SessionID+"/stream", ""); got.status != 204 {
		t.Errorf("after its end: %d, want 204", got.status)
	}
	if got := b.send("GET", "/ui/chat/"+run.SessionID+"/stream?after=0", ""); got.status != 200 ||
		!strings.Contains(got.body, run.ID) {
		t.Errorf("after its end, from the beginning: %d %s, want 200 and the run", got.status, got.body)
	}
}

// A reader who comes back gets the bytes that follow its number, as the first reader got them.
func TestAnotherProtocolsStreamIsResumedByNumber(t *testing.T) {
	b := newBench(t)
	run := b.begin("Why?")
	b.append(run.ID, chat.RunStarted{}, chat.AnswerDelta{Text: "So"}, chat.Citation{Number: 1},
		chat.AnswerDelta{Text: " [1]"})
	_, events := b.open("/ui/chat/" + run.SessionID + "/stream")
	for { // what is appended later is then told live
		if event, err := events.Next(); err != nil || event.ID == "4" {
			break
		}
	}
	b.append(run.ID, chat.RunDone{Status: chat.RunCancelled, Tokens: &chat.Tokens{In: 7, Out: 3}})
	live := ""
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		live += event.Data + "\n"
	}
	again := func(after string) (data string) {
		got := b.send("GET", "/ui/chat/"+run.SessionID+"/stream", "", "Last-Event-ID", after)
		for line := range strings.SplitSeq(got.body, "\n") {
			if text, ok := strings.CutPrefix(line, "data: "); ok {
				data += text + "\n"
			}
		}
		return data
	}
	if got := again("4"); got != live || !strings.Contains(got, `{"in":7,"out":3}`) {
		t.Errorf("after 4:\n%s\nwant, as it came live:\n%s", got, live)
	}
	whole := again("0")
	if !strings.HasPrefix(whole, `{"type":"start"`) || !strings.HasSuffix(whole, live) {
		t.Errorf("from the beginning:\n%s\nwant a start, and at its end:\n%s", whole, live)
	}
	if got := again("99"); got != whole {
		t.Errorf("beyond the end:\n%s\nwant all of it:\n%s", got, whole)
	}
}
