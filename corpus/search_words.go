package corpus

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/text"
)

// searchLexical finds passages by the query's words and the terms that correct them. A phrase is looked for as
// documents of each language would hold it. Of a passage that several languages found, the best share counts.
func (se *activeSearch) searchLexical(ctx context.Context, depth int) ([]Hit, error) {
	q := LexicalQuery{Documents: se.query.Documents, Words: se.wordTerms()}
	if len(q.Words) == 0 {
		return nil, nil
	}
	if len(se.phrases) == 0 {
		return se.askLexical(ctx, q, depth)
	}
	found := make(map[string]Hit)
	var asked []string
	// "" is a document whose language is not known, whose words are not stemmed.
	for _, lang := range append([]string{""}, se.langs...) {
		q.Phrases = nil
		key := ""
		for _, p := range se.phrases {
			if terms := text.Terms(p, lang); len(terms) > 0 {
				q.Phrases = append(q.Phrases, terms)
				key += strings.Join(terms, " ") + "\n"
			}
		}
		// Languages that make the same terms of the phrases would find the same passages.
		if slices.Contains(asked, key) {
			continue
		}
		asked = append(asked, key)
		hits, err := se.askLexical(ctx, q, depth)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if known, ok := found[h.PassageID]; !ok || h.Share > known.Share {
				found[h.PassageID] = h
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.PassageID, b.PassageID))
	}), nil
}

// wordTerms are those of each word of the query, with those that correct it.
func (se *activeSearch) wordTerms() (words [][]string) {
	for _, w := range se.soughtWords() {
		words = append(words, w.Terms)
	}
	return words
}

// soughtWords are the words of the query with the terms that correct or complete them.
func (se *activeSearch) soughtWords() []text.Word {
	words := slices.Clone(se.words)
	for i, w := range words {
		words[i].Terms = appendNew(slices.Clip(w.Terms), se.corrected[w.Text]...)
	}
	return words
}

// askLexical asks the index of words for the k best passages.
func (se *activeSearch) askLexical(ctx context.Context, q LexicalQuery, k int) ([]Hit, error) {
	hits, err := se.library.cfg.Lexical.SearchLexical(ctx, se.scope, q, k)
	if err != nil {
		return nil, fmt.Errorf("lexical search: %w", err)
	}
	return hits, nil
}

// appendNew adds strings that are not in a list yet.
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

// correctWords returns the words of the query that no document has, with the indexed words that were likely meant. A
// word that was seen in a result needs no look. A typed last word is completed rather than corrected. At most
// maxCorrected words are looked at, each of which costs a few statements.
func (se *activeSearch) correctWords(ctx context.Context) (map[string]string, error) {
	if len(se.phrases) > 0 {
		return nil, nil // what is quoted is meant
	}
	var out map[string]string
	looked := 0
	for i, w := range se.words {
		typed := i+1 == len(se.words) && se.isTyped(w)
		// A pair of letters of a script without spaces is no word that somebody could mistype.
		if se.seen[w.Text] || !typed && (w.Gram || !search.Correctable(w.Text)) {
			continue
		}
		if looked++; looked > maxCorrected {
			break
		}
		known, err := se.askLexical(ctx, LexicalQuery{Words: [][]string{w.Terms}}, 1)
		if err != nil {
			return nil, err
		}
		if len(known) > 0 {
			continue
		}
		if typed {
			if completed, err := se.completeWord(ctx, w); err != nil {
				return nil, err
			} else if completed || !search.Correctable(w.Text) {
				continue
			}
		}
		meant, err := se.meantWord(ctx, w)
		if err != nil {
			return nil, err
		}
		if meant.word != "" {
			if out == nil {
				out = make(map[string]string)
			}
			out[w.Text] = meant.word
			se.corrected[w.Text] = append(se.corrected[w.Text], meant.term)
			se.unsure[w.Text] = meant.sure == search.MaybeMeant
		}
	}
	return out, nil
}

// onlyUnsure reports whether all that a passage holds of the query are words that may have been meant. Such a word
// counts beside another one of the query only.
func (se *activeSearch) onlyUnsure(held map[string]bool) bool {
	for word := range held {
		if !se.unsure[word] {
			return false
		}
	}
	return len(held) > 0
}

// noteHeading marks in held the words that stand over a passage: a passage is found by these too.
func noteHeading(a *text.Analyser, heading string, words []text.Word, held map[string]bool) {
	for _, span := range a.Spans(heading) {
		for _, w := range words {
			if slices.Contains(w.Terms, span.Term) {
				held[w.Text] = true
			}
		}
	}
}

// noteCorrections leaves the corrections that a result holds, and says each. One that nothing found has is of no use to
// anybody.
func (se *activeSearch) noteCorrections(corrected map[string]string) {
	for _, w := range se.words {
		meant, ok := corrected[w.Text]
		switch {
		case ok && se.seen[w.Text]:
			se.addNote("No document has “" + w.Text + "”: “" + meant + "” was looked for as well.")
		case ok:
			delete(corrected, w.Text)
		}
	}
}
