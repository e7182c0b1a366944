package bert

import (
	"os"
	"testing"
)

// fetched is where make puts the sentence model.
const fetched = "../../../.cache/embedding/all-MiniLM-L6-v2"

// open opens the model that was fetched for the tests; in CI it must be there.
func open(t testing.TB, cfg Config) *Embedder {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = fetched
	}
	if _, err := os.Stat(cfg.Dir); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the embedding model is missing: %v", err)
		}
		t.Skip("no embedding model: make embedding fetches it")
	}
	e, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
