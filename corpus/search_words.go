package corpus

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"footnote/corpus/text"
)

// lexical finds passages by the query's words and those that correct them. A phrase is looked for as documents of each language
// would hold it.
func (se *search) lexical(ctx context.Context, corrected map[string]string, depth int) ([]Hit, error) {
	q := LexicalQuery{Documents: se.query.Documents}
	for _, w := range se.words {
		q.Terms = appendNew(q.Terms, w.Terms...)
	}
	for _, w := range se.words { // in the order of the words, which a map has not
		if used, ok := corrected[w.Text]; ok {
			q.Terms = appendNew(q.Terms, used)
		}
	}
	if len(q.Terms) == 0 {
		return nil, nil
	}
	if len(se.phrases) == 0 {
		return se.ask(ctx, q, depth)
	}
	var lists [][]Hit
	var asked []string
	for _, lang := range append([]string{""}, se.langs...) {
		q.Phrases = nil
		key := ""
		for _, p := range se.phrases {
			if terms := text.Terms(p, lang); len(terms) > 0 {
				q.Phrases = append(q.Phrases, terms)
				key += strings.Join(terms, " ") + "\n"
			}
		}
		if slices.Contains(asked, key) {
			continue
		}
		asked = append(asked, key)
		hits, err := se.ask(ctx, q, depth)
		if err != nil {
			return nil, err
		}
		lists = append(lists, hits)
	}
	var hits []Hit
	for _, f := range fuse(lists...) {
		hits = append(hits, f.Hit)
	}
	return hits, nil
}

func (se *search) ask(ctx context.Context, q LexicalQuery, k int) ([]Hit, error) {
	hits, err := se.library.cfg.Lexical.SearchLexical(ctx, se.scope, q, k)
	if err != nil {
		return nil, fmt.Errorf("lexical search: %w", err)
	}
	return hits, nil
}

func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// maxCorrected bounds the words of a query that are looked up as possible typing errors.
const maxCorrected = 6

// correct returns the words of the query that no document has, with the indexed words that were likely meant.
func (se *search) correct(ctx context.Context, hits []Hit) (map[string]string, error) {
	if len(se.phrases) > 0 {
		return nil, nil // what is quoted is meant
	}
	var out map[string]string
	looked := 0
	for _, w := range se.words {
		if w.Gram || !correctable(w.Text) || len(se.words) == 1 && len(hits) > 0 {
			continue
		}
		if looked++; looked > maxCorrected {
			break
		}
		known, err := se.ask(ctx, LexicalQuery{Terms: w.Terms}, 1)
		if err != nil {
			return nil, err
		}
		if len(known) > 0 {
			continue
		}
		used, err := se.similar(ctx, w)
		if err != nil {
			return nil, err
		}
		if used != "" {
			if out == nil {
				out = make(map[string]string)
			}
			out[w.Text] = used
			se.note("No document has “" + w.Text + "”: “" + used + "” was looked for as well.")
		}
	}
	return out, nil
}

// correctable reports whether a word can be a typing error of another: long enough, and of letters only.
func correctable(w string) bool {
	return utf8.RuneCountInString(w) >= 4 && !strings.ContainsAny(w, "0123456789_.")
}

// similar returns the indexed term that is fewest typing errors away from a word, if they are few for its length.
func (se *search) similar(ctx context.Context, w text.Word) (string, error) {
	best, bestEdits := "", 3
	for _, typed := range w.Terms {
		n := utf8.RuneCountInString(typed)
		allowed := 1
		if n >= 7 {
			allowed = 2
		}
		found, err := se.library.cfg.Lexical.Similar(ctx, se.scope, typed, 8)
		if err != nil {
			return "", fmt.Errorf("similar words: %w", err)
		}
		for _, term := range found {
			if d := typos(typed, term, allowed); d <= allowed && d < bestEdits {
				best, bestEdits = term, d
			}
		}
	}
	return best, nil
}

// typos counts the letters added, left out, replaced or swapped between two words; it gives up beyond limit.
func typos(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			d := last[j]
			if x[i] != y[j] {
				d++
			}
			d = min(d, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
