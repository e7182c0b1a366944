// Package pack makes the stored text and blocks of large documents smaller, for both databases: each piece is a DEFLATE
// stream (RFC 1951). A piece is packed by itself and can be read by itself, so the beginning of a long document costs
// little.
package pack

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

const (
	// BlocksFrom is from what length on, in bytes, the JSON of a piece of blocks is packed: nine tenths of it are the
	// same again and again. Small documents are read in faster without.
	BlocksFrom = 16 << 10
	// TextFrom is from what length on, in bytes, a document's text is packed: with the original and the index it would
	// take more than four times the file.
	TextFrom = 4 << 20
	// maxPacked bounds what is unpacked of one piece.
	maxPacked = 64 << 20
)

// packers and unpackers are used again: each takes more memory than a passage.
var (
	// it fails for unknown levels only
	packers   = sync.Pool{New: func() any { w, _ := flate.NewWriter(io.Discard, flate.BestSpeed); return w }}
	unpackers = sync.Pool{New: func() any { return flate.NewReader(strings.NewReader("")) }}
)

// Pack compresses a piece of text or blocks.
func Pack(body string) ([]byte, error) {
	var b bytes.Buffer
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	w.Reset(&b)
	_, err := io.WriteString(w, body)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("pack content: %w", err)
	}
	return b.Bytes(), nil
}

// Unpacked returns what a piece holds: body, unless it is packed. It returns the given body itself, not a copy.
func Unpacked(body, packed []byte) ([]byte, error) {
	if len(packed) == 0 {
		return body, nil
	}
	var out bytes.Buffer
	err := Unpack(&out, packed)
	return out.Bytes(), err
}

// Unpack writes what was packed: one piece after the other, if there are several.
func Unpack(out io.Writer, packed []byte) error {
	for from := bytes.NewReader(packed); from.Len() > 0; {
		if err := unpackOne(out, from); err != nil {
			return err
		}
	}
	return nil
}

// unpackOne writes one piece. It reads no byte behind it.
func unpackOne(out io.Writer, from *bytes.Reader) error {
	r := unpackers.Get().(io.ReadCloser)
	defer unpackers.Put(r)
	err := r.(flate.Resetter).Reset(from, nil)
	var n int64
	if err == nil {
		n, err = io.Copy(out, io.LimitReader(r, maxPacked+1))
	}
	if err == nil && n > maxPacked {
		err = errors.New("too long")
	}
	if err != nil {
		return fmt.Errorf("unpack content: %w", err)
	}
	return nil
}

// First unpacks the first piece of what was packed, which may be followed by others or by the beginning of one. n is
// how many bytes of packed it takes.
func First(packed []byte) (plain []byte, n int, err error) {
	from := bytes.NewReader(packed)
	var out bytes.Buffer
	err = unpackOne(&out, from)
	return out.Bytes(), len(packed) - from.Len(), err
}
