package corpus

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/text"
)

// maxSimilar is the maximum number of indexed terms compared with an unknown word.
const maxSimilar = 8

// maxLooked is the maximum number of these that are looked up in documents.
const maxLooked = 5

// candidate is an indexed term with the document word that it was derived from.
type candidate struct {
	term, word string
	sure       search.Certainty
}

// correctWord returns the likely correction of a word that no document has. Stems are too short for a decision, so it
// compares whole words of documents with the typed one (search.TypoOf). Corrections have the same first letter:
// people rarely mistype it. Among several the one with the lowest cost is returned. The zero candidate means that
// there is none.
func (se *activeSearch) correctWord(ctx context.Context, w text.Word) (candidate, error) {
	typed := text.Fold(w.Text)
	allowed := 2
	if utf8.RuneCountInString(typed) >= 7 {
		allowed = 3
	}
	edits := make(map[string]int) // by indexed term that is similar
	for _, t := range w.Terms {
		found, err := se.library.cfg.Lexical.Similar(ctx, se.scope, t, maxSimilar)
		if err != nil {
			return candidate{}, fmt.Errorf("similar words: %w", err)
		}
		for _, f := range found {
			if d := search.Typos(t, f, allowed); d <= allowed {
				edits[f] = min(d, cmp.Or(edits[f], d))
			}
		}
	}
	terms := slices.SortedFunc(maps.Keys(edits), func(a, b string) int {
		return cmp.Or(cmp.Compare(edits[a], edits[b]), cmp.Compare(a, b))
	})
	words, err := se.wordsOf(ctx, terms[:min(len(terms), maxLooked)])
	if err != nil {
		return candidate{}, err
	}
	var best candidate
	least := math.MaxInt
	for _, c := range words {
		for _, word := range search.Forms(text.Fold(c.word)) {
			if !sameFirstLetter(typed, word) {
				continue
			}
			if sure, cost := search.TypoOf(typed, word); sure != search.NotMeant && cost < least {
				best, least = candidate{c.term, c.word, sure}, cost
			}
		}
	}
	return best, nil
}

// sameFirstLetter reports whether two folded words begin with the same letter.
func sameFirstLetter(a, b string) bool {
	first, _ := utf8.DecodeRuneInString(a)
	other, _ := utf8.DecodeRuneInString(b)
	return first == other
}

// wordsOf returns for each term a document word that has it: terms are stems, but users must see words.
func (se *activeSearch) wordsOf(ctx context.Context, terms []string) ([]candidate, error) {
	var ids []string
	of := make(map[string][]string) // passage → terms to find in it
	for _, t := range terms {
		hits, err := se.queryLexical(ctx, LexicalQuery{Words: [][]string{{t}}}, 1)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			ids = appendNew(ids, h.PassageID)
			of[h.PassageID] = append(of[h.PassageID], t)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	passages, err := se.library.cfg.Documents.PassagesByID(ctx, se.scope, ids)
	if err != nil {
		return nil, fmt.Errorf("look passages up: %w", err)
	}
	var out []candidate
	for _, p := range passages {
		for _, t := range of[p.ID] {
			if word := se.wordOf(p, t); word != "" {
				out = append(out, candidate{term: t, word: word})
			}
		}
	}
	return out, nil
}

// wordOf returns the first word of a passage or its section with the term, in any of the languages.
func (se *activeSearch) wordOf(p Passage, term string) string {
	for _, lang := range append([]string{""}, se.langs...) {
		a := se.library.analysers.Get(lang)
		defer se.library.analysers.Put(lang, a)
		for _, s := range []string{p.Text, p.Section} {
			for _, span := range a.Spans(s) {
				if span.Term == term {
					return string([]rune(s)[span.Start:span.End])
				}
			}
		}
	}
	return ""
}
