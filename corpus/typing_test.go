package corpus_test

import (
	"slices"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// best is the words of a document that a result opens at.
func best(r corpus.Result) string {
	return string([]rune(r.Passage.Text)[r.Snippet.Start:r.Snippet.End])
}

func TestSearchWhileTyping(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
	sh.start(t)
	fill(t, sh)
	sh.add(t, "tenancy.md", "# Tenancy\n\n## Term\n\nEither party may use the break clause after a year. No clause "+
		"here lets a tenant keep pigeons.\n\n## Pauses\n\nA break for lunch is an hour. See every other clause for "+
		"the rest.\n\n## Works\n\nWorkers take a break at noon.")
	sh.add(t, "breakfast.md", "# Kitchen\n\n## Mornings\n\nBreakfast is at eight. Claudia lays the table.")
	sh.wait(t)
	for _, tt := range []struct {
		name, text string
		want       []string // the words that results open at, in order
	}{
		{"words in a row go before words apart, and leave out some of the words", "break clause",
			[]string{"break clause", "break for lunch is an hour. See every other clause"}},
		{"the order of the words", "clause break",
			[]string{"break clause", "break for lunch is an hour. See every other clause"}},
		{"the last word is not finished", "break clau",
			[]string{"break clause", "break for lunch is an hour. See every other clause"}},
		{"the only word is not finished", "pige", []string{"pigeons"}},
		{"a word that is there is whole", "break", []string{"break", "break", "break"}},
		{"two letters are the beginning of nothing", "pi", nil},
		{"a word before the last is corrected", "pige clause", []string{"clause here lets a tenant keep pigeons"}},
		{"none of the passages has all words", "break submarines", []string{"break", "break", "break"}},
		{"a title's word alone names a document, not a passage", "tenancy", []string{"Tenancy"}},
		{"a phrase", `"break clause"`, []string{"break clause"}},
		{"a typing error", "piegons", []string{"pigeons"}},
		{"one sign of a script without spaces", "富", []string{"富士"}},
		{"German", "Wärmedäm", []string{"Wärmedämmung"}},
		{"Korean", "서울", []string{"서울"}},
		{"signs alone", "?!", nil},
		{"nothing like it", "xyzzy", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := sh.search(t, corpus.Query{Text: tt.text, Mode: corpus.ModeLexical, Typing: true})
			var got []string
			for _, r := range found.Results {
				got = append(got, best(r))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q opens at %q (%v), want %q", tt.text, got, found.Notes, tt.want)
			}
		})
	}
	t.Run("what completes a word is marked, and is no correction", func(t *testing.T) {
		found := sh.search(t, corpus.Query{Text: "the pige", Mode: corpus.ModeLexical, Typing: true})
		if len(found.Results) != 1 || len(found.Results[0].Snippet.Matches) != 1 || len(found.Notes) != 0 {
			t.Errorf(
				"found %d results, notes %q; want one with one mark, and no notes",
				len(found.Results),
				found.Notes,
			)
		}
	})
	t.Run("a search that nobody types has passages with some of the words, and a correction", func(t *testing.T) {
		found := sh.search(t, corpus.Query{Text: "break clau", Mode: corpus.ModeLexical})
		if len(found.Results) != 3 || found.Corrected["clau"] != "clause" {
			t.Errorf("found %d results, corrected %v; want 3, clau: clause", len(found.Results), found.Corrected)
		}
	})
}

func TestTheMarkOfATypingErrorIsWhatWasMeant(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
	sh.start(t)
	fill(t, sh)
	r := sh.search(t, corpus.Query{Text: "exlcusions"}).Results[0]
	if got := best(r); got != "Exclusions" || len(r.Snippet.Matches) == 0 {
		t.Errorf("opens at %q with %d marks, want Exclusions, marked", got, len(r.Snippet.Matches))
	}
}
