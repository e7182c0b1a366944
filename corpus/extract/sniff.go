package extract

import (
	"bytes"
	"cmp"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

// Sniff implements corpus.Formats. It detects the MIME type of a file by its first bytes and, among text formats, by
// its name. It is called during an upload, so that an unsupported file is refused before it is stored. The error is
// a chat.Error of code CodeUnsupported with a message for the user.
func (r Registry) Sniff(head []byte, name string) (mime string, err error) {
	f, refused := r.recogniseFormat(head, name)
	if refused == nil && f.text != nil && !isTextual(head) {
		refused = notText()
	}
	if refused != nil {
		return "", &chat.Error{Code: chat.CodeUnsupported, Message: locale.Say("“{1}” {2}", name, refused.Detail)}
	}
	return f.MIME, nil
}

// notText returns the failure of a binary file of unknown format. Its Detail is a sentence without the subject.
func notText() *corpus.Failure {
	return &corpus.Failure{Code: "unsupported", Detail: locale.Say("contains binary data, not text. {1}", asPDF)}
}

// recogniseFormat detects the format of a file that begins with head. The fallback is text. The Detail of a failure
// is a sentence without the subject. The checks are ordered from certain to uncertain: a magic number; a compound
// file with the extension of a ZIP-based format, which is encrypted ([MS-OFFCRYPTO]); an extension whose magic
// number is missing; another known kind; the extension of a markup format; a text that begins like markup; text.
func (r Registry) recogniseFormat(head []byte, name string) (Format, *corpus.Failure) {
	for _, f := range r {
		if f.Magic != nil && f.Magic(head, name) {
			return f, nil
		}
	}
	named, known := r.ByExtension(name)
	other, isOther := otherKind(head, name)
	switch {
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")) && office[strings.ToLower(path.Ext(name))] != "":
		return Format{}, &corpus.Failure{Code: "encrypted", // Office encrypts its packages inside a compound file
			Detail: "is password-protected. Save a copy without the password and add the copy."}
	case known && named.Magic != nil && isOther:
		return Format{}, &corpus.Failure{Code: "unsupported",
			Detail: locale.Say(
				"{1}: it is {2}. {3}", misnamedDetail(named), other.what, other.advice,
			)}
	case known && named.Magic != nil:
		return Format{}, &corpus.Failure{Code: "broken",
			Detail: locale.Say(
				"{1}. Open it in its original program and export it as {2}.",
				misnamedDetail(named),
				named.Label,
			)}
	case isOther:
		return Format{}, &corpus.Failure{Code: "unsupported",
			Detail: locale.Say(
				"is {1}, which is not supported. {2}", other.what, other.advice,
			)}
	case known && named.HasMarkup(): // the extension identifies the markup
		return named, nil
	}
	start := strings.ToLower(string(bytes.TrimLeft(head[:min(len(head), 512)], "\xef\xbb\xbf \t\r\n")))
	for _, f := range r {
		if f.Begins != nil && f.Begins(start) {
			return f, nil
		}
	}
	return r[len(r)-1], nil
}

// misnamedDetail returns the start of the message for a file whose extension and content disagree.
func misnamedDetail(f Format) string {
	return "is named " + f.Extensions[0] + " but is not " + cmp.Or(f.Called, "a "+f.Label)
}

// other is a known kind of file that can't be read. magic is its prefix, and what completes "This file is". advice
// is a sentence about the user's alternatives.
type other struct{ magic, what, advice string }

const (
	asPDF     = "Save it as PDF and add the new file."
	asImage   = "Save it as PNG or JPEG and add the new file."
	unpack    = "Unpack it and add the files inside."
	documents = "Add documents only."
)

// others are identified by their first bytes. Only kinds that people add by mistake are listed; for any other kind,
// "holds binary data" is enough.
var others = []other{
	{"PK\x03\x04", "a ZIP archive", unpack},
	{"PK\x05\x06", "an empty ZIP archive", "Add the documents themselves."},
	{"\x1f\x8b", "a compressed file", unpack},
	{"BZh", "a compressed file", unpack},
	{"\xfd7zXZ", "a compressed file", unpack},
	{"7z\xbc\xaf", "a 7-Zip archive", unpack},
	{"Rar!", "a RAR archive", unpack},
	{"!<arch>\n", "an archive of programs", documents},
	{"GIF8", "a GIF image", asImage},
	{"\xd0\xcf\x11\xe0", "a file from an old Office version", asPDF},
	{"%!PS-Adobe-", "a PostScript file", asPDF},
	{"\x7fELF", "a program", documents},
	{"\xcf\xfa\xed\xfe", "a program", documents},
	{"\xce\xfa\xed\xfe", "a program", documents},
	{"\xca\xfe\xba\xbe", "a program", documents},
	{"\x00asm", "a program", documents},
	{"dex\n03", "a program", documents},
	{"MZ\x90", "a program", documents},
	{"SQLite format 3\x00", "a database", documents},
}

// office maps the extensions of ZIP-based office formats to names, so that their messages don't mention ZIP
// archives.
var office = map[string]string{
	".docx":    "a Word file",
	".docm":    "a Word file",
	".xlsm":    "an Excel file",
	".pptm":    "a PowerPoint file",
	".pptx":    "a PowerPoint file",
	".xlsx":    "an Excel file",
	".odt":     "an OpenDocument file",
	".ods":     "an OpenDocument file",
	".odp":     "an OpenDocument file",
	".epub":    "an EPUB file",
	".pages":   "a Pages file",
	".numbers": "a Numbers file",
	".key":     "a Keynote file",
}

// newer maps the extensions of old office formats to those of their successors.
var newer = map[string]string{".doc": ".docx", ".dot": ".docx", ".xls": ".xlsx", ".ppt": ".pptx", ".pps": ".pptx"}

// media lists kinds of file by a prefix of the MIME type from http.DetectContentType.
var media = []other{
	{"image/", "an image in another format", asImage},
	{"audio/", "a sound recording", documents},
	{"application/ogg", "a sound recording", documents},
	{"video/", "a video", documents},
	{"font/", "a font", documents},
	{"application/vnd.ms-fontobject", "a font", documents},
}

// heifBrands holds the brands at the start of HEIC and AVIF files, whose container is that of videos.
var heifBrands = map[string]bool{
	"heic": true, "heix": true, "heim": true, "heis": true, "hevc": true, "mif1": true, "msf1": true, "avif": true,
}

// otherKind detects known files that can't be read. A text may begin with the same letters as some of them ("MZ",
// "BM", "OTTO"), but binary files have control characters soon after. http.DetectContentType follows the WHATWG's
// MIME Sniffing Standard, and detects pictures, sounds, videos and fonts. It matches short signatures, so its result
// is used only if head holds control characters. TAR has its signature at byte 257 (POSIX, ustar). HEIC and AVIF
// have theirs at byte 4, after the size of the first box (ISO/IEC 14496-12).
func otherKind(head []byte, name string) (other, bool) {
	i := slices.IndexFunc(others, func(o other) bool { return bytes.HasPrefix(head, []byte(o.magic)) })
	switch {
	case i >= 0:
		o := others[i]
		if what := office[strings.ToLower(path.Ext(name))]; what != "" && strings.HasPrefix(o.magic, "PK") {
			o.what, o.advice = what, asPDF
		}
		if now := newer[strings.ToLower(path.Ext(name))]; now != "" && strings.HasPrefix(o.magic, "\xd0") {
			o.advice = "Save it as " + now + " and add the new file."
		}
		return o, true
	case bytes.HasPrefix(head, []byte("MZ")) && bytes.IndexByte(head[:min(len(head), 64)], 0) >= 0:
		return other{what: "a program", advice: documents}, true
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return other{what: "a TAR archive", advice: unpack}, true
	case len(head) > 12 && string(head[4:8]) == "ftyp" && heifBrands[string(head[8:12])]:
		return other{what: "a HEIC or AVIF image", advice: "Save it as JPEG and add the new file."}, true
	}
	kind := http.DetectContentType(head)
	i = slices.IndexFunc(media, func(o other) bool { return strings.HasPrefix(kind, o.magic) })
	if i < 0 || !slices.ContainsFunc(head, isControl) {
		return other{}, false
	}
	return media[i], true
}

// isTextual reports whether a file that begins with head is text of any encoding. It must accept everything that
// decodeText accepts later. It may also accept a file that decodeText then refuses, because it sees only the
// beginning.
func isTextual(head []byte) bool {
	enc, rest, _ := evidentEncoding(head)
	_, ok := textOnly(rest)
	return enc != nil || ok && !hasMagicNumber(rest)
}

// hasMagicNumber reports whether a file without line feeds has a zero byte among its first bytes, after leading
// zeros. The zero is part of a number there, or ends a type name. Logs have zeros anywhere, and runs of them at the
// start.
func hasMagicNumber(head []byte) bool {
	head = bytes.TrimLeft(head, "\x00")
	return bytes.IndexByte(head[:min(len(head), 8)], 0) >= 0 && bytes.IndexByte(head, '\n') < 0
}

func isLetter(r rune) bool { return unicode.IsLetter(r) }
