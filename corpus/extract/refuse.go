package extract

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"footnote/corpus"
)

func isPDF(head []byte) bool { return bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-")) }

// refused are kinds of file that are known and can't be read, by the bytes they begin with.
var refused = []struct{ magic, what, do string }{
	{"PK\x03\x04", "a ZIP archive", "Unpack it and add the files inside."},
	{"PK\x05\x06", "an empty ZIP archive", "Add the documents themselves."},
	{"\x1f\x8b", "a compressed file", "Unpack it and add what is inside."},
	{"BZh", "a compressed file", "Unpack it and add what is inside."},
	{"\xfd7zXZ", "a compressed file", "Unpack it and add what is inside."},
	{"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "Unpack it and add the files inside."},
	{"Rar!", "a RAR archive", "Unpack it and add the files inside."},
	{"\x89PNG", "a picture", "Turn it into a PDF with text recognition (OCR) and add that."},
	{"\xff\xd8\xff", "a picture", "Turn it into a PDF with text recognition (OCR) and add that."},
	{"GIF8", "a picture", "Turn it into a PDF with text recognition (OCR) and add that."},
	{"II*\x00", "a picture", "Turn it into a PDF with text recognition (OCR) and add that."},
	{"MM\x00*", "a picture", "Turn it into a PDF with text recognition (OCR) and add that."},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a file of an old Office version", "Save it as PDF and add that."},
	{"{\\rtf", "a rich text file", "Save it as PDF and add that."},
	{"\x7fELF", "a program", "Add documents only."},
	{"MZ\x90", "a program", "Add documents only."},
}

// office holds the endings of zipped office formats, whose sentence must not speak of ZIP archives.
var office = map[string]string{
	".docx": "Word", ".pptx": "PowerPoint", ".xlsx": "Excel", ".odt": "OpenDocument", ".ods": "OpenDocument",
	".odp": "OpenDocument", ".epub": "EPUB", ".pages": "Pages", ".numbers": "Numbers", ".key": "Keynote",
}

// refusal returns why a file can't be read when its first bytes tell, nil if they don't.
func refusal(f corpus.File, head []byte) *corpus.Failure {
	ext := strings.ToLower(path.Ext(f.Filename))
	for _, kind := range refused {
		if !bytes.HasPrefix(head, []byte(kind.magic)) {
			continue
		}
		if name := office[ext]; name != "" && strings.HasPrefix(kind.magic, "PK") {
			return &corpus.Failure{
				Code: "unsupported", Detail: name + " files can't be read yet. Save it as PDF and add that.",
			}
		}
		not := ""
		if ext == ".pdf" {
			not = ", not a PDF"
		}
		return &corpus.Failure{Code: "unsupported", Detail: "This is " + kind.what + not + ". " + kind.do}
	}
	if ext == ".pdf" || f.MIME == "application/pdf" {
		return &corpus.Failure{
			Code:   "broken",
			Detail: "This file is not a PDF, whatever its name says. Open it in a PDF viewer, save it again and add the new file.",
		}
	}
	return nil
}

func tooLarge(bytes, limit int64) error {
	return &corpus.Failure{Code: "too_large", Detail: fmt.Sprintf(
		"This file's text is %d MB long, more than the %d MB that can be read. Split it and add the parts.", bytes>>20,
		limit>>20)}
}
