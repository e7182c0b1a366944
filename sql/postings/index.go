package postings

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/bm25"
	"github.com/footnote/footnote/text"
)

// Index is the corpus.Lexical of a database. It loads nothing before the first search. It is safe for concurrent
// use. Its caches hold parts of immutable segments, and scores by view.
type Index struct {
	store     Store
	directory directory
	similar   similarTerms
	parts     cache[Place, part]
	terms     cache[termKey, *termPassages]
	analysers text.Analysers
}

var _ corpus.Lexical = (*Index)(nil)

// NewIndex returns the index of a database. Share it, as it caches the directory.
func NewIndex(store Store) *Index { return &Index{store: store} }

// attempts is the maximum number of reads of an index that is merged concurrently. The last attempt returns
// errMoved; the second one mostly succeeds, as a merge replaces its segments once.
const attempts = 5

// SearchLexical finds passages by terms; see corpus.Lexical. It returns at most k hits, best first, ties by passage
// ID, so that both databases return the same.
func (x *Index) SearchLexical(ctx context.Context, s chat.Scope, q corpus.LexicalQuery, k int) ([]corpus.Hit, error) {
	if k <= 0 || len(q.Words) == 0 && len(q.Phrases) == 0 {
		return nil, nil
	}
	s = x.store.Scope(s)
	var hits []corpus.Hit
	err := x.readConsistently(ctx, s.User, func(r *reading) (err error) {
		hits, err = x.searchTerms(ctx, r, s, q, k)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("lexical search: %w", err)
	}
	return hits, nil
}

// readConsistently calls fn with the user's directory and segments, and retries if segments were merged or documents
// replaced meanwhile. A user without visible passages has no view, and fn is not called.
func (x *Index) readConsistently(ctx context.Context, user string, fn func(*reading) error) error {
	for attempt := 1; ; attempt++ {
		dir, err := x.directory.currentSnapshot(ctx, x.store)
		if err != nil {
			return err
		}
		r := &reading{view: dir.users[user], index: x}
		if r.view == nil {
			return nil
		}
		newer := false
		if r.segments, newer, err = r.view.currentSegments(ctx, x.store, user, dir.changes); err != nil {
			return err
		}
		if newer && attempt < attempts {
			continue // the segments that they replaced may be deleted
		}
		if err = fn(r); !errors.Is(err, errMoved) || attempt == attempts {
			return err
		}
		r.view.forgetSegments()
	}
}

// searchTerms computes the hits of a query: the visible spans, the postings of each term, the selected terms
// (bm25.SelectTerms skips frequent ones), their scores, phrases, and the best k with their IDs. Scores are computed
// over all of the user's rows and filtered by documents afterwards, so that the IDF does not depend on the filter.
func (x *Index) searchTerms(
	ctx context.Context, r *reading, s chat.Scope, q corpus.LexicalQuery, k int,
) ([]corpus.Hit, error) {
	spans := r.InScope(s, q.Documents)
	if len(spans) == 0 {
		return nil, nil
	}
	all, err := r.findTerms(ctx, foldTerms(slices.Concat(slices.Concat(q.Phrases...), slices.Concat(q.Words...))))
	if err != nil {
		return nil, err
	}
	var lists [][]bm25.Scored
	for _, term := range r.SelectTerms(countedTerms(all)) {
		list, err := r.scoredPassages(
			ctx, all[slices.IndexFunc(all, func(f *termPassages) bool { return f.Term == term })],
		)
		if err != nil {
			return nil, err
		}
		lists = append(lists, list)
	}
	scored := r.Sum(lists)
	if len(q.Phrases) > 0 {
		if scored, err = x.filterByPhrases(ctx, r, all, scored, spans, q.Phrases, k); err != nil {
			return nil, err
		}
	}
	best := bm25.Best(bm25.Within(scored, spans), k)
	if len(best) == 0 {
		return nil, nil
	}
	rows := make([]uint32, len(best))
	for i, found := range best {
		rows[i] = found.Row
	}
	ids, err := x.store.PassageIDs(ctx, rows)
	if err != nil {
		return nil, err
	}
	return bm25.Hits(best, spans, ids, r.averageScore(all, q.Words), k), nil
}

// averageScore returns the score of a passage of average length with each word once: the sum of their IDF. It is the
// 1 of corpus.Hit's Share. A word's forms count as one word, by the most frequent of them.
func (r *reading) averageScore(all []*termPassages, words [][]string) (sum float64) {
	for _, terms := range words {
		most := 0 // passages with one of the word's terms
		for _, term := range terms {
			if i := slices.IndexFunc(all, func(f *termPassages) bool { return f.Term == Fold(term) }); i >= 0 {
				most = max(most, all[i].Passages)
			}
		}
		sum += bm25.IDF(r.Passages, most)
	}
	return sum
}

// foldTerms returns the normalised terms that can be in the index, without duplicates, at most the first
// bm25.MaxTerms.
func foldTerms(terms []string) (list []string) {
	for _, term := range terms {
		if term = Fold(term); term != "" && len(list) < bm25.MaxTerms && !slices.Contains(list, term) {
			list = append(list, term)
		}
	}
	return list
}

func countedTerms(all []*termPassages) []bm25.Counted {
	out := make([]bm25.Counted, len(all))
	for i, f := range all {
		out[i] = f.Counted
	}
	return out
}
