// Package folder computes the steps that synchronise a library with a folder. It lists the folder's files, compares
// them with the library's documents and signals changes. It modifies neither.
//
// scan.go lists and hashes files and applies the ignore rules, plan.go compares, notify.go watches for changes. The
// caller executes the steps of a Plan (cmd/footnote, through the API). A link out of the folder is never followed,
// and a file that could not be read never counts as deleted.
package folder

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// A Folder is a directory that is followed. It is not safe for concurrent use.
type Folder struct {
	Dir    string // absolute, without symbolic links
	root   *os.Root
	own    []string          // absolute, without symbolic links: files and folders that are never listed
	hashes map[string]hashed // by path
}

// hashed is a cached hash of a file, with the stamp from when it was read.
type hashed struct {
	stamp  Stamp
	sha256 string
}

// Stamp is a file's size and modification time, which detect a change. A change that keeps both is not detected;
// programs that write files update the time.
type Stamp struct {
	Size     int64
	Modified time.Time
}

// Equal reports whether two stamps are the same.
func (s Stamp) Equal(o Stamp) bool { return s.Size == o.Size && s.Modified.Equal(o.Modified) }

// OpenFolder opens a directory to follow it. Close it. os.Root confines reads to the directory, whatever symbolic
// links it holds, and keeps the same directory if its path is replaced.
func OpenFolder(dir string) (*Folder, error) {
	whole, err := filepath.Abs(dir)
	if err == nil {
		whole, err = filepath.EvalSymlinks(whole)
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(whole)
	if err != nil {
		return nil, err
	}
	return &Folder{Dir: whole, root: root, hashes: map[string]hashed{}}, nil
}

// LeaveOut excludes the program's own files and folders from every listing, at any depth.
func (f *Folder) LeaveOut(paths ...string) { f.own = append(f.own, RealPaths(paths)...) }

// RealPaths returns absolute paths without symbolic links. A file that does not exist yet, such as a settings file,
// is resolved through its folder. Other paths that can't be resolved are omitted.
func RealPaths(paths []string) (real []string) {
	for _, path := range paths {
		whole, err := filepath.Abs(path)
		if err != nil {
			continue
		}
		found, err := filepath.EvalSymlinks(whole)
		if errors.Is(err, fs.ErrNotExist) {
			found, err = filepath.EvalSymlinks(filepath.Dir(whole))
			found = filepath.Join(found, filepath.Base(whole))
		}
		if err == nil {
			real = append(real, found)
		}
	}
	return real
}

// Close closes the directory handle.
func (f *Folder) Close() error { return f.root.Close() }

// Name returns the last part of the folder's path, with which the library's paths of its files begin.
func (f *Folder) Name() string { return filepath.Base(f.Dir) }

// Open opens a file by its path below the folder.
func (f *Folder) Open(name string) (*os.File, error) { return f.root.Open(filepath.FromSlash(name)) }

// Listing is the content of a folder. Paths are relative to the folder and "/"-separated.
type Listing struct {
	Files   map[string]Stamp       // regular files that readable accepts
	Folders map[string]fs.FileInfo // folders that were entered; "." is the folder itself
	Left    []string               // files of unsupported formats
	Skipped []Skipped              // other entries that are not followed, except hidden ones
	Unread  []Unread               // folders and files that could not be read
}

// Skipped is a file, a folder or a link that is not followed, with the reason. The path of a folder ends with "/".
type Skipped struct{ Path, Why string }

// Unread is a folder or a file that could not be read.
type Unread struct {
	Path string
	Err  error
}

// Scan lists the folder without hidden files and without those that its ignore files exclude. Symbolic links are not
// followed. It fails when the folder itself can't be read; errors below it are in the listing. Ignore files are read
// only at the top, before the walk. Hidden files are not reported.
func (f *Folder) Scan(readable func(name string) bool) (*Listing, error) {
	// The path may now be another folder: a disk may have been mounted or unmounted.
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	_ = f.root.Close() // read-only
	f.root = root
	files := root.FS()
	ignored, err := readRules(files)
	if err != nil {
		return nil, err
	}
	l := &Listing{Files: map[string]Stamp{}, Folders: map[string]fs.FileInfo{}}
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && slices.Contains(f.own, filepath.Join(f.Dir, filepath.FromSlash(name))) {
			return l.skip(name, "", entry)
		}
		if err == nil && name != "." {
			if out, by := ignored.ignores(name, entry.IsDir()); out {
				return l.skip(name, by, entry)
			}
		}
		var info fs.FileInfo
		if err == nil && (entry.IsDir() || entry.Type().IsRegular()) {
			info, err = entry.Info()
		}
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			if !os.IsNotExist(err) { // it was removed during the walk
				l.Unread = append(l.Unread, Unread{name, err})
			}
		case entry.IsDir():
			l.Folders[name] = info
		case entry.Type()&fs.ModeSymlink != 0:
			l.Skipped = append(l.Skipped, Skipped{name, "Links are not followed."})
		case info == nil: // not a regular file
		case !readable(name):
			l.Left = append(l.Left, name)
		default:
			l.Files[name] = Stamp{info.Size(), info.ModTime()}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the folder: %w", err)
	}
	return l, nil
}

