package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/relay"
)

func (b *harness) sdk() openai.Client {
	return openai.NewClient(option.WithBaseURL(b.url+"/v1"), option.WithAPIKey("any"), option.WithMaxRetries(0))
}

func completion(question string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: relay.ModelName, Messages: []openai.ChatCompletionMessageParamUnion{
		openai.SystemMessage("Answer like a pirate."), openai.UserMessage("Hello?"),
		openai.AssistantMessage("Hello [1]."), openai.UserMessage(question),
	}}
}

func TestOpenAIClientCreatesCompletion(t *testing.T) {
	b := newHarness(t)
	b.stage.events = script()
	for i, p := range b.stage.events {
		if answer, ok := p.(chat.Answer); ok {
			answer.Citations = slices.Clone(answer.Citations)
			answer.Citations[0].SourceURL = "https://example.org/survey"
			b.stage.events[i] = answer
		}
	}
	client := b.sdk()
	got, err := client.Chat.Completions.New(t.Context(), completion("Is the roof sound?"))
	if err != nil {
		t.Fatal(err)
	}
	choice := got.Choices[0]
	if choice.Message.Content != "It is sound [1]." || choice.FinishReason != "stop" || got.Model != relay.ModelName ||
		got.Created == 0 || got.Usage.TotalTokens != 15 {
		t.Errorf("got %s", got.RawJSON())
	}
	want := openai.ChatCompletionMessageAnnotationURLCitation{
		StartIndex: 12, EndIndex: 15, Title: "Survey.pdf", URL: b.url + "/d/d1?c=r.1",
	}
	if len(choice.Message.Annotations) != 1 {
		t.Fatalf("annotations: %s", got.RawJSON())
	}
	cite := choice.Message.Annotations[0].URLCitation
	if cite.StartIndex != want.StartIndex || cite.EndIndex != want.EndIndex || cite.Title != want.Title ||
		cite.URL != want.URL || !strings.Contains(cite.RawJSON(), `"source_url":"https://example.org/survey"`) {
		t.Errorf("citation = %s, want %+v and the source's address", cite.RawJSON(), want)
	}
	run, err := b.store.Run(t.Context(), chat.Local, strings.TrimPrefix(got.ID, "chatcmpl-"))
	if err != nil {
		t.Fatal(err)
	}
	if run.Request.Instructions != "Answer like a pirate." {
		t.Errorf("instructions = %q, want %q", run.Request.Instructions, "Answer like a pirate.")
	}
	if diff := cmp.Diff([][2]string{{"Hello?", "Hello."}}, run.Request.History); diff != "" ||
		run.Request.Message != "Is the roof sound?" {
		t.Errorf("asked %q after %s; want nothing and %q", run.Request.Message, diff, "Is the roof sound?")
	}
}

