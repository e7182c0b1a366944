// Package members takes the files inside other files out of them: what a reader of mails or archives finds is written
// into a directory, from which the library makes documents. It bounds how many there are and how large.
//
// A reader calls New with its file and Add for each file inside, and hands Taken.List on in corpus.Extracted.Members.
// On disk the files are called "1", "2" and so on: the names inside are for people, and never become paths.
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

// Limits of the files inside one. maxDeep counts the mail or archive that a person added as 0. ratio bounds how much
// larger than the file itself its content may be, which ends zip bombs; below enough bytes that is not asked, since
// small files may compress well.
const (
	Most    = 2000
	maxOne  = 256 << 20
	maxAll  = 1 << 30
	maxDeep = 2 // files that lie in so many others are left out
	ratio   = 200
	enough  = 64 << 20 // bytes that any file may unpack to
)

// ErrLeftOut says that a file was left out because it would be one too many, or too large.
var ErrLeftOut = errors.New("the file is left out")

// Taken collects the files inside one. The zero value leaves all of them out. It is not safe for concurrent use.
type Taken struct {
	List []corpus.Member
	dir  string
	left int64 // bytes that may still be written
}

// New begins to take the files inside f. f.Members is the directory, which the library makes and empties; without one,
// and too deep, all files are left out.
func New(f corpus.File) *Taken {
	if f.Members == "" || f.Depth >= maxDeep {
		return &Taken{}
	}
	return &Taken{dir: f.Members, left: min(max(f.Bytes*ratio, enough), maxAll)}
}

// Has reports whether a file of that path was taken. A caller gives a second file of the same name another path, so
// that both are kept.
func (t *Taken) Has(name string) bool {
	name = cleanPath(name)
	return slices.ContainsFunc(t.List, func(m corpus.Member) bool { return m.Path == name })
}

// Add takes a file out: its bytes from r, under a path as people see it. It fails with ErrLeftOut for one beyond the
// limits; what r fails with comes back as it is. A file that turns out too large while it is written is removed again,
// and its bytes are not counted. The size that an archive states is never believed.
func (t *Taken) Add(name string, r io.Reader) error {
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

// cleanPath makes a path relative and takes ".." out of it, with slashes only.
func cleanPath(name string) string {
	return strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
}
