//go:build unix

package pdf

import "golang.org/x/sys/unix"

func (m *linear) open(most uint64) (err error) {
	m.all, err = unix.Mmap(-1, 0, int(most), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	return err
}

// use commits the first n bytes, whole pages of WebAssembly memory, for reading and writing.
func (m *linear) use(n int) error {
	return unix.Mprotect(m.all[:n], unix.PROT_READ|unix.PROT_WRITE)
}

func (m *linear) release() {
	if m.all != nil {
		_ = unix.Munmap(m.all) // it can only fail for memory that was not mapped here
		m.all = nil
	}
}
