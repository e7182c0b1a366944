package pdf

import (
	"bytes"
	"compress/gzip"
	"os"
	"testing"
	_ "unsafe" // for go:linkname

	_ "github.com/klippa-app/go-pdfium/webassembly" // shipped
)

//go:linkname shipped github.com/klippa-app/go-pdfium/webassembly.pdfiumWasm
var shipped []byte

// The embedded module must be that of the library. With FOOTNOTE_WRITE_PDFIUM set, the file is created instead.
func TestEmbeddedPDFiumMatchesLibrary(t *testing.T) {
	if os.Getenv("FOOTNOTE_WRITE_PDFIUM") != "" {
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(shipped); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("pdfium.wasm.gz", packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := unpackPDFium()
	if err != nil || !bytes.Equal(got, shipped) {
		t.Errorf("pdfium.wasm.gz holds %d bytes, %v; want the library's %d: run make generate", len(got), err,
			len(shipped))
	}
}

func BenchmarkUnpack(b *testing.B) {
	for b.Loop() {
		if _, err := unpackPDFium(); err != nil {
			b.Fatal(err)
		}
	}
}
