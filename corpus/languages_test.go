package corpus_test

import (
	"testing"
	"time"

	"github.com/footnote/footnote/corpus"
)

// Queries are stemmed in the languages of all documents, including those ingested by other replicas.
func TestLanguagesOfOtherReplicasAreLoaded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	here, there := openTestLibrary(t, dir, nil), openTestLibrary(t, dir, nil)
	there.start(t)
	query := corpus.Query{Text: "Versicherung", Mode: corpus.ModeLexical}
	if r := here.search(t, query); len(r.Results) != 0 {
		t.Fatalf("empty library: found %q", titles(r))
	}
	there.add(
		t, "haus.md",
		"# Das Haus\n\nDie Eigentümer haben mehrere Versicherungen für das Haus und den Garten abgeschlossen, und "+
			"sie bezahlen sie jedes Jahr im Januar.\n",
	)
	there.wait(t)
	here.Changed("*") // as PostgreSQL tells
	for deadline := time.Now().Add(
		30 * time.Second,
	); len(here.search(t, query).Results) == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("word in another form is not found")
		}
	}
}
