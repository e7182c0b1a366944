package postgres

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/sqlite"
)

func TestSearchesMatchEmbeddedMode(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	embedded, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "footnote.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer embedded.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		name := fmt.Sprint("document ", i)
		c := benchContent(random, corpus.Document{ID: name, SHA256: name}, 5)
		for _, ds := range []corpus.Documents{db.Documents(), embedded.Documents()} {
			d, _, err := ds.Put(t.Context(), corpus.Document{User: chat.LocalUser, Path: name, SHA256: name})
			if err == nil {
				err = ds.PutContent(t.Context(), d.ID, c)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	here, there := db.Lexical(), embedded.Lexical()
	found := 0
	for range 300 {
		var q corpus.LexicalQuery
		for range 1 + random.IntN(5) {
			q.Words = append(q.Words, []string{
				benchWord(zipf(random, 10, 20_000)), benchWord(zipf(random, 10, 20_000)),
			})
		}
		if random.IntN(4) == 0 {
			q.Phrases = [][]string{{benchWord(zipf(random, 5, 20)), benchWord(zipf(random, 5, 20))}}
		}
		got, want := passagesOf(t, here, q), passagesOf(t, there, q)
		if !slices.Equal(got, want) {
			t.Errorf("search for %+v =\n%v, embedded mode\n%v", q, got, want)
		}
		found += len(got)
	}
	if found < 1000 {
		t.Errorf("only %d passages were found in all, want at least 1000", found)
	}
}

func passagesOf(t *testing.T, l corpus.Lexical, q corpus.LexicalQuery) (ids []string) {
	t.Helper()
	hits, err := l.SearchLexical(t.Context(), chat.Local, q, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, hit := range hits {
		ids = append(ids, fmt.Sprintf("%s with %.4f", hit.PassageID, hit.Share))
	}
	return ids
}

// This collection is the same as that of the benchmark for SQLite.
const (
	benchWords      = 250 // per passage
	benchVocabulary = 100_000
)

// zipf returns the rank of a word, starting at 1. The word of rank r is about r times rarer than the first.
func zipf(random *rand.Rand, from, to float64) int {
	return int(from * math.Exp(random.Float64()*math.Log(to/from)))
}

// syllables are combined into artificial words, so that trigrams are shared as in a natural language.
var syllables = strings.Fields(
	"ba be bi bo bu da de di do du fa fe fi fo fu ga ge gi go gu ka ke ki ko ku la le li lo lu ma me mi mo mu na ne " +
		"ni no nu ra re ri ro ru sa se si so su ta te ti to tu",
)

func benchWord(rank int) string {
	var word strings.Builder
	for n := rank + 50; n > 0; n /= len(syllables) {
		word.WriteString(syllables[n%len(syllables)])
	}
	return word.String()
}

// benchContent returns the content of a document, with words drawn from a Zipf distribution.
func benchContent(random *rand.Rand, d corpus.Document, passages int) corpus.Content {
	c := corpus.Content{SHA256: d.SHA256}
	var text strings.Builder
	for i := range passages {
		var words []string
		for range benchWords {
			words = append(words, benchWord(zipf(random, 1, benchVocabulary)))
		}
		body, start := strings.Join(words, " "), text.Len()
		text.WriteString(body)
		c.Passages = append(c.Passages, corpus.Passage{
			ID: fmt.Sprintf("%s-%04d", d.ID, i), DocumentID: d.ID, Ordinal: i, Start: start, End: text.Len(),
			Text: body,
		})
		c.Terms = append(c.Terms, corpus.Terms{Title: strings.Join(words[:4], " "), Body: body})
		text.WriteString("\n\n")
	}
	c.Extracted.Text = text.String()
	return c
}
