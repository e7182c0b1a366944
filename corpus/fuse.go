package corpus

import (
	"cmp"
	"slices"
)

// FusionK damps the first ranks of reciprocal rank fusion.
const FusionK = 60

// fused is a passage with its rank over several ways of searching.
type fused struct {
	Hit
	score float64 // 0–1: what it has of the best possible
}

// fuse ranks the hits of several lists, each best first, by reciprocal rank: Σ 1/(60 + rank). The score is that sum
// over the best possible one, first in every list. Ties go to the smaller passage id. A hit keeps the cosine that any
// list gives it.
func fuse(lists ...[]Hit) []fused {
	at := make(map[string]int)
	var out []fused
	for _, list := range lists {
		for rank, h := range list {
			i, ok := at[h.PassageID]
			if !ok {
				i = len(out)
				at[h.PassageID] = i
				out = append(out, fused{Hit: h})
			}
			if h.Cosine != 0 {
				out[i].Cosine = h.Cosine
			}
			out[i].score += 1 / float64(FusionK+rank+1)
		}
	}
	best := float64(len(lists)) / float64(FusionK+1)
	for i := range out {
		out[i].score /= best
	}
	slices.SortFunc(out, func(a, b fused) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.PassageID, b.PassageID))
	})
	return out
}
