package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"footnote/corpus"
	"footnote/corpus/extract/ooxml"
)

// zipped returns the Magic of a format whose files are ZIP archives with a part of that name, such as "word/" or
// "mimetypeapplication/epub+zip". Where the part's name is not among the first bytes, the file's name decides, unless
// those bytes name a part of another format.
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

// isZIP recognises a ZIP archive that is called one, or has no name that says another kind.
func isZIP(head []byte, name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && (ext == ".zip" || ext == "") &&
		!slices.ContainsFunc(zipParts, func(p string) bool { return bytes.Contains(head, []byte(p)) })
}

func extensionIs(name string, extensions ...string) bool {
	return slices.Contains(extensions, strings.ToLower(path.Ext(name)))
}

// compound returns the Magic of a format whose files are OLE compound files: only names tell them apart.
func compound(extensions ...string) func(head []byte, name string) bool {
	return func(head []byte, name string) bool {
		return bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")) &&
			extensionIs(name, extensions...)
	}
}

// wholeFile makes a fileReader of a reader that takes no pages and no PDFium. A panic in it fails only this file, as
// does one that finds no text.
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
