package postgres

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/footnote/footnote/corpus"
)

// The same collection as in the embedded mode's benchmark.
const (
	benchWords      = 250 // of each passage
	benchVocabulary = 100_000
)

// zipf returns the rank of a word, from 1: the word of rank r is about r times rarer than the first.
func zipf(random *rand.Rand, from, to float64) int {
	return int(from * math.Exp(random.Float64()*math.Log(to/from)))
}

// syllables make words that look like words, so that trigrams are shared as in a language.
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

// benchContent is a document's content of Zipf-distributed words.
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
