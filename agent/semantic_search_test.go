package agent

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"footnote/chat"
	"footnote/corpus/embed/embedtest"
	"footnote/llm/offline"
	"footnote/llm/scripted"
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

func TestSemanticSearchFallsBackToWordsWhileItDoesNotAnswer(t *testing.T) {
	t.Parallel()
	server := &embeddingServer{}
	h := &house{tb: t, path: filepath.Join(t.TempDir(), "footnote.db"), semantic: true, embeds: server}
	h.furnish()
	req := question("What is the condition of the roof?")
	req.Config.EnabledTools = []string{"semantic_search", "retrieve_documentation", "read_document"}
	find := call("semantic_search", `{"query":"roof condition"}`)
	server.down.Store(true)
	for _, c := range []struct{ name, args string }{
		{"semantic_search", `{"query":"roof condition"}`},
		{"retrieve_documentation", `{"query":"roof condition","similarity_threshold":0.5}`},
	} {
		s := h.used(req, call(c.name, c.args))[0]
		if s.Status != chat.StatusComplete || !strings.Contains(string(s.ToolOutput), "did not answer: these passages are found by words") ||
			!strings.Contains(string(s.ToolOutput), "poor condition") {
			t.Errorf("%s while the server is down: %s, %s", c.name, s.Status, s.ToolOutput)
		}
	}
	h.hire(offline.New())
	req.Config.EnabledTools = []string{"semantic_search", "read_document"}
	if got := h.answer(req).answer(); !strings.Contains(got.Markdown, "poor condition") {
		t.Errorf("the offline answer while the server is down: %s", got.Markdown)
	}
	h.hire(scripted.New(calls(find), says(Refusal), calls(find), says(Refusal)), func(c *Config) {
		c.Thinking = Thinking{Selection: SelectModel, Without: []string{featureRefine}}
	})
	if s := h.answer(req).step("semantic_search"); !strings.Contains(string(s.ToolOutput), "found by words") {
		t.Errorf("while it is down: %s", s.ToolOutput)
	}
	server.down.Store(false)
	if s := h.answer(req).step("semantic_search"); s.Cached || strings.Contains(string(s.ToolOutput), "found by words") {
		t.Errorf("once it is up again: cached %v, %s", s.Cached, s.ToolOutput)
	}
}
