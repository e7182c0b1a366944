package extract

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// pdfHeaderWithin is the maximum offset in bytes of a PDF header. Mail programs, printers and servers write data
// ahead of it. PDF readers use the same limit: PDF Reference 1.7, appendix H, implementation note 13.
const pdfHeaderWithin = 1024

// pdfStart matches a PDF header and its first object, with comments between them. A text may quote the header alone,
// but hardly one with an object after it, and never at its start.
var pdfStart = regexp.MustCompile(`^%PDF-\d\.\d[^\r\n]*[\r\n]\s*(?:%[^\r\n]*[\r\n]\s*)*\d+[ \t]+\d+[ \t]+obj\b`)

// isPDF reports whether a file is a PDF. If data precedes the header, the file needs the extension ".pdf", or an
// object after the header and bytes that are no UTF-8. Otherwise a text about PDF headers or an archive of PDFs
// would match.
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

// wholeRunes returns text without a character that its end cuts. The first bytes of a file may end inside a
// character, which would make valid UTF-8 look invalid.
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
