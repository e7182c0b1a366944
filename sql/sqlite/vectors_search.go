package sqlite

import (
	"cmp"
	"slices"
	"sync"

	"github.com/viterin/vek/vek32"

	"footnote/chat"
	"footnote/corpus"
)

// vectorsPerGoroutine is the number of vectors from which a second goroutine pays.
const vectorsPerGoroutine = 4096

// A near is a row and its cosine with the query.
type near struct {
	cosine float32
	row    int
}

// search compares the query with every vector that the scope may see.
func (s *vectorSnapshot) search(scope chat.Scope, query []float32, documents []string, k int) []corpus.Hit {
	allowed := s.allowed(scope, documents)
	half := len(s.rows)
	if half >= 2*vectorsPerGoroutine {
		half /= 2
	}
	var first, second []near
	var both sync.WaitGroup
	if half < len(s.rows) {
		both.Go(func() { second = s.nearest(query, allowed, half, len(s.rows), k) })
	}
	first = s.nearest(query, allowed, 0, half, k)
	both.Wait()
	all := append(first, second...)
	slices.SortFunc(all, s.closer)
	hits := make([]corpus.Hit, 0, min(k, len(all)))
	for _, found := range all[:min(k, len(all))] {
		row := s.rows[found.row]
		hits = append(hits, corpus.Hit{
			PassageID: row.passage, DocumentID: s.documents[row.place].document, Cosine: s.exact(query, found.row),
		})
	}
	return hits
}

// allowed says for each of documents whether the search may see it.
func (s *vectorSnapshot) allowed(scope chat.Scope, documents []string) []bool {
	wanted := make(map[string]bool, len(documents))
	for _, id := range documents {
		wanted[id] = true
	}
	allowed := make([]bool, len(s.documents))
	for i, place := range s.documents {
		allowed[i] = place.user == scope.User && scope.Holds(place.namespace) &&
			(len(documents) == 0 || wanted[place.document])
	}
	return allowed
}

// nearest returns the k nearest of the rows in [from, to), in no order.
func (s *vectorSnapshot) nearest(query []float32, allowed []bool, from, to, k int) []near {
	top := make([]near, 0, min(2*k, to-from))
	least := float32(-2) // below it none of the k nearest can be
	for i := from; i < to; i++ {
		if !allowed[s.rows[i].place] {
			continue
		}
		cosine := vek32.Dot(query, s.values[i*s.dimension:(i+1)*s.dimension])
		if cosine < least {
			continue
		}
		if top = append(top, near{cosine, i}); len(top) == 2*k {
			slices.SortFunc(top, s.closer)
			top = top[:k]
			least = top[k-1].cosine
		}
	}
	slices.SortFunc(top, s.closer)
	return top[:min(k, len(top))]
}

// closer orders by cosine, best first, ties by passage id.
func (s *vectorSnapshot) closer(a, b near) int {
	return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(s.rows[a.row].passage, s.rows[b.row].passage))
}

// exact is the cosine in double precision, between -1 and 1.
func (s *vectorSnapshot) exact(query []float32, row int) float64 {
	var sum float64
	for i, value := range s.values[row*s.dimension : (row+1)*s.dimension] {
		sum += float64(query[i]) * float64(value)
	}
	return min(max(sum, -1), 1)
}
