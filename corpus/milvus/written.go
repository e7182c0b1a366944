package milvus

import (
	"hash/maphash"
	"sync"

	"github.com/footnote/footnote/corpus"
)

// mostWritten is the maximum number of IDs in a written: 16 MB.
const mostWritten = 1 << 20

// written is the set of IDs that a collection may hold, as hashes. It exists only for a collection that this
// process created and alone writes to: an unknown ID can be inserted without a delete. Milvus takes as long for a
// delete of many IDs as for storing their vectors. A collision of the 64-bit hashes only costs an extra delete. It
// is safe for concurrent use.
type written struct {
	seed maphash.Seed

	mu  sync.Mutex
	ids map[uint64]struct{} // nil after too many
}

func newWritten() *written { return &written{seed: maphash.MakeSeed(), ids: map[uint64]struct{}{}} }

// addVectors records vectors before they are stored, and returns the IDs that may already exist: all IDs if w is
// nil.
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
