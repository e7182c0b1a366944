//go:build !unix

package pdf

// open allocates the memory from the Go runtime. The system commits only the pages that are used.
func (m *linear) open(most uint64) error {
	m.all = make([]byte, most)
	return nil
}

func (m *linear) use(int) error { return nil }

func (m *linear) release() { m.all = nil }
