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
	typedDepth     = 4  // passages looked at for each one that is wanted
	typedFrom      = 3  // letters of a word that is completed; a script without spaces needs one sign
	mostCompletion = 16 // terms that complete a word
)

// isTyped reports whether a word of the query is its end, so that it may be the beginning of a longer one. A space
// behind it ends a word.
func (se *activeSearch) isTyped(w text.Word) bool {
	return se.query.Typing && strings.HasSuffix(se.query.Text, w.Text) &&
		(w.Gram || utf8.RuneCountInString(w.Text) >= typedFrom)
}

// completeWord looks for the indexed terms that begin with a word that no document has.
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

// preferAllWords returns up to the query's limit of passages that hold all of its words, those that hold them in a row
// first; without any the passages that hold some. A passage that was found by its title's words alone is left out: the
// document is found by its name. found is in the order of the search, which is kept within each group.
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
