package extract

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// BenchmarkReadMailbox reads a mailbox of 500 mails, each with a plain and an HTML alternative and an attachment.
func BenchmarkReadMailbox(b *testing.B) {
	var box strings.Builder
	for n := range 500 {
		fmt.Fprintf(&box, "From a@example.com Mon Jun 01 10:00:00 2009\n%s\n",
			strings.Replace(sampleMail, "<p>not this one</p>", "<html><head><style>"+
				strings.Repeat("p { margin: 0 }\n", 20)+
				"</style></head><body><p style=\"margin:0\">Dear Judith,</p>"+
				"<p>the slates cost <b>4.500</b> ¤ f&uuml;r alles.</p><blockquote><p>What did the slates cost?</p>"+
				"<blockquote><p>And the gutter?</p></blockquote>"+
				"</blockquote><p>Harrow Ltd "+fmt.Sprint(n)+"</p></body></html>", 1))
	}
	name := filepath.Join(b.TempDir(), "original")
	if err := os.WriteFile(name, []byte(box.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	f := corpus.File{Path: name, Filename: "a.mbox", Bytes: int64(box.Len())}
	b.SetBytes(f.Bytes)
	for b.Loop() {
		if _, err := readMailbox(b.Context(), f); err != nil {
			b.Fatal(err)
		}
	}
}
