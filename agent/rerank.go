package agent

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"footnote/corpus"
	"footnote/corpus/text"
)

// What the parts of a second look at a passage weigh.
const (
	weightWords    = 0.4 // the query's words in the passage, its heading and its document's title
	weightTogether = 0.3 // the query's words in one sentence
	weightRank     = 0.3 // what the search thought
	weightMeaning  = 0.6 // the cosine against all of these, where there are vectors
)

// mostFound is how many passages one search returns at most.
const mostFound = 50

// search finds passages among the documents in reach. When the request wants it, twice as many are looked at a second time and
// the best of them kept; a search by meaning alone has its order already.
func (d *desk) search(ctx context.Context, q corpus.Query) (corpus.Results, error) {
	q.Documents = d.only
	limit, again := q.Limit, d.rerank && q.Mode != corpus.ModeSemantic
	if again {
		q.Limit = min(mostFound, 2*limit)
	}
	found, err := d.library.Search(ctx, d.scope, q)
	if err != nil {
		return corpus.Results{}, fmt.Errorf("search: %w", err)
	}
	if again && len(found.Results) > 1 {
		cosines, err := d.cosines(ctx, q.Text, found.Results)
		if err != nil {
			if ctx.Err() != nil {
				return corpus.Results{}, err
			}
			found.Notes = append(slices.Clip(found.Notes), "The order is by words alone: searching by meaning did not answer.")
		}
		found.Results = reordered(q.Text, found.Results, cosines)
		found.Results = found.Results[:min(limit, len(found.Results))]
	}
	return found, nil
}

// reordered returns the hits by a closer look at each, with that as their score. cosines are nil where there are no vectors; a hit
// that is not among them is far from the query in meaning.
func reordered(query string, hits []corpus.Result, cosines map[string]float64) []corpus.Result {
	out := slices.Clone(hits)
	judge := corpus.NewJudge()
	words := text.QueryWords(query, []string{cmp.Or(text.Detect(query), "en")})
	for i := range out {
		_, _, together := judge.BestSentence(out[i].Passage.Text, query)
		score := weightWords*share(words, out[i]) + weightTogether*min(1, max(0, together)) + weightRank*out[i].Score
		if cosines != nil {
			score = weightMeaning*cosines[out[i].Passage.ID] + (1-weightMeaning)*score
		}
		out[i].Score = math.Round(score*1e4) / 1e4
	}
	slices.SortStableFunc(out, func(a, b corpus.Result) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// share is how much of a query stands in a passage, its heading or its document's title, 0–1.
func share(words []text.Word, hit corpus.Result) float64 {
	if len(words) == 0 {
		return 0
	}
	lang := text.Detect(hit.Passage.Text)
	terms := map[string]bool{}
	for _, t := range append(text.Terms(hit.Passage.Text, lang), text.Terms(hit.Passage.Section+" "+hit.Document.Title, lang)...) {
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

// cosines returns how near passages are to a query in meaning, for those that have vectors; none where there are no vectors.
func (d *desk) cosines(ctx context.Context, query string, hits []corpus.Result) (map[string]float64, error) {
	if !d.library.Semantic() {
		return nil, nil
	}
	seen := map[string]bool{}
	var documents []string
	for _, hit := range hits {
		if !seen[hit.Document.ID] {
			seen[hit.Document.ID] = true
			documents = append(documents, hit.Document.ID)
		}
	}
	near, err := d.library.Search(ctx, d.scope, corpus.Query{Text: query, Limit: mostFound, Mode: corpus.ModeSemantic, Documents: documents})
	if err != nil {
		return nil, fmt.Errorf("search by meaning: %w", err)
	}
	out := make(map[string]float64, len(near.Results))
	for _, hit := range near.Results {
		out[hit.Passage.ID] = hit.Score
	}
	return out, nil
}
