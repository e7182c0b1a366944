package pdf

import (
	"github.com/tetratelabs/wazero/experimental"

	"github.com/footnote/footnote/corpus/extract/worker"
)

// reserve allocates PDFium's memory. It reserves the whole address range at once and commits it as it grows. Growing
// a Go slice would copy it, and hold it twice meanwhile.
var reserve = experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
	m := &linear{}
	if most = min(most, memoryLimit); m.open(most) != nil {
		m.all = nil // Reallocate then fails
	}
	return m
})

// linear is the memory of one PDFium instance.
type linear struct {
	all  []byte
	used int
}

// Reallocate implements experimental.LinearMemory. It returns nil at the limit, and PDFium's malloc then fails.
// Committed memory is reported to the worker, which limits the memory of the whole process. The address of the
// result is stable, which WebAssembly's compiled code relies on.
func (m *linear) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	if n := int(size); n > m.used {
		if m.use(n) != nil {
			return nil
		}
		worker.AddOffHeap(int64(n - m.used))
		m.used = n
	}
	return m.all[:size:size]
}

// Free implements experimental.LinearMemory.
func (m *linear) Free() {
	worker.AddOffHeap(-int64(m.used))
	m.used = 0
	m.release()
}
