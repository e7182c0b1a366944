//go:build !unix

package bert

import (
	"io"
	"os"
)

// mapFile reads a file into memory. After unmap the garbage collector frees it.
func mapFile(f *os.File, size int) (body []byte, unmap func() error, err error) {
	body = make([]byte, size)
	_, err = io.ReadFull(f, body)
	return body, func() error { return nil }, err
}
