package suggest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

const (
	fewestWords = 2 // neighbours that are asked about
	mostWords   = 3
	fewestSigns = 2 // of a script without spaces
	mostSigns   = 12
)

// subject returns the words that the passage is mostly about: of the runs of neighbouring words in its sentences that
// are no stop words, the run whose words the passage has most often, the first of equals. "" if there are none. How
// often a run is said is the mean over its terms, so that longer runs have no advantage. Only whole sentences are
// looked at.
func (p Passage) subject() string {
	often := map[string]int{}
	for _, term := range text.Terms(p.Text, p.Language) {
		often[term]++
	}
	best, most := "", 0
	runes := []rune(p.Text)
	for _, span := range text.Sentences(p.Text) {
		if !strings.ContainsRune(".!。！", runes[span[1]-1]) {
			continue // a line of an address, an item, a heading
		}
		for _, words := range neighbours(string(runes[span[0]:span[1]]), p.Language) {
			terms, sum := text.Terms(words, p.Language), 0
			for _, term := range terms {
				sum += often[term]
			}
			if worth := sum * 100 / max(1, len(terms)); worth > most && askable(words, longestHeading) {
				best, most = words, worth
			}
		}
	}
	return best
}

// neighbours are the runs of two or three words of a sentence between its stop words, numbers and marks; in a script
// without spaces the runs of signs that are not only grammar. A sentence of a few words has none. A comma or a bracket
// ends a run.
func neighbours(sentence, language string) (runs []string) {
	words := text.QueryWords(sentence, []string{language})
	telling, grams := map[string]bool{}, 0
	for _, w := range words {
		telling[w.Text] = true
		if w.Gram {
			grams++
		}
	}
	if grams*2 > len(words) {
		return signs(sentence)
	}
	all := strings.Fields(sentence)
	if len(all) < wholeSentence {
		return nil
	}
	var run []string
	end := func() {
		if len(run) >= fewestWords && len(run) <= mostWords {
			runs = append(runs, strings.Join(run, " "))
		}
		run = nil
	}
	for _, word := range all {
		plain := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if !strings.HasPrefix(word, plain) {
			end()
		}
		if telling[plain] && !strings.ContainsAny(plain, "0123456789") {
			run = append(run, plain)
		} else {
			end()
		}
		if !strings.HasSuffix(word, plain) {
			end()
		}
	}
	end()
	return runs
}

// signs are the runs of signs between marks and the signs of Japanese grammar.
func signs(sentence string) (runs []string) {
	if utf8.RuneCountInString(sentence) < 2*wholeSentence {
		return nil
	}
	for _, run := range strings.FieldsFunc(sentence, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) || unicode.Is(unicode.Hiragana, r)
	}) {
		if n := utf8.RuneCountInString(run); n >= fewestSigns && n <= mostSigns {
			runs = append(runs, run)
		}
	}
	return runs
}
