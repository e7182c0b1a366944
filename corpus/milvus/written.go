package milvus

import (
	"hash/maphash"
	"sync"

	"github.com/footnote/footnote/corpus"
)

// mostWritten bounds what a written remembers: 16 MB.
const mostWritten = 1 << 20

// written knows every id that a collection may hold, as hashes. There is one only for a collection that this process
// made and that nobody else writes to: an id that it does not know can be stored without deleting it first. Milvus
// takes as long to read a delete of many ids as it does to store their vectors. Hashes of 64 bits may collide, which
// costs a delete too many and nothing else. Its methods are safe for concurrent use.
type written struct {
	seed maphash.Seed

	mu  sync.Mutex
	ids map[uint64]struct{} // nil after too many
}

func newWritten() *written { return &written{seed: maphash.MakeSeed(), ids: map[uint64]struct{}{}} }

// addVectors notes vectors that are about to be stored, and returns the ids that may be there already. Where w is nil,
// every id may be there.
func (w *written) addVectors(vs []corpus.Vector) (known []string) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	for _, v := range vs {
		if w == nil || w.ids == nil {
			known = append(known, v.PassageID)
			continue
		}
		id := maphash.String(w.seed, v.PassageID)
		if _, there := w.ids[id]; there {
			known = append(known, v.PassageID)
		}
		w.ids[id] = struct{}{}
	}
	if w != nil && len(w.ids) > mostWritten {
		w.ids = nil
	}
	return known
}
