package postings

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/bm25"
)

const (
	// Maximum number of passages, best first, whose text is checked for the phrases of one search.
	maxCandidates = 20_000
	textsAtOnce   = 128
)

// filterByPhrases returns the passages that contain every phrase: the best k and those with the same score as the
// last, ascending by row. The index has no positions, so passages with all words of the phrases are analysed again.
// They are checked best first in batches of textsAtOnce, until there are enough. maxCandidates ends the search for a
// phrase of frequent words that no passage contains (docs/decisions/search.md).
func (x *Index) filterByPhrases(
	ctx context.Context, r *reading, all []*termPassages, scored []bm25.Scored, spans []bm25.Span, phrases [][]string,
	k int,
) ([]bm25.Scored, error) {
	rows, err := r.withAll(ctx, all, phrases)
	if err != nil {
		return nil, err
	}
	candidates := bm25.Within(bm25.Only(scored, rows), spans)
	wanted := phraseLines(phrases)
	if len(wanted) == 0 {
		return candidates, nil
	}
	slices.SortStableFunc(candidates, func(a, b bm25.Scored) int { return cmp.Compare(b.Score, a.Score) })
	candidates = candidates[:min(len(candidates), maxCandidates)]
	var kept []bm25.Scored
	for len(candidates) > 0 && (len(kept) < k || candidates[0].Score == kept[k-1].Score) {
		some := candidates[:min(textsAtOnce, len(candidates))]
		candidates = candidates[len(some):]
		held, err := x.filterByLines(ctx, some, wanted)
		if err != nil {
			return nil, err
		}
		for _, c := range some {
			if held[c.Row] {
				kept = append(kept, c)
			}
		}
	}
	return inOrder(kept), nil
}

// phraseLines returns the normalised phrases of several words, enclosed in spaces to match whole words. Phrases of
// one word need no check.
func phraseLines(phrases [][]string) (lines []string) {
	for _, phrase := range phrases {
		if len(phrase) < 2 {
			continue
		}
		words := make([]string, len(phrase))
		for i, term := range phrase {
			words[i] = Fold(term)
		}
		lines = append(lines, " "+strings.Join(words, " ")+" ")
	}
	return lines
}

// withAll returns the rows with all terms of the phrases, ascending: none if a term can't be in the index. Terms
// beyond bm25.MaxTerms are ignored.
func (r *reading) withAll(ctx context.Context, all []*termPassages, phrases [][]string) (rows []uint32, err error) {
	first := true
	for _, term := range slices.Concat(phrases...) {
		if term = Fold(term); term == "" {
			return nil, nil
		}
		i := slices.IndexFunc(all, func(f *termPassages) bool { return f.Term == term })
		if i < 0 {
			continue
		}
		list, err := r.scoredPassages(ctx, all[i])
		if err != nil {
			return nil, err
		}
		if !first {
			rows = rowsInBoth(rows, list)
			continue
		}
		first = false
		rows = make([]uint32, len(list))
		for i, p := range list {
			rows[i] = p.Row
		}
	}
	return rows, nil
}

// filterByLines reports which passages contain every line, in the body or in the title. They are analysed as they were
// at indexing, so a phrase matches other forms of its words like single words do.
func (x *Index) filterByLines(ctx context.Context, some []bm25.Scored, lines []string) (map[uint32]bool, error) {
	rows := make([]uint32, len(some))
	for i, c := range some {
		rows[i] = c.Row
	}
	texts, err := x.store.Texts(ctx, rows)
	if err != nil {
		return nil, err
	}
	held := make(map[uint32]bool, len(texts))
	for _, t := range texts {
		a := x.analysers.Get(t.Language)
		terms := corpus.TermsOf(a, t.Title, t.Section, t.Text)
		x.analysers.Put(t.Language, a)
		title, body := " "+terms.Title+" ", " "+terms.Body+" "
		held[t.Row] = !slices.ContainsFunc(
			lines, func(line string) bool { return !strings.Contains(body, line) && !strings.Contains(title, line) },
		)
	}
	return held, ctx.Err()
}
