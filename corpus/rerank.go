package corpus

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/text"
)

// mostReranked is the maximum number of passages that are reranked. The sentences of each are parsed.
const mostReranked = 50

// mostScored is how many of these the Reranker scores: a small one of six layers scores about ten a second on two
// cores.
const mostScored = 20

const defaultRerankTime = 3 * time.Second

// rerankResults runs a search for twice as many results as the limit, reranks them and returns the best. Cosines
// are added first, as reranking uses them.
func (se *activeSearch) rerankResults(ctx context.Context) (Results, error) {
	limit := se.query.Limit
	se.query.Limit = min(mostReranked, 2*limit)
	if se.library.cfg.Reranker != nil {
		se.query.Limit = max(se.query.Limit, mostScored)
	}
	found, err := se.runSearch(ctx)
	if err != nil || len(found.Results) == 0 {
		return found, err
	}
	if err := se.addCosines(ctx, &found); err != nil {
		return Results{}, err
	}
	found.Results = Rerank(se.query.Text, found.Results)
	if err := se.scoreAgain(ctx, &found); err != nil {
		return Results{}, err
	}
	found.Results = found.Results[:min(limit, len(found.Results))]
	se.addSimilarities(&found)
	return found, nil
}

// scoreAgain orders the best results by the Reranker's scores, if there is one, and sets these scores. The other
// results follow, with scores lowered to the Reranker's minimum, so that scores are descending. If the Reranker
// fails or times out, only a note is added.
func (se *activeSearch) scoreAgain(ctx context.Context, found *Results) error {
	reranker := se.library.cfg.Reranker
	if reranker == nil || len(found.Results) == 0 {
		return nil
	}
	best := slices.Clone(found.Results[:min(mostScored, len(found.Results))])
	passages := make([]string, len(best))
	for i := range best {
		passages[i] = strings.TrimSpace(best[i].Passage.Section + "\n" + best[i].Passage.Text)
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(se.library.cfg.RerankTime, defaultRerankTime))
	defer cancel()
	scores, err := reranker.Scores(limited, se.query.Text, passages)
	if err == nil && len(scores) != len(best) {
		err = fmt.Errorf("%d scores for %d passages", len(scores), len(best))
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		se.library.cfg.Log.ErrorContext(ctx, "the reranker failed", "error", err)
		found.Notes = append(slices.Clip(found.Notes), "The reranker did not answer: the order is that of the search.")
		return nil
	}
	// Clamp scores to 0–1, so that an outlier does not affect the results after it.
	least := 1.0
	for i := range best {
		best[i].Score = math.Round(min(max(scores[i], 0), 1)*1e4) / 1e4
		least = min(least, best[i].Score)
	}
	slices.SortStableFunc(best, func(a, b Result) int { return cmp.Compare(b.Score, a.Score) })
	rest := slices.Clone(found.Results[len(best):])
	for i := range rest {
		rest[i].Score = min(rest[i].Score, least)
	}
	found.Results = directoriesLast(append(best, rest...))
	return nil
}

// addCosines sets the cosine of every result whose passage has a vector. It queries the vector index again, in the
// documents of the results only.
func (se *activeSearch) addCosines(ctx context.Context, found *Results) error {
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
	// The nearest passages of these documents probably include the lexical hits.
	near := se.vectorIn(ctx, documents, scoreDepth)
	if near.err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		se.library.cfg.Log.ErrorContext(ctx, "semantic search failed", "error", near.err)
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
		found.Results[i].Doubt = se.doubt()
		if c, ok := cosines[found.Results[i].Passage.ID]; ok && found.Results[i].Cosine == nil {
			found.Results[i].Cosine = &c
		}
	}
	return nil
}

// Rerank returns results reranked by search.Scorer, with its scores. If some have a cosine, a result without one
// counts as dissimilar, unless its document has no vectors yet. hits is not changed.
func Rerank(query string, hits []Result) []Result {
	out := slices.Clone(hits)
	look := search.NewScorer(query)
	meaning := slices.ContainsFunc(hits, func(r Result) bool { return r.Cosine != nil })
	for i := range out {
		score := look.Score(out[i].Passage.Text, out[i].headingText(), out[i].Score)
		if meaning && (out[i].Cosine != nil || out[i].Document.Semantic == SemanticReady) {
			score = search.WithMeaning(score, out[i].Cosine, out[i].Doubt)
		}
		out[i].Score = math.Round(score*1e4) / 1e4
	}
	slices.SortStableFunc(out, func(a, b Result) int { return cmp.Compare(b.Score, a.Score) })
	return directoriesLast(out)
}

// leastFitting is the minimum score of Rerank (0–1) for a passage that fits a query. No measurement of it is
// recorded.
const leastFitting = 0.15

// Fitting returns the reranked results that fit a query, with these scores. hits is not changed.
func Fitting(query string, hits []Result) []Result {
	return slices.DeleteFunc(Rerank(query, hits), func(r Result) bool { return r.Score < leastFitting })
}

// directoriesLast moves tables of contents and indexes to the end: they have the words of the texts that they refer
// to.
func directoriesLast(results []Result) []Result {
	var texts, directories []Result
	for _, r := range results {
		if text.Directory(r.Passage.Text) {
			directories = append(directories, r)
		} else {
			texts = append(texts, r)
		}
	}
	return demote(texts, directories, len(results))
}

// headingText returns the text above a passage: its section and the title of its document.
func (r Result) headingText() string { return r.Passage.Section + " " + r.Document.Title }

// ShareOf returns the share of query words in the passage, its heading or its document's title, 0–1.
func (r Result) ShareOf(words []text.Word) float64 {
	return search.ShareOfWords(words, r.Passage.Text, r.headingText())
}
