package main_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

// An embedding model that the server does not know is said, though the server answers all else.
func TestAnUnknownEmbeddingModelIsSaid(t *testing.T) {
	t.Parallel()
	inner := scripted.NewServer(scripted.Config{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/embeddings") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":{"message":"model \"nosuch\" not found","type":"not_found_error"}}`))
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	env := []string{
		"OPENAI_BASE_URL=" + web.URL + "/v1", "OPENAI_API_KEY=test-key", "OPENAI_MODEL=scripted",
		"OPENAI_EMBEDDING_MODEL=nosuch",
	}
	if got := command(t, "", env, "doctor", "--data="+newDir(t)); got.code != 1 ||
		!strings.Contains(got.stdout, "✕ semantic search") || !strings.Contains(got.stdout, "OPENAI_EMBEDDING_MODEL") {
		t.Errorf("doctor: %d\n%s", got.code, got.stdout)
	}
	anthropic := append(env, "FOOTNOTE_MODEL=anthropic", "ANTHROPIC_API_KEY=test-key", "ANTHROPIC_BASE_URL="+web.URL)
	if got := command(t, "", anthropic, "doctor", "--data="+newDir(t)); !strings.Contains(got.stdout,
		"✕ semantic search") {
		t.Errorf("doctor beside Anthropic's model: %d\n%s", got.code, got.stdout)
	}
	s := serve(t, newDir(t), env...)
	body := s.send("GET", "/health", nil).body
	health := loose[struct {
		Status string `json:"status"`
		Checks map[string]struct{ Status, Detail string }
	}](t, body)
	if health.Status != "degraded" || health.Checks["model"].Status != "ok" ||
		health.Checks["embeddings"].Status == "ok" ||
		!strings.Contains(health.Checks["embeddings"].Detail, "footnote doctor") || strings.Contains(body, "OPENAI_") {
		t.Errorf("got health %s, want degraded by the embeddings, the doctor named and no setting", body)
	}
	if got := command(t, "", []string{"FOOTNOTE_MODELS_SELECT=foo"}, "doctor", "--data="+newDir(t)); got.code != 0 ||
		!strings.Contains(got.stdout, "FOOTNOTE_MODELS_SELECT has no effect") {
		t.Errorf("doctor without a model: %d\n%s", got.code, got.stdout)
	}
}

// The embedding model may be on a server of its own, whoever answers.
func TestVectorsMayComeFromAnotherServer(t *testing.T) {
	t.Parallel()
	vectors, chat := httptest.NewServer(scripted.NewServer(scripted.Config{})), deadServer(t)
	t.Cleanup(vectors.Close)
	for name, env := range map[string][]string{
		"offline":               nil,
		"beside another server": {"OPENAI_BASE_URL=" + chat + "/v1", "OPENAI_MODEL=scripted"},
	} {
		env = append(env, "OPENAI_EMBEDDING_BASE_URL="+vectors.URL+"/v1", "OPENAI_EMBEDDING_API_KEY=test-key",
			"OPENAI_EMBEDDING_MODEL=hash")
		if got := command(t, "", env, "doctor", "--data="+newDir(t)); !strings.Contains(
			got.stdout, "✓ semantic search hash works",
		) {
			t.Errorf("doctor %s: %d\n%s, want the embedding model to work", name, got.code, got.stdout)
		}
		s := serve(t, newDir(t), env...)
		s.add(file{"roof.md", "# Roof\n\nThe slates are sound.\n"})
		s.semantic()
		health := s.send("GET", "/health", nil).body
		if !strings.Contains(health, `"embeddings":{"status":"ok"`) {
			t.Errorf("%s: health is %s, want the embeddings ok", name, health)
		}
		if name == "offline" && strings.Contains(health, `"model"`) {
			t.Errorf("offline a model is asked: %s", health)
		}
	}
}

// deadServer is the address of a server that is gone.
func deadServer(t *testing.T) string {
	t.Helper()
	web := httptest.NewServer(http.NotFoundHandler())
	web.Close()
	return web.URL
}