// skip records an entry that the ignore file by excludes. Hidden entries have no by and are not recorded.
func (l *Listing) skip(name, by string, entry fs.DirEntry) error {
	end, next := "", error(nil)
	if entry.IsDir() {
		end, next = "/", fs.SkipDir
	}
	if by != "" {
		l.Skipped = append(l.Skipped, Skipped{name + end, "It is named in " + by + "."})
	}
	return next
}

// Unknown reports whether the path is, or is below, an entry that could not be read.
func (l *Listing) Unknown(name string) bool {
	for _, hidden := range l.Unread {
		for up := name; up != "."; up = path.Dir(up) {
			if up == hidden.Path {
				return true
			}
		}
	}
	return false
}

// Hash returns the SHA-256 of a file in hexadecimal. It is cached while the file's stamp is the same.
func (f *Folder) Hash(name string, stamp Stamp) (string, error) {
	if known, ok := f.hashes[name]; ok && known.stamp.Equal(stamp) {
		return known.sha256, nil
	}
	file, err := f.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	f.hashes[name] = hashed{stamp, hex.EncodeToString(sum.Sum(nil))}
	return f.hashes[name].sha256, nil
}

// Know caches the hash of a file, unless one is cached, so that the file need not be read.
func (f *Folder) Know(name string, stamp Stamp, sha256 string) {
	if _, ok := f.hashes[name]; !ok {
		f.hashes[name] = hashed{stamp, sha256}
	}
}

// Forget drops cached hashes of files that are no longer in the listing.
func (f *Folder) Forget(l *Listing) {
	for name := range f.hashes {
		if _, ok := l.Files[name]; !ok {
			delete(f.hashes, name)
		}
	}
}

// ignoreFiles are read in this order at the top of a folder; the last matching rule applies.
var ignoreFiles = []string{".gitignore", ".footnoteignore"}

// rule is one line of an ignore file.
type rule struct {
	file    string // the ignore file's name
	pattern string // for doublestar, matched against the path below the folder
	folders bool   // matches folders only
	keep    bool   // negates an earlier rule
}

// rules are the lines of the ignore files, in order. They follow the common part of gitignore(5). A pattern without
// a slash matches at any depth, a slash at the front or in the middle anchors it at the top, a slash at the end
// matches folders only, and “!” negates. Classes and ranges are doublestar's.
type rules []rule

// readRules parses the ignore files at the top of a folder. Missing files are empty.
func readRules(folder fs.FS) (rules, error) {
	var all rules
	for _, name := range ignoreFiles {
		text, err := fs.ReadFile(folder, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		lines := bufio.NewScanner(strings.NewReader(string(text)))
		for lines.Scan() {
			r, ok := parseRule(lines.Text())
			if !ok {
				continue
			}
			r.file = name
			if !doublestar.ValidatePattern(r.pattern) {
				return nil, fmt.Errorf("%s: %q is no pattern", name, lines.Text())
			}
			all = append(all, r)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return all, nil
}

// parseRule parses one line of an ignore file; ok is false for empty lines and comments. A backslash before “#” or
// “!” stays in the pattern, where it escapes the character.
func parseRule(line string) (r rule, ok bool) {
	line = strings.TrimRight(line, " \t\r")
	if line == "" || strings.HasPrefix(line, "#") {
		return r, false
	}
	if line, r.keep = strings.CutPrefix(line, "!"); line == "" {
		return r, false
	}
	line, r.folders = strings.CutSuffix(line, "/")
	line, top := strings.CutPrefix(line, "/")
	if line == "" {
		return r, false
	}
	if !top && !strings.Contains(line, "/") {
		line = "**/" + line
	}
	// git has no alternatives: its braces are literal.
	r.pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line)
	return r, true
}

// ignores reports whether a path below the folder is excluded, and by which ignore file; by is empty for hidden
// files. The caller does not enter an excluded folder. As in git, a file below an excluded folder can't be included
// again.
func (rs rules) ignores(name string, folder bool) (out bool, by string) {
	if strings.HasPrefix(path.Base(name), ".") {
		return true, ""
	}
	for i := len(rs) - 1; i >= 0; i-- {
		if rs[i].folders && !folder {
			continue
		}
		if fits, err := doublestar.Match(rs[i].pattern, name); err == nil && fits {
			return !rs[i].keep, rs[i].file
		}
	}
	return false, ""
}
