package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// zipped returns the Magic of a format whose files are ZIP archives with a part of that name, such as "word/" or
// "mimetypeapplication/epub+zip". Where the part's name is not among the first bytes, the file's name decides, unless
// those bytes name a part of another format. Packages of OpenDocument and EPUB begin with an uncompressed member
// "mimetype" for this purpose, whose name and text follow each other in the file (OpenDocument 1.3 part 2, §3.3).
// ECMA-376 asks for no order of the parts, and some programs write long ones ahead: that is where the name of the file
// has to decide.
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

// zipParts are the names by which the formats among ZIP archives are told from each other.
var zipParts = []string{"word/", "xl/", "ppt/", "mimetypeapplication/"}

// isZIP recognises a ZIP archive that is called one, or has no name that says another kind. Other names may say a
// format that is a ZIP archive too and that is not known here, such as ".jar": unpacking that would add files which
// nobody thinks of as documents.
func isZIP(head []byte, name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && (ext == ".zip" || ext == "") &&
		!slices.ContainsFunc(zipParts, func(p string) bool { return bytes.Contains(head, []byte(p)) })
}

// extensionIs reports whether a file's name ends with one of these extensions, in any case of letters.
func extensionIs(name string, extensions ...string) bool {
	return slices.Contains(extensions, strings.ToLower(path.Ext(name)))
}

// compound returns the Magic of a format whose files are OLE compound files: only names tell them apart. The signature
// is that of [MS-CFB] §2.2, of which four bytes are enough. Old Word, Excel and PowerPoint files begin with it as well;
// what is inside would be known only after the directory, which may stand anywhere in the file.
func compound(extensions ...string) func(head []byte, name string) bool {
	return func(head []byte, name string) bool {
		return bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")) &&
			extensionIs(name, extensions...)
	}
}

// wholeFile makes a fileReader of a reader that takes no pages and no PDFium. A panic in it fails only this file, as
// does one that finds no text. Readers below this package are therefore free to index into what they read, and to leave
// the empty text to this place.
func wholeFile(read func(ctx context.Context, f corpus.File) (corpus.Extracted, error)) fileReader {
	return func(
		ctx context.Context, _ *Extractor, f corpus.File, report func(done, total int),
	) (x corpus.Extracted, err error) {
		defer func() {
			if r := recover(); r != nil {
				x, err = corpus.Extracted{}, errors.Join(ooxml.Damaged, fmt.Errorf("panic: %v", r))
			}
		}()
		if x, err = read(ctx, f); err != nil {
			return corpus.Extracted{}, fmt.Errorf("read %s: %w", f.Filename, err)
		}
		if x.Text == "" {
			return corpus.Extracted{}, &corpus.Failure{
				Code: corpus.NoText, Detail: "This file holds no text. Add one that does.",
			}
		}
		if report != nil {
			report(1, 1)
		}
		return x, ctx.Err()
	}
}
