package corpus

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/text"
)

const (
	typedDepth     = 4  // hits read for each result
	typedFrom      = 3  // minimum letters of a completed word; scripts without spaces need one sign
	mostCompletion = 16 // maximum completions of a word
)

// isTyped reports whether a word is at the end of the query and long enough, so that it may be a prefix. A space
// after it ends a word.
func (se *activeSearch) isTyped(w text.Word) bool {
	return se.query.Typing && strings.HasSuffix(se.query.Text, w.Text) &&
		(w.Gram || utf8.RuneCountInString(w.Text) >= typedFrom)
}

// completeWord looks up indexed terms with an unknown word as a prefix.
func (se *activeSearch) completeWord(ctx context.Context, w text.Word) (completed bool, err error) {
	terms, err := se.library.cfg.Lexical.Completions(ctx, se.scope, w.Terms[0], mostCompletion)
	if err != nil {
		return false, fmt.Errorf("complete a word: %w", err)
	}
	if len(terms) > 0 {
		se.corrected[w.Text] = terms
	}
	return len(terms) > 0, nil
}

// preferAllWords returns up to the query's limit of passages with all of its words, those with the words in
// sequence first; without any it returns the passages with some. It leaves out passages found only by their title:
// the document is found by its name. The order of found is kept within each group.
func (se *activeSearch) preferAllWords(found []Result) []Result {
	var row, all, some []Result
	phrase := []string{strings.TrimFunc(se.query.Text, unicode.IsPunct)}
	for _, r := range found {
		switch {
		case r.Snippet.Words == 0:
		case r.Snippet.Words < len(se.words):
			some = append(some, r)
		case search.HasPhrases(r.Passage.Text, phrase):
			row = append(row, r)
		default:
			all = append(all, r)
		}
	}
	if all = append(row, all...); len(all) == 0 {
		all = some
	}
	return all[:min(len(all), se.query.Limit)]
}
