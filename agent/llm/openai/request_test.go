package openai

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// refusingFields is a server that refuses requests which name a field, the first of the fields first; see
// scripted.RefuseTogether for n.
func refusingFields(n int, fields ...string) http.Handler {
	var server http.Handler = scripted.NewServer(scripted.Config{})
	for _, field := range slices.Backward(fields) {
		server = scripted.RefuseTogether(server, n, field,
			`{"error":{"message":"Unsupported parameter: '`+field+`'"}}`)
	}
	return server
}

// The first questions after a start often come together: each has to find out by itself what the server refuses.
func TestRequestsThatAreRefusedAtOnceAreAllSentAgain(t *testing.T) {
	t.Parallel()
	const n = 4
	for _, field := range []string{"temperature", "seed", "stream_options", "max_tokens", "top_logprobs"} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewServer(refusingFields(n, field))
			t.Cleanup(web.Close)
			m := newTestModel(t, Config{BaseURL: web.URL})
			req := llm.Request{
				Messages: hello.Messages, Temperature: new(0.5), Seed: new(int64(7)), MaxTokens: 10, TopLogprobs: 5,
			}
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() {
					if got, err := ask(t, m, req); err != nil || got.Text == "" {
						t.Errorf("a request that was refused beside others = %+v, %v; want a reply", got, err)
					}
				})
			}
			wg.Wait()
		})
	}
}
