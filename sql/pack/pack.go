// Package pack compresses the stored text and blocks of large documents, for both databases. Each piece is a
// separate DEFLATE stream (RFC 1951), so reading the start of a long document is cheap.
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
	// BlocksFrom is the minimum length in bytes from which the JSON of a piece of blocks is compressed: nine tenths
	// of it are repetitive. Small documents are indexed faster without compression.
	BlocksFrom = 16 << 10
	// TextFrom is the minimum length in bytes from which a document's text is compressed. With the original and the
	// index, it would otherwise take more than four times the file's size.
	TextFrom = 4 << 20
	// maxPacked limits the decompressed bytes of one piece.
	maxPacked = 64 << 20
)

// packers and unpackers are reused, as each takes more memory than a passage.
var (
	// The error is for invalid levels only.
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

// Unpacked returns the content of a piece: body unless packed is given. It does not copy body.
func Unpacked(body, packed []byte) ([]byte, error) {
	if len(packed) == 0 {
		return body, nil
	}
	var out bytes.Buffer
	err := Unpack(&out, packed)
	return out.Bytes(), err
}

// Unpack decompresses one or several consecutive pieces.
func Unpack(out io.Writer, packed []byte) error {
	for from := bytes.NewReader(packed); from.Len() > 0; {
		if err := unpackOne(out, from); err != nil {
			return err
		}
	}
	return nil
}

// unpackOne decompresses one piece and reads no byte after it.
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

// First decompresses the first piece, which may be followed by others or a part of one. n is its compressed length
// in bytes.
func First(packed []byte) (plain []byte, n int, err error) {
	from := bytes.NewReader(packed)
	var out bytes.Buffer
	err = unpackOne(&out, from)
	return out.Bytes(), len(packed) - from.Len(), err
}
