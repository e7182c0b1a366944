package corpus

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"footnote/chat"
	"footnote/corpus/text"
)

// sniffBytes is how much of a file decides its kind.
const sniffBytes = 4096

// sniff returns the MIME type of a file by its first bytes and, among kinds of text, by its name. A kind that is not
// read fails with chat.CodeUnsupported: a file is what its bytes are, whatever it is called.
func sniff(head []byte, name string) (string, error) {
	ext := strings.ToLower(path.Ext(name))
	if bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-")) {
		return "application/pdf", nil
	}
	if ext == ".pdf" {
		return "", unsupported("“" + name +
			"” is named .pdf but is not a PDF. Open it in the program it was made with and export it as PDF.")
	}
	kind := http.DetectContentType(head)
	if kind == "application/octet-stream" {
		kind = http.DetectContentType(withoutStrayZeros(head))
	}
	if executable(head) || !strings.HasPrefix(kind, "text/") && !utf16(head) {
		return "", unsupported("“" + name +
			"” is a kind of file that can't be read yet. Markdown, text, HTML and PDF files can: convert it to one of these.")
	}
	switch start := strings.ToLower(string(bytes.TrimLeft(head[:min(len(head), 512)], "\xef\xbb\xbf \t\r\n"))); {
	case ext == ".md" || ext == ".markdown" || ext == ".mdown" || ext == ".mkd":
		return "text/markdown", nil
	case ext == ".html" || ext == ".htm" || ext == ".xhtml" || strings.HasPrefix(start, "<!doctype html") ||
		strings.HasPrefix(start, "<html"):
		return "text/html", nil
	}
	return "text/plain", nil
}

// signatures are the first bytes of binary formats whose files may look like text otherwise.
var signatures = [][]byte{
	[]byte("\x7fELF"), []byte("\xcf\xfa\xed\xfe"), []byte("\xce\xfa\xed\xfe"), []byte("\xca\xfe\xba\xbe"),
	[]byte("\x00asm"), []byte("!<arch>\n"),
	[]byte("dex\n03"), []byte("SQLite format 3\x00"), []byte("\xd0\xcf\x11\xe0"), []byte("7z\xbc\xaf"),
}

// executable reports whether a file begins like a program, a library of one or a database. "MZ" may begin a text as
// well: only a program has a zero byte soon after it.
func executable(head []byte) bool {
	for _, s := range signatures {
		if bytes.HasPrefix(head, s) {
			return true
		}
	}
	return bytes.HasPrefix(head, []byte("MZ")) && bytes.IndexByte(head[:min(len(head), 64)], 0) >= 0
}

// withoutStrayZeros leaves out the zero bytes of a text that has a few. A file that has
// one among its first bytes is no text: the zero is part of a number there.
func withoutStrayZeros(head []byte) []byte {
	if n := bytes.Count(head, []byte{0}); n == 0 || n > max(2, len(head)/100) ||
		bytes.IndexByte(head[:min(len(head), 8)], 0) >= 0 {
		return head
	}
	return bytes.ReplaceAll(head, []byte{0}, nil)
}

func unsupported(sentence string) error {
	return &chat.Error{Code: chat.CodeUnsupported, Message: sentence}
}

// utf16 reports whether head looks like UTF-16 of a Western text without a byte order mark: every second byte is zero.
func utf16(head []byte) bool {
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	half := len(head) / 2
	few, many := min(zeros[0], zeros[1]), max(zeros[0], zeros[1])
	return half > 0 && many*10 >= half*4 && few*20 <= half
}

const (
	maxName = 200  // runes of a file name
	maxPath = 1000 // runes of a path
)

// cleanName returns the last part of a file name without what could lead out of a directory or disturb a display.
func cleanName(name string) string {
	given := lastName(strings.ReplaceAll(name, `\`, "/"))
	name = strings.TrimSpace(strings.Map(cleanRune, strings.ToValidUTF8(given, "")))
	name = strings.TrimRight(name, ". ")
	if strings.Trim(name, ".") == "" {
		return ""
	}
	if ext := path.Ext(name); text.Blank(strings.TrimSuffix(name, ext)) &&
		(name != ext || !strings.HasPrefix(given, ".")) {
		return unnamed + ext // nobody could read what stands before it
	}
	return shortName(name, maxName)
}

// unnamed is how a file is called whose name shows nothing but its extension.
const unnamed = "unnamed"

// Batch are the files of one upload: those of one name that differ are kept apart. The zero value is ready; one
// goroutine uses it at a time.
type Batch struct{ taken map[string]string } // path → SHA256

// apart returns the path under which a file of the batch is stored: its own, or, if another file of the batch or the
// library has that path, its own with a number. A file without a readable name is never the new version of another one.
func (l *Library) apart(ctx context.Context, b *Batch, d Document) (Document, error) {
	free := func(p string) (bool, error) {
		sha, ours := b.taken[p]
		if ours || !nameless(p) {
			return !ours || sha == d.SHA256, nil
		}
		there, err := l.holds(ctx, d, p)
		return !there, err
	}
	base, ext := strings.TrimSuffix(d.Path, path.Ext(d.Path)), path.Ext(d.Path)
	for n := 2; ; n++ {
		ok, err := free(d.Path)
		if err != nil {
			return d, err
		}
		if ok {
			break
		}
		d.Path = base + " (" + strconv.Itoa(n) + ")" + ext
		d.Filename = lastName(d.Path)
		d.Title = d.Filename
	}
	if b.taken == nil {
		b.taken = map[string]string{}
	}
	b.taken[d.Path] = d.SHA256
	return d, nil
}

// nameless reports whether a path ends in a name that was made for want of one.
func nameless(p string) bool { return strings.HasPrefix(lastName(p), unnamed) }

// holds reports whether there is a document of other bytes at a path.
func (l *Library) holds(ctx context.Context, d Document, p string) (bool, error) {
	f := Filter{Text: lastName(p), Limit: 1000}
	for {
		docs, next, err := l.cfg.Documents.List(ctx, chat.Scope{User: d.User}.In(d.Namespace), f)
		if err != nil {
			return false, fmt.Errorf("look for a document of that name: %w", err)
		}
		if slices.ContainsFunc(docs, func(other Document) bool { return other.Path == p && other.SHA256 != d.SHA256 }) {
			return true, nil
		}
		if f.Cursor = next; next == "" {
			return false, nil
		}
	}
}

// cleanPath returns a relative, "/"-separated path of clean names; parts that climb are left out.
func cleanPath(p string) string {
	var parts []string
	for part := range strings.SplitSeq(strings.ReplaceAll(p, `\`, "/"), "/") {
		if part = cleanName(part); part != "" && !strings.HasSuffix(part, ":") {
			parts = append(parts, part)
		}
	}
	whole := strings.Join(parts, "/")
	for utf8.RuneCountInString(whole) > maxPath && len(parts) > 1 {
		parts = parts[1:]
		whole = strings.Join(parts, "/")
	}
	return whole
}

func lastName(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// cleanRune drops control and invisible formatting characters, among them those that turn the writing direction,
// which make names look like others.
func cleanRune(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != 0x200d || r == utf8.RuneError || r == 0x2028 ||
		r == 0x2029 {
		return -1
	}
	return r
}

// shortName cuts a long name in front of its extension.
func shortName(name string, limit int) string {
	r := []rune(name)
	if len(r) <= limit {
		return name
	}
	ext := []rune(path.Ext(name))
	if len(ext) > 10 {
		ext = nil
	}
	return string(r[:limit-len(ext)]) + string(ext)
}

// Blank reports whether nothing of a text is drawn.
func Blank(s string) bool { return text.Blank(s) }
