package corpus_test

import (
	"testing"

	"github.com/footnote/footnote/corpus"
)

// Pieces of tables of contents and of indexes are found, but behind every text, whatever their words are worth.
func TestDirectoriesAreFoundLast(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
	sh.start(t)
	sh.add(t, "contents.md", "Slates on the roof . . . . . . . 3\n\nSlates, how to lay . . . . . . . 4\n\n"+
		"Slates of the north slope . . . . . . . 5")
	sh.add(t, "index.txt", "slates, 3 slates broken, 4 slates lost, 5 slates new, 6 slates old, 7 slates red, 8 "+
		"slates thin, 9 slates wet, 10")
	sh.add(t, "survey.md", "The survey of the roof took two days. All chimneys were looked at, and none of the "+
		"slates on the north slope is broken.")
	sh.wait(t)
	for _, rerank := range []bool{false, true} {
		found := sh.search(t, corpus.Query{Text: "slates", Limit: 3, Rerank: rerank})
		if len(found.Results) != 3 {
			t.Fatalf("rerank %v: %d results, want 3", rerank, len(found.Results))
		}
		if got := found.Results[0].Document.Filename; got != "survey.md" {
			t.Errorf("rerank %v: the first result is of %s, want survey.md", rerank, got)
		}
		for i := 1; i < 3; i++ {
			if found.Results[i].Score > found.Results[i-1].Score {
				t.Errorf("rerank %v: result %d has the score %v, more than %v before it", rerank, i+1,
					found.Results[i].Score, found.Results[i-1].Score)
			}
		}
	}
}
