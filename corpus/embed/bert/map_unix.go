//go:build unix

package bert

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file into memory. The result must not be used after unmap.
func mapFile(f *os.File, size int) (body []byte, unmap func() error, err error) {
	body, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return body, func() error { return os.NewSyscallError("munmap", unix.Munmap(body)) }, nil
}
