package corpus

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"footnote/corpus/search"
	"footnote/corpus/text"
)

// maxSimilar is how many indexed terms are compared with a word that no document has.
const maxSimilar = 8

// maxLooked is how many of them are looked up in documents.
const maxLooked = 5

// candidate is an indexed term and a word of a document that it was made from.
type candidate struct{ term, word string }

// meantWord returns the word that was likely meant by a word which no document has. Stems are too short to tell, so
// that whole words of documents are compared with the typed one, by the typing errors between both. One error is
// allowed, two in words of seven letters and more. Of several the one with fewest errors is meant. The zero candidate
// means that none is near.
func (se *activeSearch) meantWord(ctx context.Context, w text.Word) (candidate, error) {
	typed := text.Fold(w.Text)
	allowed := 1
	if utf8.RuneCountInString(typed) >= 7 {
		allowed = 2
	}
	edits := make(map[string]int) // of the indexed terms that are near
	for _, t := range w.Terms {
		found, err := se.library.cfg.Lexical.Similar(ctx, se.scope, t, maxSimilar)
		if err != nil {
			return candidate{}, fmt.Errorf("similar words: %w", err)
		}
		for _, f := range found {
			if d := search.Typos(t, f, allowed+1); d <= allowed+1 {
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
	for _, c := range words {
		for _, word := range search.Forms(text.Fold(c.word)) {
			if d := search.Typos(typed, word, allowed); d <= allowed {
				best, allowed = c, d-1
			}
		}
	}
	return best, nil
}

// wordsOf finds for each term a word of a document that has it. Terms are stems; people must be shown a word.
func (se *activeSearch) wordsOf(ctx context.Context, terms []string) ([]candidate, error) {
	var ids []string
	of := make(map[string][]string) // passage → terms to find in it
	for _, t := range terms {
		hits, err := se.askLexical(ctx, LexicalQuery{Words: [][]string{{t}}}, 1)
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
				out = append(out, candidate{t, word})
			}
		}
	}
	return out, nil
}

// wordOf returns the first word of a passage or its section that has a term, whatever language it was analysed in.
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
