package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

// fetchedModel is the folder of the sentence model that `make embedding` fetches.
func fetchedModel(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", ".cache", "embedding", "all-MiniLM-L6-v2"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "model.safetensors")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the embedding model is missing: make embedding: %v", err)
		}
		t.Skip("the embedding model is not on this machine: make embedding")
	}
	return dir
}

func TestAModelInAFolderFindsByMeaningWithoutAServer(t *testing.T) {
	t.Parallel()
	env := "FOOTNOTE_EMBEDDING_DIR=" + fetchedModel(t)
	s := serve(t, newDir(t), env)
	s.add(
		file{"pets.md", "# House rules\n\nDogs and cats may live in the flat if the landlord agrees.\n"},
		file{"heating.md", "# Boiler\n\nThe boiler is serviced every twelve months by an engineer.\n"},
		file{"parking.md", "# Garage\n\nThe second garage belongs to the ground floor.\n"},
	)
	s.semantic()
	status, body := s.meaning("Am I allowed to keep an animal?")
	found := loose[struct {
		Results []struct {
			Metadata struct {
				Filename string `json:"filename"`
			} `json:"metadata"`
		} `json:"results"`
	}](t, body).Results
	if status != 200 || len(found) == 0 || found[0].Metadata.Filename != "pets.md" {
		t.Errorf("got %d %s, want pets.md first: no word of the question is in it", status, body)
	}
	if health := s.send("GET", "/health", nil).body; !strings.Contains(health, `"status":"ok"`) {
		t.Errorf("got health %s, want ok", health)
	}
	if got := command(t, "", []string{env}, "doctor", "--data="+newDir(t)); got.code != 0 ||
		!strings.Contains(got.stdout, "all-MiniLM-L6-v2@") ||
		!strings.Contains(got.stdout, "6 layers, vectors of 384 numbers, 256 tokens at once, in 8 bits with ") ||
		!strings.Contains(got.stdout, " passages of 150 words a second on one processor") {
		t.Errorf("got doctor %d\n%s, want the name of the model, what it is and how fast", got.code, got.stdout)
	}
}

func TestAnEmbeddingModelOfAServerGoesBeforeOneInAFolder(t *testing.T) {
	t.Parallel()
	env := append(newModel(t, scripted.Config{}).env(), "OPENAI_EMBEDDING_MODEL=hash",
		"FOOTNOTE_EMBEDDING_DIR="+fetchedModel(t))
	if got := command(t, "", env, "doctor", "--data="+newDir(t)); !strings.Contains(got.stdout, "hash works") {
		t.Errorf("got doctor %d\n%s, want hash", got.code, got.stdout)
	}
}

func TestAFolderWithoutAModelIsSaid(t *testing.T) {
	t.Parallel()
	env := []string{"FOOTNOTE_EMBEDDING_DIR=" + t.TempDir()}
	if got := command(t, "", env, "doctor", "--data="+newDir(t)); got.code != 1 ||
		!strings.Contains(got.stdout, "✕ semantic search") || !strings.Contains(got.stdout, "FOOTNOTE_EMBEDDING_DIR") {
		t.Errorf("got doctor %d\n%s, want what is wrong with the folder", got.code, got.stdout)
	}
	if got := command(t, "", env, "serve", "--data="+newDir(t), "--addr=127.0.0.1:0"); got.code == 0 ||
		!strings.Contains(got.stderr, "FOOTNOTE_EMBEDDING_DIR") {
		t.Errorf("got serve %d\n%s, want what is wrong with the folder", got.code, got.stderr)
	}
}
