package pdf_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/worker"
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

// Zeros in a file, as disks and networks leave them, are no damage. How long it takes to pass over them is not asked
// here: on a busy machine it is longer than a person is let wait.
func TestZerosAreNoDamage(t *testing.T) {
	reader := newReader(t, func(c *worker.Config) { c.BatchLimit = 5 * time.Minute })
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
