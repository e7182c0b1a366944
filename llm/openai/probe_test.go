package openai

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"footnote/e2e/scripted"
	"footnote/llm"
)

// Many servers answer questions and have no list of models, or one that nobody can read.
func TestAServerWithoutAListIsAskedForAReply(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusOK, http.StatusNotFound, http.StatusInternalServerError} {
		chats := scripted.NewServer(scripted.Config{Script: func(scripted.Request) scripted.Reply {
			return scripted.Reply{Calls: []llm.Call{{Name: "search_documents", Arguments: []byte(`{"query":"roof"}`)}}}
		}})
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/models") {
				chats.ServeHTTP(w, r)
				return
			}
			w.WriteHeader(status)
			fmt.Fprint(w, "<p>Nothing here.")
		}))
		defer web.Close()
		h := newTestModel(t, Config{BaseURL: web.URL}).Probe(t.Context())
		if !h.Reachable || !h.KeyRight || !h.Answers || !h.Tools || h.Err != nil || len(h.Models) != 0 {
			t.Errorf("the list has status %d: %+v; want a server that answers and calls tools", status, h)
		}
	}
}
