package httprerank

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/corpustest"
)

// serve answers each request by a function.
func serve(t *testing.T, answer func(request) (status int, body string)) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req request
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil ||
			r.Header.Get("Authorization") != "Bearer secret" ||
			req.Model != "small" || req.TopN != len(req.Documents) {
			t.Errorf("got request %+v, %v, Authorization %q", req, err, r.Header.Get("Authorization"))
		}
		status, body := answer(req)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	c, err := New(Config{URL: server.URL + "/v1/rerank", Model: "small", Key: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// logits responds in llama.cpp's format, best first, with a logit that grows with the passage's length.
func logits(req request) (int, string) {
	var results []string
	for i, d := range req.Documents {
		results = append(results, fmt.Sprintf(`{"index":%d,"relevance_score":%d}`, i, len(d)-10))
	}
	return http.StatusOK, `{"model":"m","object":"list","results":[` + strings.Join(results, ",") + `]}`
}

func TestRerankerContract(t *testing.T) {
	t.Parallel()
	corpustest.TestReranker(t, serve(t, logits))
}

func TestRerankResponses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		status     int
		want       string // the scores, or a part of the error
	}{
		{"shares, in another order",
			`{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.2}]}`,
			200, "[0.2 0.9]"},
		{"with the documents", `{"id":"x","results":[{"index":0,"relevance_score":1,"document":{"text":"a"}},` +
			`{"index":1,"relevance_score":0}],"meta":{}}`, 200, "[1 0]"},
		{"one is missing", `{"results":[{"index":0,"relevance_score":1}]}`, 200, "1 of 2 passages"},
		{"one twice", `{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}`, 200,
			"an unknown passage"},
		{"one too many", `{"results":[{"index":2,"relevance_score":1},{"index":0,"relevance_score":1}]}`, 200,
			"an unknown passage"},
		{"no score", `{"results":[{"index":0},{"index":1}]}`, 200, "an unknown passage"},
		{"no JSON", `oops`, 200, "the reranker's response"},
		{"a refusal that repeats the key", `the key secret is wrong`, 401,
			"returned status 401: the key [key] is wrong"},
	} {
		c := serve(t, func(request) (int, string) { return tt.status, tt.body })
		got, err := c.Scores(t.Context(), "q", []string{"a", "b"})
		if said := fmt.Sprint(got); err != nil && !strings.Contains(err.Error(), tt.want) ||
			err == nil && said != tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.name, got, err, tt.want)
		}
	}
}

func TestRerankerRejectsInvalidAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "localhost:8012", "ftp://x/rerank", "http://", "http://me:pass@x/rerank"} {
		if _, err := New(Config{URL: address}); err == nil {
			t.Errorf("New(%q): got no error, want one", address)
		}
	}
}
