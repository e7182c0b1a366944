package sources

import (
	"errors"
	"io"
)

// Reading wraps a Content's body and records its read error. The library returns an error of its own for a failed
// read; Err shows whether the place or the file caused it.
type Reading struct {
	From io.Reader
	Err  error // nil: no read failed
}

// Read implements io.Reader.
func (r *Reading) Read(p []byte) (int, error) {
	n, err := r.From.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.Err = err
	}
	return n, err
}
