package corpus

import (
	"context"
	"fmt"
	"maps"

	"golang.org/x/sync/errgroup"

	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/text"
)

// readResults loads the best hits and builds results. It drops hits of hidden or deleted documents, passages with
// duplicate text, and passages without a quoted phrase. Hits are loaded in batches slightly larger than the limit,
// since some are dropped. Places are resolved concurrently, four at a time.
func (se *activeSearch) readResults(ctx context.Context, ranked []fused) ([]Result, error) {
	analysers := make(map[string]*text.Analyser)
	defer func() {
		for lang, a := range analysers {
			se.library.analysers.Put(lang, a)
		}
	}()
	seen := make(map[string]bool)
	words, limit := se.expandedWords(), se.query.Limit
	// While typing, passages with all words are preferred, which requires more hits than the limit.
	if se.query.Typing {
		limit *= typedDepth
	}
	var out, directories []Result
	// Usually one batch with eight extra hits is enough.
	for from := 0; from < len(ranked) && len(out) < limit; {
		to := min(len(ranked), from+limit+8)
		batch, docs, err := se.readHits(ctx, ranked[from:to])
		if err != nil {
			return nil, err
		}
		for _, f := range ranked[from:to] {
			p, ok := batch[f.PassageID]
			d, has := docs[p.DocumentID]
			// Two copies of a document have the same passages: keep the better hit.
			if !ok || !has || seen[p.Text] || len(out) == limit {
				continue
			}
			if !search.HasPhrases(p.Text, se.phrases) {
				continue
			}
			// Analysers are not safe for concurrent use: each search gets its own for each language.
			a := analysers[d.Language]
			if a == nil {
				a = se.library.analysers.Get(d.Language)
				analysers[d.Language] = a
			}
			held := make(map[string]bool)
			r := Result{Passage: p, Document: d, Score: f.score, Snippet: search.Snip(a, p.Text, words, held)}
			if len(se.corrected) > 0 {
				noteHeading(a, r.headingText(), words, held)
			}
			if se.onlyUnsure(held) && !se.foundByMeaning(f.Hit) {
				continue
			}
			seen[p.Text] = true
			maps.Copy(se.seen, held)
			r.Doubt = se.doubt()
			if f.Cosine != 0 {
				r.Cosine = &f.Cosine
			}
			// A table of contents has all the words of a query but no answer.
			if text.Directory(p.Text) {
				directories = append(directories, r)
			} else {
				out = append(out, r)
			}
		}
		from = to
	}
	if se.query.Typing {
		out, directories = se.preferAllWords(out), nil
	}
	out = demote(out, directories, se.query.Limit)
	g, placing := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for i := range out {
		g.Go(func() error { return locator{se.library}.placeHit(placing, se.scope, &out[i]) })
	}
	if err := g.Wait(); err != nil || !se.query.Places {
		return out, err
	}
	return out, locator{se.library}.labelHits(ctx, se.scope, out)
}

// demote returns up to limit results with tables of contents and indexes last. Their scores are lowered to that
// of the last text, so that scores are descending.
func demote(out, directories []Result, limit int) []Result {
	for _, r := range directories[:min(len(directories), limit-len(out))] {
		if n := len(out); n > 0 {
			r.Score = min(r.Score, out[n-1].Score)
		}
		out = append(out, r)
	}
	return out
}

// readHits loads passages and their documents in two concurrent queries.
func (se *activeSearch) readHits(ctx context.Context, hits []fused) (map[string]Passage, map[string]Document, error) {
	ids := make([]string, len(hits))
	var docIDs []string
	for i, h := range hits {
		ids[i] = h.PassageID
		// Several hits may be of one document, which is loaded once.
		docIDs = appendNew(docIDs, h.DocumentID)
	}
	byID, docs := make(map[string]Passage, len(ids)), make(map[string]Document, len(docIDs))
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		passages, err := se.library.cfg.Documents.PassagesByID(ctx, se.scope, ids)
		if err != nil {
			return fmt.Errorf("look passages up: %w", err)
		}
		for _, p := range passages {
			byID[p.ID] = p
		}
		return nil
	})
	g.Go(func() error {
		list, _, err := se.library.cfg.Documents.List(ctx, se.scope, Filter{IDs: docIDs, Limit: len(docIDs)})
		if err != nil {
			return fmt.Errorf("look documents up: %w", err)
		}
		for _, d := range list {
			docs[d.ID] = d
		}
		return nil
	})
	return byID, docs, g.Wait()
}

// fused is a hit with its score, 0–1.
type fused struct {
	Hit
	score float64
}

// rankHits orders the hits of the indexes: fused, by vectors, or by words. A lexical hit that is not among the
// nearest vectors gets the cosine of the farthest of them as an upper bound. A vector index always returns nearest
// passages, so one without query words is dropped unless its cosine reaches MinScore. Without a MinScore its cosine
// must indicate an answer and exceed that of the query's nonsense.
func (se *activeSearch) rankHits(byWord, byVector []Hit, byWords, byMeaning bool) []fused {
	if !byWords {
		out := make([]fused, len(byVector))
		for i, h := range byVector {
			out[i].Hit = h
		}
		return se.applyThreshold(out)
	}
	fits := make([]search.Fit, 0, len(byWord)+len(byVector))
	hits, at := make(map[string]Hit), make(map[string]int)
	for _, h := range byWord {
		hits[h.PassageID], at[h.PassageID] = h, len(fits)
		fits = append(fits, search.Fit{ID: h.PassageID, Words: h.Share, Unknown: true})
	}
	if byMeaning {
		farthest := 0.0
		for _, h := range byVector {
			farthest = se.scale.Nearness(h.Cosine)
			i, known := at[h.PassageID]
			if !known && !se.foundByMeaning(h) {
				continue
			}
			if !known {
				i = len(fits)
				fits = append(fits, search.Fit{ID: h.PassageID})
			}
			hits[h.PassageID] = h
			fits[i].Meaning, fits[i].Unknown = farthest, false
		}
		for i, f := range fits { // those that are not among the nearest vectors
			if f.Unknown && len(byVector) > 0 && !se.library.waiting.hasDocument(hits[f.ID].DocumentID) {
				fits[i].Meaning, fits[i].Unknown = farthest, false
			}
		}
	}
	out := make([]fused, 0, len(fits))
	for _, r := range search.Fuse(fits, se.doubt()) {
		out = append(out, fused{hits[r.ID], r.Score})
	}
	if byMeaning {
		return se.applyThreshold(out)
	}
	return out
}

// foundByMeaning reports whether a hit needs no word of the query: with a MinScore, which is applied later, or if
// its cosine indicates an answer and exceeds that of the query's nonsense.
func (se *activeSearch) foundByMeaning(h Hit) bool {
	return h.Cosine != 0 && (se.query.MinScore > 0 || se.scale.Answers(h.Cosine) && h.Cosine > se.nonsense)
}

// doubt returns search.Scale.Doubt of the query.
func (se *activeSearch) doubt() float64 { return se.scale.Doubt(se.nonsense) }

// applyThreshold sets the scores of semantic mode and drops hits below MinScore, including those without a cosine.
func (se *activeSearch) applyThreshold(ranked []fused) []fused {
	kept := ranked[:0]
	for _, f := range ranked {
		similarity := se.scale.Similarity(f.Cosine)
		if se.query.Mode == ModeSemantic {
			f.score = similarity
		}
		if se.query.MinScore == 0 || f.Cosine != 0 && similarity >= se.query.MinScore {
			kept = append(kept, f)
		}
	}
	return kept
}
