package extract

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// pdfHeaderWithin is how far from its beginning a PDF may have its header: what mail programs, printers and servers
// write ahead of it stays there, and readers of PDF look no further. The PDF Reference 1.7 has the number in appendix
// H, implementation note 13.
const pdfHeaderWithin = 1024

// pdfStart is the header of a PDF and its first object, with comments between them. A header alone may be quoted in any
// text; one that a first object follows is hardly in a text, and never at its start.
var pdfStart = regexp.MustCompile(`^%PDF-\d\.\d[^\r\n]*[\r\n]\s*(?:%[^\r\n]*[\r\n]\s*)*\d+[ \t]+\d+[ \t]+obj\b`)

// isPDF reports whether a file is a PDF. One whose header is not its beginning is, if it has the name of one, or
// has an object there and bytes of no text: a text may speak of headers and show some, and an archive holds whole PDFs.
func isPDF(head []byte, name string) bool {
	at := bytes.Index(head[:min(len(head), pdfHeaderWithin)], []byte("%PDF-"))
	if at < 0 {
		return false
	}
	if ahead := bytes.TrimPrefix(head[:at], []byte("\ufeff")); len(bytes.TrimSpace(ahead)) == 0 {
		return true
	}
	if strings.EqualFold(path.Ext(name), ".pdf") {
		return true
	}
	_, isOther := otherKind(head, name)
	return !isOther && pdfStart.Match(head[at:]) && !utf8.Valid(wholeRunes(head))
}

// wholeRunes returns text without the character that its end may have cut. The first bytes of a file end anywhere, and
// half a character at the end would make a valid text look like no text.
func wholeRunes(text []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if last := text[len(text)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}
