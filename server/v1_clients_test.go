package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/openai/openai-go/v3"

	"github.com/footnote/footnote/chat"
	v1 "github.com/footnote/footnote/server/v1"
)

// The bodies in testdata/clients have the forms that clients send: Open WebUI 0.12 after its middleware, LibreChat's
// agents 3.2 through LangChain, and every field of OpenAI's API with a value that wishes for nothing special.
func TestBodiesOfRealClientsAreAnswered(t *testing.T) {
	files, err := filepath.Glob("testdata/clients/*.json")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d bodies, %v; want 15 or more", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			b := newBench(t)
			b.stage.play = script()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var sent v1.Question
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
					var answer v1.Completion
					if got.decode(t, &answer); answer.Choices[0].Message.Content != "It is sound [1]." {
						t.Errorf("got %s", got.body)
					}
					continue
				}
				content, cites, failed, end := pieces(t, got.body)
				if strings.Join(content, "") != "It is sound [1]." || len(cites) != 1 || failed != nil ||
					end != "[DONE]" {
					t.Errorf("content %q, %d citations, error %v, end %q", content, len(cites), failed, end)
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

// Where the answer would be another one than the client takes it for, the refusal names the field.
func TestWishesThatCannotBeMetAreRefusedByName(t *testing.T) {
	b := newBench(t)
	b.stage.play = script()
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
			var failed v1.Failed
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

// The official client's own type says which fields there are: each is described, and what has no effect says so.
func TestEveryFieldOfTheOfficialClientIsDescribed(t *testing.T) {
	var described jsonschema.Schema
	if err := json.Unmarshal(newBench(t).description().Components.Schemas["V1Question"], &described); err != nil {
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
	ours := reflect.TypeFor[v1.Question]()
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
			t.Errorf("OpenAI's field %s is not described", name)
			continue
		}
		if said := strings.HasPrefix(p.Description, "No effect: "); unused[name] && !said {
			t.Errorf("%s is taken and not looked at; it is described as %q", name, p.Description)
		}
		if _, ok := tried[name]; !ok && name != "max_tokens" { // which max_completion_tokens replaces
			t.Errorf("%s is in no body of the test", name)
		}
	}
	if fields < 30 {
		t.Errorf("%d fields, want 30 or more", fields)
	}
}

func TestClientsFindTheModel(t *testing.T) {
	b := newBench(t)
	for path, headers := range map[string][]string{
		// Open WebUI, which names its user if it is set so
		"/v1/models": {"Content-Type", "application/json", "Authorization", "Bearer", "X-OpenWebUI-User-Id", "1"},
		// LibreChat with userIdQuery
		"/v1/models?user=65f0c0ffee0ddba11caf0000": {"Authorization", "Bearer any", "Accept", "application/json, " +
			"text/plain, */*"},
	} {
		got := b.send("GET", path, "", headers...)
		var list v1.ModelList
		if got.decode(t, &list); got.status != 200 || len(list.Data) != 1 || list.Data[0].ID != v1.ModelName {
			t.Errorf("%s: %d %s, want the model %s", path, got.status, got.body, v1.ModelName)
		}
	}
}
