package corpus

import (
	"cmp"
	"context"
	"math"
	"slices"

	"footnote/corpus/support"
	"footnote/corpus/text"
)

// What the parts of a second look at a passage weigh.
const (
	weightWords    = 0.4 // the query's words in the passage, its heading and its document's title
	weightTogether = 0.3 // the query's words in one sentence
	weightRank     = 0.3 // what the search thought
	weightMeaning  = 0.6 // the cosine against all of these, where there are vectors
)

// rerank runs a search that looks a second time at twice as many results as are wanted, and keeps the best of them.
func (se *search) rerank(ctx context.Context) (Results, error) {
	limit := se.query.Limit
	se.query.Limit = min(maxLimit, 2*limit)
	found, err := se.run(ctx)
	if err != nil || len(found.Results) < 2 {
		return found, err
	}
	if err := se.addCosines(ctx, &found); err != nil {
		return Results{}, err
	}
	found.Results = Rerank(se.query.Text, found.Results)
	found.Results = found.Results[:min(limit, len(found.Results))]
	return found, nil
}

// addCosines gives every result its cosine, where the index of vectors answers and has the passage.
func (se *search) addCosines(ctx context.Context, found *Results) error {
	if !se.library.Semantic() || se.partial {
		return nil
	}
	var documents []string
	for _, hit := range found.Results {
		if hit.Cosine == nil {
			documents = appendNew(documents, hit.Document.ID)
		}
	}
	if len(documents) == 0 {
		return nil
	}
	near := se.vectorIn(ctx, documents, scoreDepth)
	if near.err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		se.library.cfg.Log.WarnContext(ctx, "semantic search failed", "error", near.err)
		found.Partial = true
		found.Notes = append(
			slices.Clip(found.Notes), "The order is by words alone: searching by meaning did not answer.",
		)
		return nil
	}
	cosines := make(map[string]float64, len(near.hits))
	for _, h := range near.hits {
		cosines[h.PassageID] = h.Cosine
	}
	for i := range found.Results {
		if c, ok := cosines[found.Results[i].Passage.ID]; ok && found.Results[i].Cosine == nil {
			found.Results[i].Cosine = &c
		}
	}
	return nil
}

// Rerank returns results by a closer look at each, with that as their score. Where some have a cosine, one without is
// far from the query in meaning.
func Rerank(query string, hits []Result) []Result {
	out := slices.Clone(hits)
	judge := support.NewJudge()
	words := text.QueryWords(query, []string{cmp.Or(text.Detect(query), "en")})
	meaning := slices.ContainsFunc(hits, func(r Result) bool { return r.Cosine != nil })
	for i := range out {
		_, _, together := judge.BestSentence(out[i].Passage.Text, query)
		score := weightWords*ShareOfWords(words, out[i]) + weightTogether*min(1, max(0, together)) +
			weightRank*out[i].Score
		if meaning {
			near := 0.0
			if c := out[i].Cosine; c != nil {
				near = min(1, max(0, *c))
			}
			score = weightMeaning*near + (1-weightMeaning)*score
		}
		out[i].Score = math.Round(score*1e4) / 1e4
	}
	slices.SortStableFunc(out, func(a, b Result) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// ShareOfWords is how much of a query stands in a passage, its heading or its document's title, 0–1.
func ShareOfWords(words []text.Word, hit Result) float64 {
	if len(words) == 0 {
		return 0
	}
	lang := text.Detect(hit.Passage.Text)
	terms := map[string]bool{}
	for _, t := range append(
		text.Terms(hit.Passage.Text, lang), text.Terms(hit.Passage.Section+" "+hit.Document.Title, lang)...,
	) {
		terms[t] = true
	}
	held := 0
	for _, w := range words {
		if slices.ContainsFunc(w.Terms, func(t string) bool { return terms[t] }) {
			held++
		}
	}
	return float64(held) / float64(len(words))
}
