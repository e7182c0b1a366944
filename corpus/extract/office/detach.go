package office

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/extract"
)

// Limits of a file for rendering. LibreOffice takes about a second and 30 MiB for each MiB of a text's XML.
const (
	maxParts  = 20_000
	maxMarkup = 16 << 20  // bytes of all XML parts, or of an RTF
	maxOther  = 512 << 20 // bytes of all pictures and fonts
	maxToken  = 16 << 20  // bytes of a tag or a text in XML
)

// tooLarge is the failure of a file beyond the limits.
var tooLarge = &chat.Error{Code: chat.CodeUndrawable,
	Message: "This file is too large to render. Its text is shown, and the original can be downloaded."}

// detach writes a copy of a file without references to anything outside of it: files, servers or programs. Of a
// package it keeps XML, which is rewritten, and pictures and fonts of known kinds. Macros and embedded files are
// dropped. It processes streams and buffers one token of XML at a time. It fails with a chat.Error of CodeUndrawable
// for a file that is damaged or beyond the limits.
//
// Pictures of the kinds EMF, WMF and PDF are copied unchanged. Their nested content is left to the confinement.
func detach(from, to string, f extract.Format) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("render an Office file: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("render an Office file: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if f.Name == "rtf" {
		err = detachRTF(in, out)
	} else {
		err = detachPackage(in, out)
	}
	if chat.CodeOf(err) != chat.CodeUndrawable && err != nil {
		return fmt.Errorf("%w (%w)", undrawable, err)
	}
	return err
}

// packageFile is a package that is being rewritten. names holds its members and their folders, in lower case.
type packageFile struct {
	out           *zip.Writer
	names         map[string]bool
	markup, other int64 // remaining limits in bytes
}

// detachPackage rewrites a package of OOXML or OpenDocument.
func detachPackage(in *os.File, out io.Writer) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	archive, err := zip.NewReader(in, info.Size())
	if err != nil {
		return err
	}
	if len(archive.File) > maxParts {
		return tooLarge
	}
	p := packageFile{out: zip.NewWriter(out), names: map[string]bool{}, markup: maxMarkup, other: maxOther}
	var members []*zip.File
	for _, f := range archive.File {
		key := strings.ToLower(f.Name)
		if p.names[key] || !isMember(f.Name) {
			continue
		}
		members = append(members, f)
		for ; key != "." && !p.names[key]; key = path.Dir(key) {
			p.names[key] = true
		}
	}
	for _, f := range members {
		if err := p.rewrite(f); err != nil {
			return fmt.Errorf("part %.200q: %w", f.Name, err)
		}
	}
	return p.out.Close()
}

// isMember reports whether a member may be kept: its path is inside the package, and it is no macro, no web page and
// no window setting.
func isMember(name string) bool {
	if path.Clean("/"+name) != "/"+name || strings.ContainsAny(name, `\:`) {
		return false
	}
	first, _, _ := strings.Cut(strings.ToLower(name), "/")
	return !slices.Contains([]string{"basic", "scripts", "configurations2", "thumbnails"}, first) &&
		!slices.Contains([]string{".htm", ".html", ".xhtml", ".mht"}, strings.ToLower(path.Ext(name)))
}

const headBytes = 512 // bytes of a member that identify its kind

// rewrite rewrites or copies a member of a known kind, and drops others.
func (p *packageFile) rewrite(f *zip.File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	head := make([]byte, headBytes)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	head = head[:n]
	all := io.MultiReader(bytes.NewReader(head), r)
	switch {
	case f.Name == "mimetype":
		// It is the first member and uncompressed, so that the first bytes identify the format.
		w, err := p.out.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store})
		if err == nil {
			_, err = w.Write(head)
		}
		return err
	case isPicture(head) || strings.HasSuffix(f.Name, ".odttf"):
		return p.copy(f.Name, all)
	case isMarkup(head):
		return p.detachPart(f.Name, all)
	}
	return nil
}

// copy copies a member unchanged.
func (p *packageFile) copy(name string, r io.Reader) error {
	w, err := p.out.Create(name)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(r, p.other+1))
	if p.other -= n; err == nil && p.other < 0 {
		return tooLarge
	}
	return err
}

// detachPart rewrites an XML member.
func (p *packageFile) detachPart(name string, r io.Reader) error {
	w, err := p.out.Create(name)
	if err != nil {
		return err
	}
	part := newPart(name, p.has, &limited{r: r, left: &p.markup})
	return part.rewrite(w)
}

// has reports whether the package has a member or a folder of that name.
func (p *packageFile) has(name string) bool { return p.names[strings.ToLower(name)] }

// limited is a reader with a limit that several readers share. Beyond it Read fails with tooLarge.
type limited struct {
	r    io.Reader
	left *int64
}

// Read implements io.Reader.
func (l *limited) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	if *l.left -= int64(n); *l.left < 0 {
		return 0, tooLarge
	}
	return n, err
}

// isPicture reports whether a file begins as a picture or a font of a kind without external references. LibreOffice
// also detects pictures by their first bytes. It detects SVG, which may have references, by that name anywhere in
// them.
func isPicture(head []byte) bool {
	if bytes.Contains(bytes.ToLower(head), []byte("svg")) {
		return false
	}
	for _, magic := range []string{
		"\x89PNG\r\n\x1a\n", "GIF8", "\xff\xd8\xff", "BM", "II*\x00", "MM\x00*", "%PDF-", "VCLMTF",
		"\xd7\xcd\xc6\x9a", "\x01\x00\x09\x00", // WMF
		"\x00\x01\x00\x00", "OTTO", "true", "ttcf", // TrueType and OpenType
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return len(head) > 44 && (string(head[40:44]) == " EMF" ||
		string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP")
}

// isMarkup reports whether a file begins like XML, in any encoding.
func isMarkup(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n\x00\xfe\xff")
	return len(head) > 0 && head[0] == '<'
}
