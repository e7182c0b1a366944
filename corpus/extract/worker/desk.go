package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/child"
)

// refused is child.Refused but for tests of processes that can't run confined.
var refused = child.Refused

// warnRefused has the process log once that workers are not confined. That is asked only when the first one starts, as
// asking takes a process.
var warnRefused sync.Once

// desk is the directories that a confined worker shares with the server. The server lays each file into one of them,
// which the worker only reads, and takes the files inside it from the other. A nil desk is that of a worker which is
// not confined. It is not safe for concurrent use.
type desk struct {
	dir    string
	laid   int         // files so far
	from   string      // the file that lies there
	info   os.FileInfo // of that
	member string      // where the files inside the last file are wanted; empty: nowhere
}

// newDesk makes a desk in the directory for temporary files.
func newDesk() (*desk, error) {
	dir, err := os.MkdirTemp("", "footnote-worker-")
	if err != nil {
		return nil, err
	}
	d := &desk{dir: dir}
	return d, errors.Join(os.Mkdir(d.in(), 0o700), os.Mkdir(d.out(), 0o700))
}

func (d *desk) in() string  { return filepath.Join(d.dir, "in") }
func (d *desk) out() string { return filepath.Join(d.dir, "out") }

// confine has a worker's command see the desk, its program and the directory of compiled code. Times of mails are
// written in the server's zone. A program with C in it needs its libraries.
func (d *desk) confine(cmd *exec.Cmd, cache string) {
	b := child.Bounds{
		Programs: []string{cmd.Path, "/etc/localtime", "/usr/share/zoneinfo"}, Read: []string{d.in()},
		Write: []string{d.out()},
	}
	if threadStacks > 0 {
		b.Programs = append(b.Programs, child.Programs(cmd.Path)...)
	}
	// Without the directory the worker reports the error when it compiles.
	if cache != "" && os.MkdirAll(cache, 0o700) == nil {
		b.Write = append(b.Write, cache)
	}
	if coverage := os.Getenv("GOCOVERDIR"); coverage != "" {
		b.Write = append(b.Write, coverage)
	}
	cmd.Env = append(cmd.Env, "TMPDIR="+d.out())
	child.Confine(cmd, b)
}

// lay puts a file on the desk, under a name that it keeps as long as the same file is asked for. The same bytes are
// linked where the file system can, and copied where it can't.
func (d *desk) lay(f corpus.File) (corpus.File, error) {
	if d == nil || f.Path == "" {
		return f, nil
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		return f, fmt.Errorf("look at the original: %w", err)
	}
	if d.from != f.Path || !os.SameFile(info, d.info) || info.Size() != d.info.Size() ||
		!info.ModTime().Equal(d.info.ModTime()) {
		if d.laid > 0 {
			if err := os.Remove(d.file()); err != nil {
				return f, err
			}
		}
		d.laid++
		if err := link(f.Path, d.file()); err != nil {
			return f, fmt.Errorf("give a worker the original: %w", err)
		}
		d.from, d.info = f.Path, info
	}
	f.Path = d.file()
	d.member = f.Members
	if f.Members != "" {
		f.Members = d.members()
		return f, errors.Join(os.RemoveAll(d.members()), os.Mkdir(d.members(), 0o700))
	}
	return f, nil
}

func (d *desk) file() string    { return filepath.Join(d.in(), strconv.Itoa(d.laid)) }
func (d *desk) members() string { return filepath.Join(d.out(), "members") }

// link makes to a file of the same bytes.
func link(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// take moves the files inside the last one to where the library wants them. What is no regular file was not made by a
// sound worker.
func (d *desk) take(x *corpus.Extracted) error {
	if d == nil || x == nil || d.member == "" {
		return nil
	}
	for _, m := range x.Members {
		name := filepath.Base(m.File)
		from := filepath.Join(d.members(), name)
		info, err := os.Lstat(from)
		if err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("a file inside another is missing: %w", errors.Join(err, errNoFile))
		}
		if err := os.Rename(from, filepath.Join(d.member, name)); err != nil {
			return fmt.Errorf("take over a file inside another: %w", err)
		}
	}
	return nil
}

var errNoFile = errors.New("not a regular file")

// remove removes the desk.
func (d *desk) remove() error {
	if d == nil {
		return nil
	}
	return os.RemoveAll(d.dir)
}
