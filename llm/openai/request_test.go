package openai

import (
	"net/http/httptest"
	"sync"
	"testing"

	"footnote/e2e/scripted"
	"footnote/llm"
)

// The first questions after a start often come together: each has to find out by itself what the server refuses.
func TestRequestsThatAreRefusedAtOnceAreAllSentAgain(t *testing.T) {
	t.Parallel()
	const n = 4
	for _, field := range []string{"temperature", "seed", "stream_options", "max_tokens"} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewServer(scripted.RefuseTogether(scripted.NewServer(scripted.Config{}), n, field,
				`{"error":{"message":"Unsupported parameter: '`+field+`'"}}`))
			t.Cleanup(web.Close)
			m := newTestModel(t, Config{BaseURL: web.URL})
			req := llm.Request{Messages: hello.Messages, Temperature: new(0.5), Seed: new(int64(7)), MaxTokens: 10}
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
