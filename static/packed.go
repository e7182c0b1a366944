package static

import (
	"bytes"
	"compress/gzip"
	"sync"
)

var (
	packedMu sync.Mutex
	packed   = map[string][]byte{}
)

// Packed returns a file's bytes in gzip's form, as small as it makes them: a file is packed once, however many fetch
// it. It is safe for concurrent use.
func Packed(name string) ([]byte, error) {
	packedMu.Lock()
	defer packedMu.Unlock()
	if body, done := packed[name]; done {
		return body, nil
	}
	plain, err := Read(name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	packed[name] = b.Bytes()
	return packed[name], nil
}
