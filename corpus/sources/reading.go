package sources

import (
	"errors"
	"io"
)

// Reading is a Content's body that remembers why reading it failed, for whoever gets another error from the one that
// read it. The library reads the body and returns an error of its own, which hides whether the place or the file was to
// blame.
type Reading struct {
	From io.Reader
	Err  error // nil: it did not fail
}

// Read implements io.Reader.
func (r *Reading) Read(p []byte) (int, error) {
	n, err := r.From.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.Err = err
	}
	return n, err
}
