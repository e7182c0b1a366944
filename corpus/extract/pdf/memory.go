package pdf

import (
	"github.com/tetratelabs/wazero/experimental"

	"github.com/footnote/footnote/corpus/extract/worker"
)

// reserve is where PDFium's memory comes from: the addresses for all of it are taken at once and made usable as it
// grows. Growing a slice of Go's would copy it, and hold it twice meanwhile.
var reserve = experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
	m := &linear{}
	if most = min(most, memoryLimit); m.open(most) != nil {
		m.all = nil // Reallocate says no
	}
	return m
})

// linear is the memory of one instance.
type linear struct {
	all  []byte
	used int
}

// Reallocate implements experimental.LinearMemory. nil means that there is no more: PDFium's malloc then fails. What
// becomes usable is reported to the worker, which bounds the memory of the whole process. The result is of the same
// address each time, as WebAssembly's compiled code relies on.
func (m *linear) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	if n := int(size); n > m.used {
		if m.use(n) != nil {
			return nil
		}
		worker.Outside(int64(n - m.used))
		m.used = n
	}
	return m.all[:size:size]
}

// Free implements experimental.LinearMemory.
func (m *linear) Free() {
	worker.Outside(-int64(m.used))
	m.used = 0
	m.release()
}
