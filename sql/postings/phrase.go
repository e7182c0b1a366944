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
	// passages with all words of the phrases that are looked through for one search, the best first
	maxCandidates = 20_000
	textsAtOnce   = 128
)

// holdingPhrases returns the best of the passages that hold every phrase: k, and those as good as the last of them,
// ascending by row. The index does not know the order of words: passages with all words of the phrases are analysed
// again, the best first, until there are enough. candidates come best first and in portions of textsAtOnce, so a phrase
// that good passages hold costs one reading of texts. The bound makes a phrase of frequent words that nothing holds end
// (docs/decisions/search.md).
func (x *Index) holdingPhrases(
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
		held, err := x.holdLines(ctx, some, wanted)
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

// phraseLines returns the phrases of several words, between spaces. Those of one word are in each passage that has it.
// A phrase is looked for between spaces, so that its first and last words are whole.
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

// withAll returns the rows that hold the terms of the phrases, ascending: none if one of them is in no index. Terms
// beyond bm25.MaxTerms don't count.
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

// holdLines reports which of some passages hold every line, in the body or in the title: analysed as they were when
// they came in. The same analyser makes the same terms, so a phrase matches across forms of its words as single words
// do.
func (x *Index) holdLines(ctx context.Context, some []bm25.Scored, lines []string) (map[uint32]bool, error) {
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
