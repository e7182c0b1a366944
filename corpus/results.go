package corpus

import (
	"context"
	"fmt"
	"maps"

	"golang.org/x/sync/errgroup"

	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/text"
)

// readResults looks the best hits up and makes them readable. Hits of documents that are hidden or gone are dropped,
// and so is a passage that repeats another one's text, and one without a quoted phrase. Hits are looked up in batches
// of a little more than are wanted, since some are dropped. Places are read side by side, four at a time.
func (se *activeSearch) readResults(ctx context.Context, ranked []fused) ([]Result, error) {
	analysers := make(map[string]*text.Analyser)
	defer func() {
		for lang, a := range analysers {
			se.library.analysers.Put(lang, a)
		}
	}()
	seen := make(map[string]bool)
	words, limit := se.soughtWords(), se.query.Limit
	// Of what is typed, passages with all words are preferred, which more hits than are shown have to be read for.
	if se.query.Typing {
		limit *= typedDepth
	}
	var out, directories []Result
	// Mostly one batch is enough: of eight more than asked for, few are dropped.
	for from := 0; from < len(ranked) && len(out) < limit; {
		to := min(len(ranked), from+limit+8)
		batch, docs, err := se.lookUp(ctx, ranked[from:to])
		if err != nil {
			return nil, err
		}
		for _, f := range ranked[from:to] {
			p, ok := batch[f.PassageID]
			d, has := docs[p.DocumentID]
			// Two copies of a document have the same passages, of which the better one stays.
			if !ok || !has || seen[p.Text] || len(out) == limit {
				continue
			}
			if !search.HasPhrases(p.Text, se.phrases) {
				continue
			}
			// An analyser is not for concurrent use, so that each search borrows its own for each language.
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
			// A table of contents has all the words of a question and none of its answer.
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
	out = moveBehind(out, directories, se.query.Limit)
	g, placing := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for i := range out {
		g.Go(func() error { return se.library.placeHit(placing, se.scope, &out[i]) })
	}
	if err := g.Wait(); err != nil || !se.query.Places {
		return out, err
	}
	return out, se.library.labelHits(ctx, se.scope, out)
}

// moveBehind returns up to limit results with pieces of tables of contents and of indexes behind all others. Their
// scores are lowered to that of the last text, so that scores fall.
func moveBehind(out, directories []Result, limit int) []Result {
	for _, r := range directories[:min(len(directories), limit-len(out))] {
		if n := len(out); n > 0 {
			r.Score = min(r.Score, out[n-1].Score)
		}
		out = append(out, r)
	}
	return out
}

// lookUp reads passages and their documents, with a statement for each, side by side.
func (se *activeSearch) lookUp(ctx context.Context, hits []fused) (map[string]Passage, map[string]Document, error) {
	ids := make([]string, len(hits))
	var docIDs []string
	for i, h := range hits {
		ids[i] = h.PassageID
		// Several hits may be of one document, which is read once.
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

// rankHits orders what the indexes found: by both, by meaning, or by words. A hit of words that is not among the
// nearest vectors is at most as near as the farthest of these, which is taken. The index of vectors always has nearest
// passages, so one without a word of the query is dropped unless its cosine reaches MinScore or, without one, says that
// the passage answers and is nearer to the query than its nonsense.
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
		for i, f := range fits { // those that are not among the nearest
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

// foundByMeaning reports whether a hit needs no word of the query: its cosine reaches MinScore, which is seen to later,
// or says that the passage answers and is nearer than the query's nonsense.
func (se *activeSearch) foundByMeaning(h Hit) bool {
	return h.Cosine != 0 && (se.query.MinScore > 0 || se.scale.Answers(h.Cosine) && h.Cosine > se.nonsense)
}

// doubt is search.Scale.Doubt of the query.
func (se *activeSearch) doubt() float64 { return se.scale.Doubt(se.nonsense) }

// applyThreshold sets the scores of semantic mode and drops what lies under MinScore. A hit without a cosine falls
// under any threshold.
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
