package sqlite

import (
	"bytes"
	"compress/flate"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

const (
	// packBlocksFrom is from what length on, in bytes, the JSON of a piece of blocks is packed: nine tenths of it are the same again and again.
	// Small documents are read in faster without.
	packBlocksFrom = 16 << 10
	// packTextFrom is from what length on, in bytes, a document's text and its passages are packed: with the original and the index they would take
	// more than four times the file.
	packTextFrom = 4 << 20
	// maxPacked bounds what is unpacked of one piece.
	maxPacked = 64 << 20
)

// packers and unpackers are used again: each takes more memory than a passage.
var (
	packers   = sync.Pool{New: func() any { w, _ := flate.NewWriter(io.Discard, flate.BestSpeed); return w }} // it fails for unknown levels only
	unpackers = sync.Pool{New: func() any { return flate.NewReader(strings.NewReader("")) }}
)

// pack compresses a piece of text or blocks.
func pack(body string) ([]byte, error) {
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

// unpacked returns what a piece holds: body, unless it is packed.
func unpacked(body, packed []byte) ([]byte, error) {
	if len(packed) == 0 {
		return body, nil
	}
	var out bytes.Buffer
	err := unpack(&out, packed)
	return out.Bytes(), err
}

// unpack writes what was packed.
func unpack(out io.Writer, packed []byte) error {
	r := unpackers.Get().(io.ReadCloser)
	defer unpackers.Put(r)
	err := r.(flate.Resetter).Reset(bytes.NewReader(packed), nil)
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

// Statements that read content without Go in between say unpacked(body, packed).
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("unpacked", 2, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		body, _ := args[0].(string)
		packed, _ := args[1].([]byte)
		out, err := unpacked([]byte(body), packed)
		return string(out), err
	})
}
