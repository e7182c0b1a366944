package nearby

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// serverAt serves responses by path, "POST /api/show" by the model in the body, and 404 elsewhere.
func serverAt(t *testing.T, answers map[string]string) Port {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.URL.Path
		if r.Method == http.MethodPost {
			var asked struct{ Model string }
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
				t.Error(err)
			}
			key += " " + asked.Model
		}
		body, ok := answers[key]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return Port{port, "a server"}
}

// The responses are those of Ollama 0.9, LM Studio 0.3, llama.cpp b5400 and vLLM 0.9.
func TestModelListResponses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers map[string]string
		want    []Model
	}{
		{"Ollama", map[string]string{
			"/api/tags": `{"models":[{"name":"qwen3:8b","size":5200000000,"details":{"parameter_size":"8.2B"}},
				{"name":"nomic-embed-text:latest","size":274000000,"details":{"parameter_size":"137M"}},
				{"name":"gemma3:4b","size":3300000000,"details":{"parameter_size":"4.3B"}},
				{"name":"old:1b","size":1,"details":{"parameter_size":"<b>"}}]}`,
			"/api/show qwen3:8b": `{"capabilities":["completion","tools"],` +
				`"model_info":{"qwen3.context_length":40960}}`,
			"/api/show nomic-embed-text:latest": `{"capabilities":["embedding"]}`,
			"/api/show gemma3:4b": `{"capabilities":["completion","vision"],` +
				`"model_info":{"gemma3.context_length":131072,"x":[1]}}`,
			"/v1/models": `{"object":"list","data":[{"id":"qwen3:8b"}]}`,
		}, []Model{
			{Name: "qwen3:8b", Bytes: 5_200_000_000, Size: "8.2B", Context: 40960, Tools: new(true)},
			{Name: "gemma3:4b", Bytes: 3_300_000_000, Size: "4.3B", Context: 131072, Tools: new(false)},
			{Name: "old:1b", Bytes: 1},
		}},
		{"LM Studio", map[string]string{
			"/api/v0/models": `{"object":"list","data":[
				{"id":"qwen/qwen3-4b","type":"llm","state":"loaded","max_context_length":32768,
				 "loaded_context_length":4096,"capabilities":["tool_use"]},
				{"id":"text-embedding-nomic","type":"embeddings","state":"not-loaded","max_context_length":2048},
				{"id":"gemma","type":"vlm","state":"not-loaded","max_context_length":8192}]}`,
			"/v1/models": `{"object":"list","data":[{"id":"qwen/qwen3-4b"},{"id":"text-embedding-nomic"}]}`,
			"/api/tags":  `{"error":"Unexpected endpoint or method."}`,
		}, []Model{
			{Name: "qwen/qwen3-4b", Context: 4096, Loaded: true, Tools: new(true)},
			{Name: "gemma", Context: 8192},
		}},
		{"llama.cpp", map[string]string{"/v1/models": `{"object":"list","data":[{"id":"q.gguf","owned_by":"llamacpp",
			"meta":{"n_ctx":8192,"n_ctx_train":32768,"n_params":1543714304,"size":1110000000}}]}`},
			[]Model{{Name: "q.gguf", Bytes: 1_110_000_000, Size: "1.5B", Context: 8192, Loaded: true}}},
		{"vLLM", map[string]string{"/v1/models": `{"object":"list","data":[{"id":"Qwen/Qwen3-8B","owned_by":"vllm",
			"max_model_len":32768}]}`}, []Model{{Name: "Qwen/Qwen3-8B", Context: 32768, Loaded: true}}},
		{"a number below nought", map[string]string{
			"/v1/models": `{"object":"list","data":[{"id":"a","max_model_len":-1}]}`}, []Model{{Name: "a"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			port := serverAt(t, tt.answers)
			if diff := cmp.Diff([]Server{{port, tt.want}}, Find(t.Context(), []Port{port})); diff != "" {
				t.Errorf("servers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBestModelSupportsTools(t *testing.T) {
	a, b := Port{Number: 1}, Port{Number: 2}
	at, best, ok := Best([]Server{
		{a, []Model{{Name: "large", Bytes: 9, Tools: new(false)}, {Name: "unknown", Bytes: 8, Loaded: true}}},
		{b, []Model{{Name: "small", Bytes: 1, Tools: new(true)}, {Name: "tools", Bytes: 2, Tools: new(true)}}},
	})
	if at != b || best.Name != "tools" || !ok {
		t.Errorf("the best is %s at %v (%v), want tools at %v", best.Name, at, ok, b)
	}
	if _, _, ok := Best([]Server{{Port: a}}); ok {
		t.Error("a server without models has a best one, want none")
	}
}
