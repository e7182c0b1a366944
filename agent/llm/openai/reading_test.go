package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
)

// llama.cpp's server is asked how much it has read, once it has shown what it is; others might refuse the question.
func TestHowMuchIsReadIsTold(t *testing.T) {
	t.Parallel()
	const reply = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null}}],` +
		`"prompt_progress":{"total":200,"cache":0,"processed":122,"time_ms":900}}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	for name, asks := range map[string]bool{"llama.cpp": true, "nginx": false} {
		var mu sync.Mutex
		var asked []bool
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, strings.Contains(string(body), `"return_progress":true`))
			w.Header().Set("Server", name)
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, reply)
		}))
		defer web.Close()
		m := newTestModel(t, Config{BaseURL: web.URL})
		var read []llm.Reading
		for range 2 {
			for part, err := range m.Stream(t.Context(), hello) {
				if err != nil {
					t.Fatal(err)
				}
				if p, ok := part.(llm.Reading); ok {
					read = append(read, p)
				}
			}
		}
		if diff := cmp.Diff([]bool{false, asks}, asked); diff != "" || len(read) != 2 || read[0] != 0.61 {
			t.Errorf("%s: read %v, want 0.61 twice; asked for it (-want +got):\n%s", name, read, diff)
		}
	}
}
