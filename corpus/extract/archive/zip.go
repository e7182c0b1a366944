// Package archive reads ZIP archives. The document is the list of the files inside; each becomes a separate
// document.
//
// It reads only the directory and the files themselves. Nothing is unpacked in place, and no path of the archive is
// used as a path on disk, see package members.
package archive

import (
	"archive/zip"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"golang.org/x/text/encoding/charmap"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/members"
	"github.com/footnote/footnote/text/english"
)

// maxListed is the maximum number of files in an archive. A larger archive fails, because a truncated list would
// look complete. At most members.Most of the listed files are extracted.
const maxListed = 20_000

// Read reads a ZIP archive. It fails with a *corpus.Failure for one that is damaged, empty, encrypted or inside
// another file. A single file that is damaged, encrypted or too large is only noted in the list. Nested archives are
// rejected, since each level multiplies the size to which one small file can expand.
func Read(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	if f.Depth > 0 {
		return corpus.Extracted{}, &corpus.Failure{Code: "unsupported",
			Detail: "Archives inside other files are not supported. Unpack it and add the files inside."}
	}
	archive, err := zip.OpenReader(f.Path)
	if err != nil {
		return corpus.Extracted{}, errors.Join(&corpus.Failure{Code: "broken",
			Detail: "This archive is damaged. Unpack it with another program and add the files inside."}, err)
	}
	defer archive.Close()
	if len(archive.File) > maxListed {
		return corpus.Extracted{}, &corpus.Failure{Code: "too_large",
			Detail: "This archive contains too many files. Split it and add the parts."}
	}
	r := reader{taken: members.New(f)}
	for _, file := range archive.File {
		if err := ctx.Err(); err != nil {
			return corpus.Extracted{}, err
		}
		if err := r.take(file); err != nil {
			return corpus.Extracted{}, err
		}
	}
	return r.result()
}

// reader lists the files of one archive. The three counters are of skipped files, by reason.
type reader struct {
	w                       doctext.Writer
	taken                   *members.Collector
	encrypted, damaged, big int
}

// take extracts a file and lists it. The note after its name is its size, or the reason why it was skipped. I/O
// errors of the target end the reading, because the archive did not cause them. Bit 0 of the flags means that a file
// is encrypted (APPNOTE.TXT §4.4.4).
func (r *reader) take(file *zip.File) error {
	name := fileName(file)
	if name == "" {
		return nil
	}
	note := humanize.IBytes(file.UncompressedSize64)
	err := r.takeBytes(name, file)
	switch {
	case file.Flags&1 != 0:
		r.encrypted++
		note = "protected by a password"
	case errors.Is(err, members.ErrLeftOut):
		r.big++
		note = "left out: too large, or one too many"
	case err != nil:
		if disk, ok := errors.AsType[*fs.PathError](err); ok {
			return disk
		}
		r.damaged++
		note = "damaged"
	}
	r.w.Begin(corpus.Block{Kind: corpus.BlockList, Level: 1})
	r.w.Text(name + " (" + note + ")")
	return nil
}

// takeBytes unpacks one file. An unsupported compression method counts as damage.
func (r *reader) takeBytes(name string, file *zip.File) error {
	if file.Flags&1 != 0 {
		return nil
	}
	body, err := file.Open()
	if err != nil {
		return errors.Join(zip.ErrFormat, err)
	}
	defer body.Close()
	return r.taken.Add(name, body)
}

// fileName returns the path of a file in an archive, empty for files that operating systems add. Names that are
// invalid UTF-8 are decoded as code page 437 (APPNOTE.TXT, appendix D). macOS adds a folder of attributes and hidden
// files, Windows adds previews.
func fileName(file *zip.File) string {
	name := file.Name
	if !utf8.ValidString(name) {
		name, _ = charmap.CodePage437.NewDecoder().String(name) // every byte is valid in it
	}
	if strings.HasSuffix(name, "/") || strings.HasPrefix(name, "__MACOSX/") {
		return ""
	}
	if base := path.Base(strings.ReplaceAll(name, `\`, "/")); strings.HasPrefix(base, ".") || base == "Thumbs.db" {
		return ""
	}
	return doctext.Line(name)
}

// result returns the document with the counts of skipped files in its metadata. It fails for an archive without
// files, and for one whose files are all encrypted.
func (r *reader) result() (corpus.Extracted, error) {
	x := r.w.Result()
	if x.Text == "" {
		return x, &corpus.Failure{Code: "no_text", Detail: "This archive is empty. Add the documents directly."}
	}
	if len(r.taken.List) == 0 && r.encrypted > 0 {
		return corpus.Extracted{}, &corpus.Failure{Code: "encrypted",
			Detail: "This archive is password-protected. Unpack it and add the files inside."}
	}
	x.Members = r.taken.List
	var left []string
	for _, part := range []struct {
		n    int
		what string
	}{{r.encrypted, "password-protected file"}, {r.damaged, "damaged file"}, {r.big, "oversized file"}} {
		if part.n > 0 {
			left = append(left, english.Count(part.n, part.what))
		}
	}
	if len(left) > 0 {
		x.Meta[corpus.MetaLeftOut] = strings.Join(left, ", ")
	}
	return x, nil
}
