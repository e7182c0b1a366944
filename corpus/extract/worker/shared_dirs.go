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

// refused is child.Refused. Tests replace it to simulate a system without confinement.
var refused = child.Refused

// warnRefused limits the warning that workers are not confined to one per process. The check runs when the first
// worker starts, because it starts a process.
var warnRefused sync.Once

// sharedDirs is the pair of directories that a confined worker shares with the server. The server puts each file into
// the input directory, which is read-only for the worker. It takes the extracted members from the output directory. A
// nil value belongs to an unconfined worker. It is not safe for concurrent use.
type sharedDirs struct {
	dir    string
	files  int         // files so far; the name of the current one
	from   string      // path of the current file
	info   os.FileInfo // of that
	member string      // target directory for members of the last file; empty: none
}

// newSharedDirs creates sharedDirs in the directory for temporary files.
func newSharedDirs() (*sharedDirs, error) {
	dir, err := os.MkdirTemp("", "footnote-worker-")
	if err != nil {
		return nil, err
	}
	d := &sharedDirs{dir: dir}
	return d, errors.Join(os.Mkdir(d.inputDir(), 0o700), os.Mkdir(d.outputDir(), 0o700))
}

func (d *sharedDirs) inputDir() string  { return filepath.Join(d.dir, "in") }
func (d *sharedDirs) outputDir() string { return filepath.Join(d.dir, "out") }

// confine confines a worker's command to the directories, its program and the cache directory of compiled code. Time
// zone data is included, because times of mails are written in the server's zone. A cgo program also needs its
// libraries.
func (d *sharedDirs) confine(cmd *exec.Cmd, cache string) {
	b := child.Bounds{
		Programs: []string{cmd.Path, "/etc/localtime", "/usr/share/zoneinfo"}, Read: []string{d.inputDir()},
		Write: []string{d.outputDir()},
	}
	if threadStacks > 0 {
		b.Programs = append(b.Programs, child.Programs(cmd.Path)...)
	}
	// If the directory can't be made, the worker reports the error when it compiles.
	if cache != "" && os.MkdirAll(cache, 0o700) == nil {
		b.Write = append(b.Write, cache)
	}
	if coverage := os.Getenv("GOCOVERDIR"); coverage != "" {
		b.Write = append(b.Write, coverage)
	}
	cmd.Env = append(cmd.Env, "TMPDIR="+d.outputDir())
	child.Confine(cmd, b)
}

// putFile puts a file into the input directory. The name is stable as long as the same file is requested. It is a hard
// link where the file system supports it, and a copy as a fallback.
func (d *sharedDirs) putFile(f corpus.File) (corpus.File, error) {
	if d == nil || f.Path == "" {
		return f, nil
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		return f, fmt.Errorf("look at the original: %w", err)
	}
	if d.from != f.Path || !os.SameFile(info, d.info) || info.Size() != d.info.Size() ||
		!info.ModTime().Equal(d.info.ModTime()) {
		if d.files > 0 {
			if err := os.Remove(d.file()); err != nil {
				return f, err
			}
		}
		d.files++
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

func (d *sharedDirs) file() string    { return filepath.Join(d.inputDir(), strconv.Itoa(d.files)) }
func (d *sharedDirs) members() string { return filepath.Join(d.outputDir(), "members") }

// link creates to as a hard link or a copy of from.
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

// moveMembers moves the extracted members to the directory of the request. It fails for anything but regular files,
// which only a compromised worker creates.
func (d *sharedDirs) moveMembers(x *corpus.Extracted) error {
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

// remove deletes the directories.
func (d *sharedDirs) remove() error {
	if d == nil {
		return nil
	}
	return os.RemoveAll(d.dir)
}
