package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
)

// keyed is a server that answers requests for vectors and refuses the rest. keys gets the key of each.
func keyed(t *testing.T, keys chan string) string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(r.URL.Path, "/embeddings") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[1,0]}]}`)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

func TestVectorsHaveAServerAndAKeyOfTheirOwn(t *testing.T) {
	t.Parallel()
	chatKeys, vectorKeys := make(chan string, 9), make(chan string, 9)
	chat, vectors := keyed(t, chatKeys), keyed(t, vectorKeys)
	for name, tt := range map[string]struct {
		cfg  Config
		keys chan string // of the server that is asked
		want string
	}{
		"one server":           {Config{BaseURL: chat, APIKey: "a"}, chatKeys, "Bearer a"},
		"one server, two keys": {Config{BaseURL: chat, APIKey: "a", EmbeddingAPIKey: "b"}, chatKeys, "Bearer b"},
		"one host": {Config{BaseURL: chat + "/v1", APIKey: "a", EmbeddingBaseURL: chat + "/v2"}, chatKeys,
			"Bearer a"},
		"another server does not get the key": {Config{BaseURL: chat, APIKey: "a", EmbeddingBaseURL: vectors},
			vectorKeys, ""},
		"another server with its key": {Config{BaseURL: chat, APIKey: "a", EmbeddingBaseURL: vectors,
			EmbeddingAPIKey: "b"}, vectorKeys, "Bearer b"},
		"OpenAI's key goes nowhere else": {Config{APIKey: "a", EmbeddingBaseURL: vectors}, vectorKeys, ""},
		"no other server at all":         {Config{EmbeddingBaseURL: vectors}, vectorKeys, ""},
	} {
		tt.cfg.Model, tt.cfg.EmbeddingModel = "m", "e"
		m, err := New(tt.cfg)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := m.Embed(t.Context(), []string{"roof"}); err != nil {
			t.Errorf("%s: %v, want no error", name, err)
		} else if got := <-tt.keys; got != tt.want {
			t.Errorf("%s: the key %q, want %q", name, got, tt.want)
		}
		m.Close()
	}
	if len(chatKeys)+len(vectorKeys) > 0 {
		t.Errorf("%d further requests, want none", len(chatKeys)+len(vectorKeys))
	}
	if _, err := New(Config{Model: "m", EmbeddingBaseURL: "localhost:11434"}); err == nil ||
		!strings.Contains(err.Error(), "OPENAI_EMBEDDING_BASE_URL") {
		t.Errorf("an address without http: %v, want OPENAI_EMBEDDING_BASE_URL in the error", err)
	}
}

func TestFailuresOfTheEmbeddingServerNameItsSettings(t *testing.T) {
	t.Parallel()
	m := newTestModel(t, Config{
		EmbeddingBaseURL: keyed(t, make(chan string, 9)) + "/nothing", EmbeddingAPIKey: "b", EmbeddingModel: "e",
	})
	if m.embedder.KeySetting != "OPENAI_EMBEDDING_API_KEY" || m.embedder.Key != "b" || m.server.Key != "" ||
		m.embedder.AddressSetting != "OPENAI_EMBEDDING_BASE_URL" || m.server.AddressSetting != "OPENAI_BASE_URL" {
		t.Errorf("the settings are %+v and %+v", m.embedder, m.server)
	}
	if h := m.Probe(t.Context()); !h.Embeds || h.Err == nil || llm.KindOf(h.Err) != llm.KindUnreachable {
		t.Errorf("beside a server that is down: %+v, want vectors", h)
	}
}

// The key of replies goes along to an embedding model on the same host alone.
func TestTheEmbeddingServerIsLentTheKeyOfItsOwnHost(t *testing.T) {
	for name, tt := range map[string]struct {
		config    Config
		base, key string
	}{
		"nothing is said": {Config{APIKey: "a"}, defaultBaseURL, "a"},
		"the same host": {Config{APIKey: "a", BaseURL: "http://x/v1", EmbeddingBaseURL: "http://x/v2"},
			"http://x/v2", "a"},
		"another host": {Config{APIKey: "a", BaseURL: "http://x/v1", EmbeddingBaseURL: "http://y/v1"},
			"http://y/v1", ""},
		"a key for it":   {Config{APIKey: "a", BaseURL: "http://x/v1", EmbeddingAPIKey: "b"}, "http://x/v1", "b"},
		"another scheme": {Config{APIKey: "a", BaseURL: "https://x", EmbeddingBaseURL: "http://x"}, "http://x", ""},
	} {
		base, key, err := tt.config.EmbeddingServer()
		if err != nil || base != tt.base || string(key) != tt.key {
			t.Errorf("%s: %s with %q (%v), want %s with %q", name, base, string(key), err, tt.base, tt.key)
		}
	}
}