func TestOpenAIClientStreamsCompletion(t *testing.T) {
	b := newHarness(t)
	b.stage.events = script()
	params := completion("Is the roof sound?")
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	client := b.sdk()
	stream := client.Chat.Completions.NewStreaming(t.Context(), params)
	var whole openai.ChatCompletionAccumulator
	thoughts := ""
	for stream.Next() {
		chunk := stream.Current()
		if !whole.AddChunk(chunk) {
			t.Errorf("chunk does not fit: %s", chunk.RawJSON())
		}
		for _, choice := range chunk.Choices {
			if field, ok := choice.Delta.JSON.ExtraFields["reasoning_content"]; ok {
				thoughts += field.Raw()
			}
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if len(whole.Choices) != 1 || whole.Choices[0].Message.Content != "It is sound [1]." ||
		whole.Choices[0].FinishReason != "stop" || whole.Usage.TotalTokens != 15 {
		t.Errorf("got %+v", whole.ChatCompletion)
	}
	if !strings.Contains(thoughts, "Reading") {
		t.Errorf("thoughts = %s, want %q in it", thoughts, "Reading")
	}
}

func TestOpenAIClientReadsErrorsAndModels(t *testing.T) {
	b := newHarness(t)
	client := b.sdk()
	list, err := client.Models.List(t.Context())
	if err != nil || len(list.Data) != 1 || list.Data[0].ID != relay.ModelName {
		t.Fatalf("models: %+v, %v; want 1 and Data[0].ID %v", list, err, relay.ModelName)
	}
	if model, err := client.Models.Get(t.Context(), relay.ModelName); err != nil || model.ID != relay.ModelName {
		t.Errorf("model: %+v, %v; want ID %v", model, err, relay.ModelName)
	}
	params := completion("Why?")
	params.Model = "gpt-4o"
	_, err = client.Chat.Completions.New(t.Context(), params)
	failed, ok := errors.AsType[*openai.Error](err)
	if !ok || failed.StatusCode != http.StatusNotFound || failed.Type != "invalid_request_error" ||
		failed.Code != "not_found" || !strings.Contains(failed.Message, "footnote") {
		t.Errorf("err = %v", err)
	}
}

// pieces parses a raw stream: its content, annotations, last frame, and error.
func pieces(t *testing.T, body string) (
	content []string, cites []relay.V1Annotation, failed *relay.V1Error, end string,
) {
	t.Helper()
	for frame := range strings.SplitSeq(body, "\n\n") {
		data, ok := strings.CutPrefix(frame, "data: ")
		if !ok {
			continue
		}
		if end = data; data == "[DONE]" {
			continue
		}
		var chunk struct {
			relay.V1Chunk
			Error *relay.V1Error `json:"error"`
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatalf("%v in %q, want no error", err, data)
		}
		if failed = chunk.Error; failed != nil {
			continue
		}
		for _, piece := range chunk.Choices {
			if piece.Delta.Content != nil && *piece.Delta.Content != "" {
				content = append(content, *piece.Delta.Content)
			}
			cites = append(cites, piece.Delta.Annotations...)
		}
	}
	return content, cites, failed, end
}

func TestChunksArriveDuringRun(t *testing.T) {
	b := newHarness(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	params := completion("Why?")
	client := b.sdk()
	b.stage.events = []chat.Payload{chat.Citation{Number: 1}, chat.AnswerDelta{Text: "Because [1]"}}
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	for stream.Next() {
		if len(stream.Current().Choices) > 0 && stream.Current().Choices[0].Delta.Content == "Because [1]" {
			return // the run has no end yet
		}
	}
	t.Fatalf("stream ended: %v", stream.Err())
}

func TestUnsupportedV1OptionsAreRejected(t *testing.T) {
	failed := []chat.Payload{
		chat.RunDone{
			Status: chat.RunFailed, Error: &chat.StepError{Code: chat.CodeModelFailed, Message: "The model is gone."},
		},
	}
	guarded := []chat.Payload{chat.RunDone{Status: chat.RunGuardrailTriggered}}
	const why = `{"model":"footnote","messages":[{"role":"user","content":"Why?"}]`
	for _, tt := range []struct {
		name, body string
		play       []chat.Payload
		status     int
		kind       string
		code       chat.Code
	}{
		{"no model", `{"messages":[{"role":"user","content":"Why?"}]}`, nil, 400, "invalid_request_error", "invalid"},
		{"another model", `{"model":"gpt-4o","messages":[{"role":"user","content":"Why?"}]}`, nil, 404,
			"invalid_request_error", "not_found"},
		{"no messages", `{"model":"footnote","messages":[]}`, nil, 400, "invalid_request_error", "invalid"},
		{"nothing but rules", `{"model":"footnote","messages":[{"role":"system","content":"Why?"}]}`, nil, 400,
			"invalid_request_error", "invalid"},
		{"an answer as the last message",
			`{"model":"footnote","messages":[{"role":"user","content":"Why?"},{"role":"assistant","content":"So"}]}`,
			nil, 400, "invalid_request_error", "invalid"},
		{"an empty question", `{"model":"footnote","messages":[{"role":"user","content":" "}]}`, nil, 400,
			"invalid_request_error", "invalid"},
		{"a picture", `{"model":"footnote","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, nil, 400,
			"invalid_request_error", "invalid"},
		{"a role that is none", `{"model":"footnote","messages":[{"role":"boss","content":"Why?"}]}`, nil, 400,
			"invalid_request_error", "invalid"},
		{"content of another type", `{"model":"footnote","messages":[{"role":"user","content":5}]}`, nil, 400,
			"invalid_request_error", "invalid"},
		{"messages of another type", `{"model":"footnote","messages":"Why?"}`, nil, 400, "invalid_request_error",
			"invalid"},
		{"two answers", why + `,"n":2}`, nil, 400, "invalid_request_error", "invalid"},
		{"a temperature over 2", why + `,"temperature":3}`, nil, 400, "invalid_request_error", "invalid"},
		{"JSON as the form of the answer", why + `,"response_format":{"type":"json_object"}}`, nil, 400,
			"invalid_request_error", "invalid"},
		{"a session that can't be", why + `,"session_id":"a/b"}`, nil, 400, "invalid_request_error", "invalid"},
		{"a negative max_tokens", why + `,"max_tokens":-1}`, nil, 400, "invalid_request_error", "invalid"},
		{"no max_completion_tokens", why + `,"max_completion_tokens":0}`, nil, 400, "invalid_request_error", "invalid"},
		{"tools, which it need not call", why + `,"tools":[{"type":"function",` +
			`"function":{"name":"f"}}]}`, script(), 200,
			"", ""},
		{"a tool that must be called", why + `,"tool_choice":"required"}`, nil, 400, "invalid_request_error",
			"invalid"},
		{"a question that was not answered, as clients keep it after a failure",
			`{"model":"footnote","messages":[{"role":"user","content":"a"},{"role":"user",` +
				`"content":"Why?"}]}`, script(),
			200, "", ""},
		{"an answer in two messages",
			`{"model":"footnote","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},` +
				`{"role":"system","content":"c"},{"role":"assistant","content":"d"},{"role":"user","content":"Why?"}]}`,
			script(), 200, "", ""},
		{"instructions without an end",
			`{"model":"footnote","messages":[{"role":"system","content":"` + strings.Repeat("x", 8001) +
				`"},{"role":"user","content":"Why?"}]}`, nil, 400, "invalid_request_error", "invalid"},
		{"answers around the result of a tool",
			`{"model":"footnote","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},` +
				`{"role":"tool","content":"c"},{"role":"assistant","content":"d"},{"role":"user","content":"Why?"}]}`,
			script(), 200, "", ""},
		{"half a body", `{"model":`, nil, 400, "invalid_request_error", "invalid"},
		{"a model that failed", why + `}`, failed, 500, "server_error", "model_failed"},
		{"a guardrail", why + `}`, guarded, 422, "invalid_request_error", "guardrail"},
		{"fields that are not known here are let in",
			why + `,"max_tokens":5,"tools":[],"tool_choice":"auto","whatever":{"a":1}}`, script(), 200, "", ""},
		{"parts of text", `{"model":"footnote","messages":[{"role":"user","content":[{"type":"text","text":"Why?"}]}]}`,
			script(), 200, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newHarness(t)
			b.stage.events = tt.play
			got := b.send("POST", "/v1/chat/completions", tt.body)
			var body relay.V1Failed
			got.decode(t, &body)
			if got.status != tt.status || body.Error.Type != tt.kind || body.Error.Code != tt.code ||
				(body.Error.Message == "") != (tt.status == 200) {
				t.Errorf("got %d %s, want %d", got.status, got.body, tt.status)
			}
			if strings.Contains(body.Error.Message, "config.") { // a field of other routes
				t.Errorf("error names an absent field: %s, want no %q in it", body.Error.Message, "config.")
			}
			if tt.status < 500 && tt.play == nil {
				if sessions, _, err := b.store.Sessions(t.Context(), chat.Local, chat.SessionQuery{}); err != nil ||
					len(sessions) != 0 {
					t.Errorf("stored %v, %v; want no sessions", sessions, err)
				}
			}
			if tt.play != nil && tt.status >= 400 { // the same failure in a stream
				got := b.send("POST", "/v1/chat/completions", why+`,"stream":true}`)
				_, _, streamed, _ := pieces(t, got.body)
				if streamed == nil || streamed.Code != tt.code || streamed.Type != tt.kind {
					t.Errorf("streamed: %s", got.body)
				}
			}
		})
	}
	b := newHarness(t)
	for path, want := range map[string]int{"/v1/nothing": 404, "/v1/models/gpt-4o": 404, "/v1/chat/completions": 405} {
		got := b.send("GET", path, "", "Accept", "text/html")
		var body relay.V1Failed
		got.decode(t, &body)
		if got.status != want || body.Error.Message == "" {
			t.Errorf("%s: %d %s, want %d", path, got.status, got.body, want)
		}
	}
}

