package pdf_test

import (
	"bytes"
	"strings"
	"testing"

	"footnote/corpus/extract/pdf/pdftest"
)

func TestAnAES256FileThatNeedsNoPasswordIsRead(t *testing.T) {
	reader := newReader(t, nil)
	content := pdftest.Para(50, 700, "Some words that can be read by everyone.")
	x := mustExtract(t, reader, pdftest.AES256("", content))
	if want := "Some words that can be read by everyone."; x.Text != want {
		t.Errorf("text = %q, want %q", x.Text, want)
	}
	_, err := reader.Extract(t.Context(), pdftest.Write(t, pdftest.AES256("secret", content)), nil)
	wantFailure(t, err, "encrypted")
}

// Zeros in a file, as disks and networks leave them, are no damage.
func TestZerosAreNoDamage(t *testing.T) {
	reader := newReader(t, nil)
	good := pdftest.Document("", pdftest.Sheet{Content: pdftest.Para(50, 700, "Some words that can be read.")})
	zeros := make([]byte, 200<<20)
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"behind the end", append(bytes.Clone(good), zeros...)},
		{"inside", bytes.Replace(good, []byte("xref\n"), append(bytes.Clone(zeros), "xref\n"...), 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := reader.Extract(t.Context(), pdftest.Write(t, tt.data), nil)
			if err != nil || !strings.Contains(x.Text, "can be read") {
				t.Errorf("Extract = %q, %v; want the text", x.Text, err)
			}
		})
	}
}
