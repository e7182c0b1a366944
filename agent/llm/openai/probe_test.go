package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// Many servers answer questions without a list of models, or with an invalid one.
func TestServerWithoutModelListIsProbed(t *testing.T) {
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

// A list is read up to a limit, however much the server sends, and one with too many models is invalid.
func TestModelListsAreBounded(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]string{
		"empty models": "{},", "numbers": "1,", "one text": strings.Repeat("a", 1000),
	} {
		var sent atomic.Int64
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			some := []byte(strings.Repeat(unit, 64<<10/len(unit)))
			_, err := w.Write([]byte(`{"object":"list","data":[`))
			for err == nil && sent.Add(int64(len(some))) < 256<<20 {
				_, err = w.Write(some)
			}
		}))
		list, err := newTestModel(t, Config{BaseURL: web.URL}).listModels(t.Context())
		web.Close()
		if len(list) > 0 || err != nil || sent.Load() > 32<<20 { // what is on the way counts
			t.Errorf("%s: %d models, %v, of %d bytes; want none of a few MiB", name, len(list), err, sent.Load())
		}
	}
	many := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"data":[%s{"id":"m"}]}`, strings.Repeat(`{"id":"m"},`, maxModels))
	}))
	defer many.Close()
	if list, err := newTestModel(t, Config{BaseURL: many.URL}).listModels(t.Context()); len(list) > 0 || err != nil {
		t.Errorf("a list of too many has %d models, %v; want none", len(list), err)
	}
}

func TestExcessVectorsAreNotDecoded(t *testing.T) {
	t.Parallel()
	var answer embeddings
	err := json.Unmarshal([]byte(`{"data":[`+strings.Repeat("{},", maxBatch)+`{}]}`), &answer)
	if err == nil || len(answer.Data) > 0 {
		t.Errorf("%d vectors, %v; want an error", len(answer.Data), err)
	}
}