func TestClientSessionContinues(t *testing.T) {
	b := newHarness(t)
	b.stage.events = script()
	for range 2 {
		got := b.send("POST", "/v1/chat/completions",
			`{"model":"footnote","session_id":"s1","messages":[{"role":"user","content":"a"},{"role":"assistant",`+
				`"content":"b"},{"role":"user","content":"c"}]}`)
		if got.status != 200 {
			t.Fatal(got.body)
		}
	}
	runs, err := b.store.Runs(t.Context(), chat.Local, "s1")
	if err != nil || len(runs) != 2 || runs[1].ParentID != runs[0].ID || runs[1].Request.History != nil {
		t.Errorf("runs = %+v, %v; want 2 runs and %v", runs, err, runs[0].ID)
	}
}

// The bodies in testdata/clients have the forms of real clients: Open WebUI 0.12 after its middleware, LibreChat's
// agents 3.2 through LangChain, and every field of OpenAI's API with a neutral value.
func TestRealClientBodiesAreAnswered(t *testing.T) {
	files, err := filepath.Glob("testdata/clients/*.json")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d bodies, %v; want 15 or more", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			b := newHarness(t)
			b.stage.events = script()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var sent relay.V1Question
			if err := json.Unmarshal(raw, &sent); err != nil {
				t.Fatal(err)
			}
			for _, accept := range []string{"application/json", "*/*"} { // LangChain's, and aiohttp's of Open WebUI
				got := b.send(
					"POST",
					"/v1/chat/completions",
					string(raw),
					"Accept",
					accept,
					"Authorization",
					"Bearer any",
				)
				if got.status != 200 {
					t.Fatalf("%d %s, want 200", got.status, got.body)
				}
				if !sent.Stream {
					var answer relay.V1Completion
					if got.decode(t, &answer); answer.Choices[0].Message.Content != "It is sound [1]." {
						t.Errorf("got %s", got.body)
					}
					continue
				}
				content, cites, failed, end := pieces(t, got.body)
				if strings.Join(content, "") != "It is sound [1]." || len(cites) != 1 || failed != nil ||
					end != "[DONE]" {
					t.Errorf("got content %q, %d citations, error %v, end %q", content, len(cites), failed, end)
				}
				usage := sent.StreamOptions != nil && sent.StreamOptions.IncludeUsage
				if strings.Contains(got.body, `"usage":{`) != usage {
					t.Errorf("usage is wanted: %v; got %s", usage, got.body)
				}
			}
			sessions, _, err := b.store.Sessions(t.Context(), chat.Local, chat.SessionQuery{})
			if err != nil || len(sessions) != 2 {
				t.Fatalf("%d sessions, %v; want 2", len(sessions), err)
			}
			run, err := b.store.Run(t.Context(), chat.Local, sessions[0].HeadID)
			if last := sent.Messages[len(sent.Messages)-1].Content.Text(); err != nil || run.Request.Message != last {
				t.Errorf("asked %q, %v; want %q", run.Request.Message, err, last)
			}
			if !strings.Contains(file, "earlier-picture") {
				return
			}
			want := [][2]string{
				{
					"What is this?\n\n(This question had a part that is not text and can't be read.)",
					"That can't be read here.",
				},
			}
			if diff := cmp.Diff(want, run.Request.History); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// If ignoring a field would change the meaning of the answer, the error names the field.
func TestUnsupportedFieldsAreRejectedByName(t *testing.T) {
	b := newHarness(t)
	b.stage.events = script()
	part := func(p string) string {
		return `{"model":"footnote","messages":[{"role":"user","content":[{"type":"text","text":"Why?"},` + p + `]}]}`
	}
	const why = `{"model":"footnote","messages":[{"role":"user","content":"Why?"}],`
	for body, named := range map[string]string{
		why + `"n":2}`: "n must be 1",
		why + `"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required"}`:        "tool_choice",
		why + `"tool_choice":{"type":"function","function":{"name":"f"}}}`:                             "tool_choice",
		why + `"tool_choice":{"type":"custom","custom":{"name":"f"}}}`:                                 "tool_choice",
		why + `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[]}}}`: "tool_choice",
		why + `"tool_choice":"any"}`:                      "tool_choice",
		why + `"tool_choice":5}`:                          "tool_choice",
		why + `"tool_choice":[]}`:                         "tool_choice",
		why + `"function_call":{"name":"f"}}`:             "function_call",
		why + `"response_format":{"type":"json_object"}}`: "response_format",
		why + `"response_format":{"type":"json_schema","json_schema":{"name":"extract",` +
			`"schema":{}}}}`: "response_format",
		why + `"logprobs":true}`:  "logprobs",
		why + `"top_logprobs":3}`: "logprobs",
		why + `"modalities":["text","audio"],"audio":{"voice":"alloy","format":"mp3"}}`: "modalities",
		why + `"max_tokens":0}`:            "max_tokens",
		why + `"max_completion_tokens":0}`: "max_completion_tokens",
		part(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"auto"}}`):      "not text",
		part(`{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}`):                        "not text",
		part(`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA=="}}`): "not text",
	} {
		for _, body := range []string{body, strings.Replace(body, `{`, `{"stream":true,`, 1)} {
			got := b.send("POST", "/v1/chat/completions", body)
			var failed relay.V1Failed
			if got.decode(t, &failed); got.status != 400 || !strings.Contains(failed.Error.Message, named) {
				t.Errorf("%s: %d %s, want 400 and %s", body, got.status, got.body, named)
			}
		}
	}
	for _, same := range []string{
		`"tool_choice":null`, `"tool_choice":""`, `"tool_choice":"none"`, `"function_call":"none"`, `"logprobs":null`,
		`"top_logprobs":0`, `"modalities":[]`, `"modalities":null`, `"response_format":null`, `"n":null`,
		`"user":{"id":1}`,
	} {
		if got := b.send("POST", "/v1/chat/completions", why+same+`}`); got.status != 200 {
			t.Errorf("%s: %d %s, want 200", same, got.status, got.body)
		}
	}
}

