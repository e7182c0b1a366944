package corpus

import "github.com/footnote/footnote/corpus/search"

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
