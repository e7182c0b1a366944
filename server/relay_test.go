package server

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
)

// streamedBody is a request body of OpenAI's chat completions with one question.
const streamedBody = `{"model":"footnote","stream":true,"stream_options":{"include_usage":true},"messages":[{` +
	`"role":"user","content":"Why?"}]}`

// responseBody is a request body of OpenAI's responses.
const responseBody = `{"model":"footnote","stream":true,"input":"Why?"}`

// sdkBody is a request body of the AI SDK with one question.
const sdkBody = `{"id":"chat-1","trigger":"submit-message","messages":[{"id":"m1","role":"user",` +
	`"parts":[{"type":"text","text":"Why?"}]}]}`

// aguiBody is a request body of AG-UI with one question.
const aguiBody = `{"threadId":"thread-1","runId":"r1","state":{"a":1},"messages":[{"id":"m1","role":"user",` +
	`"content":"Why?"}],"tools":[],"context":[],"forwardedProps":{}}`

// plays returns runs by what they show.
func plays() []struct {
	name string
	play []chat.Payload
} {
	cite := chat.Citation{Number: 1, Title: "A", URL: "/d/a", Quote: "so"}
	call := func(id string, status chat.Status, step chat.Step) chat.Step {
		step.CallID, step.ToolName, step.Message, step.Status, step.ToolStatus = id, "read", "It reads", status, status
		return step
	}
	input := chat.Step{ToolInput: json.RawMessage(`{"a":1}`)}
	pending, running := call("c", chat.StatusPending, input), call("c", chat.StatusRunning, input)
	other := call("c", chat.StatusRunning, chat.Step{ToolInput: json.RawMessage(`{"a":2}`)})
	done := call("c", chat.StatusComplete, chat.Step{ToolOutput: json.RawMessage(`{"b":2}`)})
	wrong := call("c", chat.StatusError, chat.Step{Error: &chat.StepError{Message: "No such file."}})
	group := chat.Step{CallID: "g", Status: chat.StatusRunning, Thought: "Both."}
	inGroup := call("c", chat.StatusComplete, chat.Step{ParentID: "g", Thought: "Both."})
	own := call("m", chat.StatusComplete, chat.Step{ParentID: "g", Thought: "Mine."})
	answer := chat.Answer{Markdown: "Yes [1].", Citations: []chat.Citation{cite}, Tokens: chat.Tokens{In: 10, Out: 5}}
	accented, long := answer, answer
	accented.Markdown, long.StopReason = "É: yes [1], so.", chat.StopLength
	over := chat.RunDone{Status: chat.RunCompleted}
	stopped := chat.RunDone{Status: chat.RunCancelled, Tokens: &chat.Tokens{In: 7, Out: 3}}
	text := func(text string) chat.Payload { return chat.AnswerDelta{Text: text} }
	failed := func(status chat.RunStatus, message string) chat.Payload {
		return chat.RunDone{Status: status, Error: &chat.StepError{Code: chat.CodeModelFailed, Message: message}}
	}
	return []struct {
		name string
		play []chat.Payload
	}{
		{"a thought before a call is never in the answer, and the call's result follows it", []chat.Payload{
			text("Let me look."), chat.AnswerReset{CallID: "c"}, running, done, answer, over,
		}},
		{"an answer arrives in parts after its first footnote", []chat.Payload{
			text("É: "), cite, text("yes [1]"), text(", so."), accented, over,
		}},
		{"a thought with a footnote stays as a text of its own", []chat.Payload{
			cite, text("See [1]"), chat.AnswerReset{CallID: "x"}, cite, text("Yes [1]."), answer, over,
		}},
		{"an answer cut at its end is not sent twice", []chat.Payload{cite, text("Yes [1]. \n"), answer, over}},
		{"an answer written anew follows what was sent", []chat.Payload{cite, text("Maybe [1]"), answer, over}},
		{"an answer without footnotes comes at its end", []chat.Payload{text("4"), chat.Answer{Markdown: "42"}, over}},
		{"an answer is cut at the model's limit", []chat.Payload{long, over}},
		{"a call fails", []chat.Payload{running, wrong, answer, over}},
		{"a call waits for its approval", []chat.Payload{chat.RunStarted{}, pending, running, done, answer, over}},
		{"an approval changes the input", []chat.Payload{pending, other, done, stopped}},
		{"calls of one turn share a thought", []chat.Payload{group, inGroup, own, answer, over}},
		{"a search has results", searched()},
		{"a stopped run hands over what there is", []chat.Payload{text("So far"), running, stopped}},
		{"a stopped run keeps its footnotes", []chat.Payload{cite, text("Yes [1]"), stopped}},
		{"a run fails and says why", []chat.Payload{cite, text("So [1]"), failed(chat.RunFailed, "No model.")}},
		{"a guardrail holds an answer back", []chat.Payload{
			text("Secret"), failed(chat.RunCitationValidationFailed, "Not with footnotes."),
		}},
		{"a guardrail refuses a question", []chat.Payload{chat.RunDone{Status: chat.RunGuardrailTriggered}}},
	}
}

