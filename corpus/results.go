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
