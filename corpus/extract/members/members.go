// Package members extracts the files inside other files, such as mail attachments and archive members. It writes
// them to a directory, from which the library makes documents. It bounds their number and size.
//
// A reader calls New with its file and Add for each file inside, and passes Taken.List on in
// corpus.Extracted.Members. On disk the files are named "1", "2" and so on: the names inside are for people, and
// never become paths.
package members

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus"
)

// Limits of the files inside one. maxDeep counts the mail or archive that a person added as 0. ratio is the maximum
// of the unpacked size divided by the file's size, a limit for ZIP bombs. It applies above enough bytes only, since
// small files may compress well.
const (
	Most    = 2000
	maxOne  = 256 << 20
	maxAll  = 1 << 30
	maxDeep = 2 // files at this nesting depth are skipped
	ratio   = 200
	enough  = 64 << 20 // bytes that any file may unpack to
)

// ErrLeftOut reports that a file exceeds the limits on number or size, and was skipped.
var ErrLeftOut = errors.New("the file is left out")

// Collector extracts the files inside one. The zero value skips all of them. It is not safe for concurrent use.
type Collector struct {
	List []corpus.Member
	dir  string
	left int64 // bytes that may still be written
}

// New returns a Taken for the files inside f. f.Members is the directory, which the library makes and empties.
// Without it, or beyond the nesting limit, all files are skipped.
func New(f corpus.File) *Collector {
	if f.Members == "" || f.Depth >= maxDeep {
		return &Collector{}
	}
	return &Collector{dir: f.Members, left: min(max(f.Bytes*ratio, enough), maxAll)}
}

// Has reports whether a file of that path was extracted. A caller chooses another path for a second file of the same
// name, so that both are kept.
func (t *Collector) Has(name string) bool {
	name = cleanPath(name)
	return slices.ContainsFunc(t.List, func(m corpus.Member) bool { return m.Path == name })
}

// Add extracts a file: its bytes from r, under its display path. It fails with ErrLeftOut beyond the limits; errors
// of r are returned unchanged. A file that exceeds a limit while it is written is deleted, and its bytes are not
// counted. The size that an archive declares is not trusted.
func (t *Collector) Add(name string, r io.Reader) error {
	name = cleanPath(name)
	if t.dir == "" || len(t.List) >= Most || name == "" {
		return ErrLeftOut
	}
	file := strconv.Itoa(len(t.List) + 1)
	out, err := os.OpenFile(filepath.Join(t.dir, file), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("take a file out: %w", err)
	}
	limit := min(t.left, maxOne)
	n, err := io.Copy(out, io.LimitReader(r, limit+1))
	if err = errors.Join(err, out.Close()); err == nil && n > limit {
		err = ErrLeftOut
	}
	if err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	t.left -= n
	t.List = append(t.List, corpus.Member{Path: name, File: file})
	return nil
}

// cleanPath returns a relative path with slashes only and without "..".
func cleanPath(name string) string {
	return strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
}