// shown are the fields of messages that inShort lists, in this order.
var shown = strings.Fields(`type threadId runId messageId id toolCallId item_id parentMessageId status role choices
	delta input a content reasoning_content text output b summary annotations annotation url_citation part item
	start_index end_index toolMetadata errorText sourceId reason incomplete_details outcome finish_reason finishReason
	snapshot footnote waiting response error message code usage prompt_tokens completion_tokens input_tokens
	output_tokens`)

// inShort lists values of a message, which is JSON or an end marker.
func inShort(t *testing.T, message string) string {
	t.Helper()
	if message == "[DONE]" {
		return message
	}
	var v any
	if err := json.Unmarshal([]byte(message), &v); err != nil {
		t.Fatalf("%v in %q, want no error", err, message)
	}
	return strings.Join(shownIn(v), " ")
}

// shownIn lists the shown values of decoded JSON.
func shownIn(v any) (out []string) {
	switch v := v.(type) {
	case nil:
	case []any:
		for _, value := range v {
			out = append(out, shownIn(value)...)
		}
	case map[string]any:
		for _, name := range shown {
			out = append(out, shownIn(v[name])...)
		}
	case string:
		switch {
		case v == "":
		case strings.TrimSpace(v) != v:
			out = append(out, strconv.Quote(v))
		default:
			out = append(out, v)
		}
	default:
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// TestRunInEveryProtocol compares runs with testdata/protocols.txt: for each protocol the messages of the stream, with
// their ids, and the answer without a stream. FOOTNOTE_WRITE_PROTOCOLS=1 writes the file.
func TestRunInEveryProtocol(t *testing.T) {
	const file = "testdata/protocols.txt"
	b := newHarness(t)
	run := ""
	// ask returns a reply with RUN for the id of the run.
	ask := func(method, path, body string) reply {
		got := b.send(method, path, body)
		sessions, _, err := b.store.Sessions(t.Context(), chat.Local, chat.SessionQuery{})
		if err != nil {
			t.Fatal(err)
		}
		run = sessions[0].HeadID
		got.body = strings.ReplaceAll(got.body, run, "RUN")
		return got
	}
	var out strings.Builder
	for n, tt := range plays() {
		b.stage.events = tt.play
		fmt.Fprintln(&out, tt.name)
		for _, sent := range [][2]string{
			{"/v1/chat/completions", streamedBody}, {"/v1/responses", responseBody},
			{"/ui/chat", strings.Replace(sdkBody, "chat-1", fmt.Sprint("chat-", n), 1)},
			{"/ag-ui", strings.Replace(aguiBody, "thread-1", fmt.Sprint("thread-", n), 1)},
		} {
			path, id, last := sent[0], "", ""
			got := ask("POST", path, sent[1])
			if got.status != 200 || got.header.Get("Content-Encoding") != "" ||
				!strings.HasPrefix(got.header.Get("Content-Type"), "text/event-stream") ||
				(got.header.Get("X-Vercel-AI-UI-Message-Stream") == "v1") != (path == "/ui/chat") {
				t.Errorf("%s: %d %v, want a stream", path, got.status, got.header)
			}
			fmt.Fprint(&out, path)
			for line := range strings.SplitSeq(got.body, "\n") {
				switch name, value, _ := strings.Cut(line, ": "); name {
				case "id":
					id = "#" + value + " "
				case "data":
					fmt.Fprint(&out, " | ", id, inShort(t, value))
					id, last = "", value
				}
			}
			if path == "/v1/responses" {
				whole := strings.TrimSpace(ask("GET", path+"/resp_"+run, "").body)
				if !strings.HasSuffix(last, `,"response":`+whole+"}") {
					t.Errorf("%s: the response is %s, want that of the last event, %s", tt.name, whole, last)
				}
			}
			if strings.HasPrefix(path, "/v1/") {
				got = ask("POST", path, strings.Replace(sent[1], `"stream":true`, `"stream":false`, 1))
				fmt.Fprint(&out, " | without a stream: ", got.status, " ", inShort(t, got.body))
			}
			fmt.Fprintln(&out)
		}
	}
	if os.Getenv("FOOTNOTE_WRITE_PROTOCOLS") != "" {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	messages := regexp.MustCompile(`\n| \| `)
	if diff := cmp.Diff(messages.Split(string(want), -1), messages.Split(out.String(), -1)); diff != "" {
		t.Error(diff)
	}
}

func TestAISDKChatIsSession(t *testing.T) {
	b := newHarness(t)
	b.stage.events = []chat.Payload{chat.Answer{Markdown: "So."}, chat.RunDone{Status: chat.RunCompleted}}
	send := func(body string, want [][2]string) chat.Run {
		t.Helper()
		b.send("POST", "/ui/chat", body)
		runs, err := b.store.Runs(t.Context(), chat.Local, "chat-1")
		if err != nil {
			t.Fatal(err)
		}
		run := runs[len(runs)-1]
		if diff := cmp.Diff(want, run.Request.History); diff != "" {
			t.Errorf("history %s; want no difference", diff)
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

func TestAISDKResumesOnlyActiveRuns(t *testing.T) {
	b := newHarness(t)
	for path, want := range map[string]int{"/ui/chat/none/stream": 204, "/ui/chat/a%20b/stream": 400} {
		if got := b.send("GET", path, ""); got.status != want {
			t.Errorf("GET %s: %d, want %d", path, got.status, want)
		}
	}
	run := b.begin("Why?") // no events: the run stays under way
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
			t.Errorf("stream lacks %s: %s", part, all.String())
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

// A reconnecting reader gets the same bytes after its number as the first reader.
func TestProtocolStreamResumesByNumber(t *testing.T) {
	b := newHarness(t)
	run := b.begin("Why?")
	b.append(run.ID, chat.RunStarted{}, chat.AnswerDelta{Text: "So"}, chat.Citation{Number: 1},
		chat.AnswerDelta{Text: " [1]"})
	_, events := b.open("/ui/chat/" + run.SessionID + "/stream")
	for { // later entries are then streamed live
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

func TestAGUIRunIDComesFromClient(t *testing.T) {
	b := newHarness(t)
	b.stage.events = []chat.Payload{chat.Answer{Markdown: "So."}, chat.RunDone{Status: chat.RunCompleted}}
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
		strings.Replace(aguiBody, `"thread-1"`, `"a b"`, 1):   "A session ID must have",
		strings.Replace(aguiBody, `"Why?"`, `5`, 1):           "content must be text",
		strings.Replace(aguiBody, `"user"`, `"assistant"`, 1): "The last message must have the role",
	} {
		if got := b.send("POST", "/ag-ui", body); got.status != 400 || !strings.Contains(got.body, part) {
			t.Errorf("%s: %d %s, want 400 and %q", body, got.status, got.body, part)
		}
	}
}

func TestProtocolStreamsMatchSchema(t *testing.T) {
	b := newHarness(t)
	b.stage.events = script()
	d := b.description()
	for component, ask := range map[string][2]string{
		"AiChunk": {"/ui/chat", sdkBody}, "AgUiEvent": {"/ag-ui", aguiBody},
		"V1Chunk":         {"/v1/chat/completions", streamedBody},
		"V1ResponseEvent": {"/v1/responses", responseBody},
	} {
		var messages []string
		for line := range strings.SplitSeq(b.send("POST", ask[0], ask[1]).body, "\n") {
			if data, ok := strings.CutPrefix(line, "data: {"); ok {
				messages = append(messages, "{"+data)
			}
		}
		schema := json.RawMessage(`{"type":"array","minItems":15,` +
			`"items":{"$ref":"#/components/schemas/` + component + `"}}`)
		if err := d.check(t, schema, "["+strings.Join(messages, ",")+"]", true); err != nil {
			t.Errorf("%s: %v in %s, want no error", component, err, messages)
		}
	}
}
