package doctor

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/agent/llm/nearby"
	"github.com/footnote/footnote/cmd/footnote/settings"
)

// answerWith serves a handler at a path, and 404 elsewhere. It returns the port.
func answerWith(t *testing.T, path string, answer http.HandlerFunc) int {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path, answer)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return portOf(t, server.URL)
}

func portOf(t *testing.T, address string) int {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

func TestLocalModelServersAreFound(t *testing.T) {
	for _, tt := range []struct {
		name, path, body string
		want             []string // in the single line; nil: no line
	}{
		{"one model", "/v1/models", `{"object":"list","data":[{"id":"qwen3:8b","object":"model",` +
			`"owned_by":"library"}]}`,
			[]string{"OPENAI_BASE_URL=http://localhost:PORT/v1 OPENAI_MODEL=qwen3:8b connects it"}},
		{"many models", "/v1/models", `{"object":"list","data":[{"id":"a/b-1.5"},{"id":"c"},{"id":"d"},{"id":"e"},` +
			`{"id":"f"},{"id":"g"}]}`,
			[]string{"OPENAI_BASE_URL=http://localhost:PORT/v1 OPENAI_MODEL=NAME", "a/b-1.5, c, d, e, f …"}},
		{"an Ollama that knows only its own routes", "/api/tags", `{"models":[{"name":"llama3:latest"}]}`,
			[]string{"OPENAI_MODEL=llama3:latest"}},
		{"no model yet", "/api/tags", `{"models":[]}`, []string{"once it has a model"}},

		{"a page", "/v1/models", `<!doctype html><title>Jupyter</title>`, nil},
		{"JSON of something else", "/v1/models", `{"data":[{"id":"1","type":"cars"}]}`, nil},
		{"a list of something else", "/v1/models", `{"object":"list","data":[{"name":"x"}]}`, nil},
		{"a list of strings", "/v1/models", `{"object":"list","data":["x"]}`, nil},
		{"a name that a shell would run", "/v1/models", `{"object":"list","data":[{"id":"x;reboot"}]}`, nil},
		{"a name with control characters", "/v1/models", `{"object":"list","data":[{"id":"x\u001b[2J"}]}`, nil},
		{"nothing", "/v1/models", ``, nil},
		{"null", "/v1/models", `null`, nil},
		{"more than a list of models takes", "/v1/models",
			`{"x":"` + strings.Repeat("x", 1<<20) + `","object":"list","data":[{"id":"a"}]}`, nil},
		{"a Footnote", "/v1/models", `{"object":"list","data":[{"id":"footnote","owned_by":"footnote"}]}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			port := answerWith(t, tt.path, says(tt.body))
			ports := []nearby.Port{{Number: port, Program: "Ollama"}}
			found := findLocalModels(t.Context(), &settings.Settings{}, ports)
			if len(found) != min(len(tt.want), 1) {
				t.Fatalf("found %+v, want %d servers", found, min(len(tt.want), 1))
			}
			for _, want := range tt.want {
				want = strings.ReplaceAll(want, "PORT", strconv.Itoa(port))
				if !strings.Contains(found[0].Fine, want) || found[0].Err != nil {
					t.Errorf("%+v, want %s in it", found[0], want)
				}
			}
		})
	}
}

// The server that answers is found among silent, endless and redirecting ones. No other host gets a request.
func TestModelServerDiscoveryIsBoundedAndLocal(t *testing.T) {
	const list = `{"object":"list","data":[{"id":"a"}]}`
	var elsewhere atomic.Int32
	other := answerWith(t, "/v1/models", func(w http.ResponseWriter, _ *http.Request) {
		elsewhere.Add(1)
		fmt.Fprint(w, list)
	})
	leads := answerWith(t, "/v1/models", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, fmt.Sprintf("http://127.0.0.1:%d/v1/models", other), http.StatusFound)
	})
	endless := answerWith(t, "/v1/models", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte(" "), 64<<10)); err != nil {
				return
			}
		}
	})
	silent, err := net.Listen("tcp", "127.0.0.1:0") // its connections get no response until it is closed
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	alone := []nearby.Port{{Number: portOf(t, "http://"+silent.Addr().String()), Program: "c"}}
	t.Setenv("HTTP_PROXY", fmt.Sprintf("http://127.0.0.1:%d", other))
	over, end := context.WithCancel(t.Context())
	end()
	if found := findLocalModels(over, &settings.Settings{}, alone); len(found) > 0 {
		t.Errorf("after its time: found %+v, want nothing", found)
	}
	good := answerWith(t, "/v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, list)
		_ = silent.Close() // a second close is harmless
	})
	found := findLocalModels(t.Context(), &settings.Settings{}, append(alone, []nearby.Port{
		{Number: leads}, {Number: endless}, {Number: good},
	}...))
	if len(found) != 1 || !strings.Contains(found[0].Fine, fmt.Sprintf("localhost:%d/v1", good)) {
		t.Errorf("found %+v, want the server at %d alone", found, good)
	}
	if n := elsewhere.Load(); n > 0 {
		t.Errorf("%d requests went where an answer led to, want none", n)
	}
	res, err := nearby.LoopbackClient().Get(fmt.Sprintf("http://models.example:%d/v1/models", good))
	if err != nil {
		t.Fatalf("another name is another machine: %v", err)
	}
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
}

func TestConfiguredServerIsNotSuggested(t *testing.T) {
	port := answerWith(t, "/v1/models", says(`{"object":"list","data":[{"id":"a"}]}`))
	for base, offered := range map[string]bool{
		"": true, "http://localhost:1/v1": true, fmt.Sprintf("http://example.org:%d/v1", port): true,
		fmt.Sprintf("http://localhost:%d/v1", port): false, fmt.Sprintf("http://127.0.0.1:%d/v1", port): false,
		fmt.Sprintf("http://[::1]:%d/v1", port): false,
	} {
		found := findLocalModels(t.Context(), &settings.Settings{OpenAIBaseURL: base}, []nearby.Port{{Number: port}})
		if (len(found) == 1) != offered {
			t.Errorf("%q: found %+v, want it offered: %v", base, found, offered)
		}
	}
	found := findLocalModels(
		t.Context(), &settings.Settings{Model: "offline"}, []nearby.Port{{Number: port, Program: "vLLM"}},
	)
	if len(found) != 1 || !strings.Contains(found[0].Fine, "leave FOOTNOTE_MODEL out") {
		t.Errorf("with FOOTNOTE_MODEL=offline: %+v, want a hint that it takes precedence", found)
	}
}
