package agent

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/e2e/scripted"
)

// embeddingServer makes vectors while it is up.
type embeddingServer struct {
	embedtest.Hashing
	down atomic.Bool
}

func (e *embeddingServer) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if e.down.Load() {
		return nil, errors.New("dial tcp 127.0.0.1:1: connection refused")
	}
	return e.Hashing.Embed(ctx, texts)
}

func (e *embeddingServer) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	vectors, err := e.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

func TestSemanticSearchFallsBackToWordsWhileItDoesNotAnswer(t *testing.T) {
	t.Parallel()
	server := &embeddingServer{}
	h := &house{tb: t, path: filepath.Join(t.TempDir(), "footnote.db"), semantic: true, embeds: server}
	h.furnish()
	req := asks("What is the condition of the roof?")
	req.Config.EnabledTools = []string{"semantic_search", "retrieve_documentation", "read_document"}
	find := call("semantic_search", `{"query":"roof condition"}`)
	server.down.Store(true)
	for _, c := range []struct{ name, args string }{
		{"semantic_search", `{"query":"roof condition"}`},
		{"retrieve_documentation", `{"query":"roof condition","similarity_threshold":0.5}`},
	} {
		s := h.used(req, call(c.name, c.args))[0]
		if s.Status != chat.StatusComplete ||
			!strings.Contains(string(s.ToolOutput), "did not answer: these passages are found by words") ||
			!strings.Contains(string(s.ToolOutput), "poor condition") {
			t.Errorf("%s while the server is down: %s, %s; want %s",
				c.name, s.Status, s.ToolOutput, chat.StatusComplete)
		}
	}
	h.hire(offline.New(nil))
	req.Config.EnabledTools = []string{"semantic_search", "read_document"}
	if got := h.answer(req).answer(); !strings.Contains(got.Markdown, "poor condition") {
		t.Errorf("the offline answer while the server is down: %s, want %q in it", got.Markdown, "poor condition")
	}
	h.hire(scripted.New(calls(find), says(ground.RefusalSentence), calls(find), says(ground.RefusalSentence)),
		func(c *Config) {
			c.Features = run.Features{Selection: tools.SelectModel, Without: []string{"refine"}}
		})
	if s := h.answer(req).step("semantic_search"); !strings.Contains(string(s.ToolOutput), "found by words") {
		t.Errorf("while it is down: %s", s.ToolOutput)
	}
	server.down.Store(false)
	if s := h.answer(req).step("semantic_search"); s.Cached ||
		strings.Contains(string(s.ToolOutput), "found by words") {
		t.Errorf("once it is up again: cached %v, %s", s.Cached, s.ToolOutput)
	}
}

func TestSimilarityIsTheSameFromEverySearch(t *testing.T) {
	t.Parallel()
	h := newSemanticHouse(t, scripted.New())
	similar := func(rerank bool, name, args string) map[string]float64 {
		req := asks("What is the condition of the roof?")
		req.Config.EnabledTools, req.Config.RerankResults = []string{
			"retrieve_documentation", "hybrid_search", "read_document",
		}, &rerank
		var out struct {
			Results []struct {
				ChunkID    string  `json:"chunk_id"`
				Similarity float64 `json:"similarity_score"`
			}
		}
		s := h.used(req, call(name, args))[0]
		if err := json.Unmarshal(s.ToolOutput, &out); err != nil {
			t.Fatal(err)
		}
		found := map[string]float64{}
		for _, r := range out.Results {
			found[r.ChunkID] = r.Similarity
		}
		return found
	}
	want := similar(false, "retrieve_documentation",
		`{"query":"roof condition, paid holiday","similarity_threshold":0.01}`)
	if len(want) < 2 {
		t.Fatalf("with a threshold: %v", want)
	}
	for name, got := range map[string]map[string]float64{
		"without a threshold": similar(false, "retrieve_documentation", `{"query":"roof condition, paid holiday"}`),
		"reranked":            similar(true, "retrieve_documentation", `{"query":"roof condition, paid holiday"}`),
		"by both ways":        similar(true, "hybrid_search", `{"query":"roof condition, paid holiday"}`),
	} {
		same := 0
		for id, s := range got {
			if w, ok := want[id]; ok {
				same++
				if math.Abs(s-w) > 1e-6 {
					t.Errorf("%s: %s has %v, want %v", name, id, s, w)
				}
			}
		}
		if same < 2 {
			t.Errorf("%s: %v, want those of %v", name, got, want)
		}
	}
}
