package openai

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestEmbed(t *testing.T) {
	m, _ := serve(t, Config{EmbeddingModel: "e"}, scripted.Reply{})
	texts := make([]string, 2*maxBatch+3)
	for i := range texts {
		texts[i] = fmt.Sprintf("roof number %d", i)
	}
	texts[5] = "" // must not fail
	got, err := m.Embed(t.Context(), texts)
	if err != nil || len(got) != len(texts) {
		t.Fatalf("%d vectors, %v; want %d", len(got), err, len(texts))
	}
	for i, v := range got {
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("vector %d has the length %v", i, math.Sqrt(sum))
		}
	}
	want := scripted.Vector(texts[70])
	for i := range want {
		if math.Abs(float64(got[70][i]-want[i])) > 1e-6 {
			t.Fatal("the vectors are out of order")
		}
	}
}

func TestEmbeddingAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		want         string // of two vectors; empty: refused
	}{
		{"floats in another order", `{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}`,
			"[[0.6 0.8] [0 1]]"},
		{"base64", `{"data":[{"index":0,"embedding":"AAAAAAAAgD8="},{"index":1,"embedding":"AACAPwAAAAA="}]}`,
			"[[0 1] [1 0]]"},
		{"no indexes", `{"data":[{"embedding":[1,0]},{"embedding":[0,1]}]}`, "[[1 0] [0 1]]"},
		{"too few", `{"data":[{"index":0,"embedding":[1,0]}]}`, ""},
		{"one index twice", `{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[1,0]}]}`, ""},
		{"different dimensions", `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1,0,0]}]}`, ""},
		{"no length", `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0,0]}]}`, ""},
		{"empty vectors", `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, ""},
		{"broken base64", `{"data":[{"index":0,"embedding":"AAA="},{"index":1,"embedding":"AAA="}]}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, tt.answer)
			}))
			t.Cleanup(web.Close)
			m := newTestModel(t, Config{BaseURL: web.URL, EmbeddingModel: "e"})
			got, err := m.Embed(t.Context(), []string{"a", "b"})
			switch {
			case tt.want == "" && llm.KindOf(err) != llm.KindProtocol:
				t.Errorf("got %v, %v, want a protocol error", got, err)
			case tt.want != "" && fmt.Sprint(got) != tt.want:
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestProbe(t *testing.T) {
	m, _ := serve(t, Config{EmbeddingModel: "e"}, scripted.Reply{
		Calls: []llm.Call{{Name: "search_documents", Arguments: []byte(`{"query":"roof"}`)}},
	})
	h := m.Probe(t.Context())
	if !h.Reachable || !h.KeyRight || !h.ModelHere || !h.Answers || !h.Tools || !h.Usage || !h.Embeds || h.Err != nil ||
		strings.Join(h.Models, " ") != "scripted" {
		t.Errorf("a good server: %+v; want Reachable true, KeyRight true, ModelHere true, Answers true, Tools true, "+
			"Usage true, Embeds true",
			h)
	}
	m, _ = serve(t, Config{APIKey: "bad"}, scripted.Reply{Fault: scripted.Fault{Status: 401}})
	if h := m.Probe(t.Context()); !h.Reachable || h.KeyRight || h.ModelHere || h.Err == nil {
		t.Errorf("a refused key: %+v; want Reachable true, KeyRight false, ModelHere false", h)
	}
	if h := newTestModel(t, Config{}).Probe(t.Context()); h.Reachable || h.Err == nil {
		t.Errorf("no server: %+v, want Reachable false", h)
	}
}