// The official client's own type lists the fields: each is described, and fields without effect state it.
func TestEveryOpenAIClientFieldIsDocumented(t *testing.T) {
	var described jsonschema.Schema
	if err := json.Unmarshal(newHarness(t).description().Components.Schemas["V1Question"], &described); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile("testdata/clients/openai-every-field.json")
	if err != nil {
		t.Fatal(err)
	}
	var tried map[string]any
	if err := json.Unmarshal(whole, &tried); err != nil {
		t.Fatal(err)
	}
	ours := reflect.TypeFor[relay.V1Question]()
	unused := map[string]bool{}
	for i := range ours.NumField() {
		name, _, _ := strings.Cut(ours.Field(i).Tag.Get("json"), ",")
		unused[name] = ours.Field(i).Type.Kind() == reflect.Interface
	}
	official, fields := reflect.TypeFor[openai.ChatCompletionNewParams](), 0
	for i := range official.NumField() {
		name, _, _ := strings.Cut(official.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		fields++
		p := described.Properties[name]
		if p == nil || p.Description == "" {
			t.Errorf("OpenAI's field %s is not documented", name)
			continue
		}
		if said := strings.HasPrefix(p.Description, "No effect: "); unused[name] && !said {
			t.Errorf("field %s has no effect, but is documented as %q", name, p.Description)
		}
		if _, ok := tried[name]; !ok && name != "max_tokens" { // replaced by max_completion_tokens
			t.Errorf("%s is not in any body of the test", name)
		}
	}
	if fields < 30 {
		t.Errorf("%d fields, want 30 or more", fields)
	}
}

func TestClientsFindModel(t *testing.T) {
	b := newHarness(t)
	for path, headers := range map[string][]string{
		// Open WebUI, if configured to send its user
		"/v1/models": {"Content-Type", "application/json", "Authorization", "Bearer", "X-OpenWebUI-User-Id", "1"},
		// LibreChat with userIdQuery
		"/v1/models?user=65f0c0ffee0ddba11caf0000": {"Authorization", "Bearer any", "Accept", "application/json, " +
			"text/plain, */*"},
	} {
		got := b.send("GET", path, "", headers...)
		var list relay.V1ModelList
		if got.decode(t, &list); got.status != 200 || len(list.Data) != 1 || list.Data[0].ID != relay.ModelName {
			t.Errorf("%s: %d %s, want the model %s", path, got.status, got.body, relay.ModelName)
		}
	}
}
