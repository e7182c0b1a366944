package extract

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// zipped returns the Magic of a format whose files are ZIP archives with a member of that name, such as "word/" or
// "mimetypeapplication/epub+zip". If the first bytes hold no member name of any format, the file extension decides.
// Packages of OpenDocument and EPUB begin with an uncompressed member "mimetype" for format detection. Its name and
// text are adjacent in the file (OpenDocument 1.3 part 2, §3.3). ECMA-376 defines no order of the members, and some
// programs write long ones first, hence the fallback to the extension.
func zipped(part string, extensions ...string) func(head []byte, name string) bool {
	return func(head []byte, name string) bool {
		if !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
			return false
		}
		if bytes.Contains(head, []byte(part)) {
			return true
		}
		other := slices.ContainsFunc(zipParts, func(p string) bool { return bytes.Contains(head, []byte(p)) })
		return !other && extensionIs(name, extensions...)
	}
}

// zipParts holds the member names that distinguish the ZIP-based formats.
var zipParts = []string{"word/", "xl/", "ppt/", "mimetypeapplication/"}

// isZIP recognises a ZIP archive with the extension ".zip" or none. Other extensions may be ZIP-based formats that
// are unknown here, such as ".jar", whose files are not documents to their users.
func isZIP(head []byte, name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && (ext == ".zip" || ext == "") &&
		!slices.ContainsFunc(zipParts, func(p string) bool { return bytes.Contains(head, []byte(p)) })
}

// extensionIs reports whether a file name has one of these extensions. It ignores case.
func extensionIs(name string, extensions ...string) bool {
	return slices.Contains(extensions, strings.ToLower(path.Ext(name)))
}

// compound returns the Magic of a format whose files are OLE compound files. Only the extension distinguishes them.
// The signature is that of [MS-CFB] §2.2; its first four bytes are enough. Old Word, Excel and PowerPoint files
// begin with it as well. Their content is known only from the directory, which may be anywhere in the file.
func compound(extensions ...string) func(head []byte, name string) bool {
	return func(head []byte, name string) bool {
		return bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")) &&
			extensionIs(name, extensions...)
	}
}

// wholeFile adapts a reader without pages and without PDFium to a fileReader, see readWhole.
func wholeFile(read func(ctx context.Context, f corpus.File) (corpus.Extracted, error)) fileReader {
	return func(
		ctx context.Context, _ *Extractor, f corpus.File, report func(done, total int),
	) (corpus.Extracted, error) {
		return readWhole(ctx, f, report, ooxml.Damaged, func() (corpus.Extracted, error) { return read(ctx, f) })
	}
}
