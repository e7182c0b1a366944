// Package folder says what has to be done so that a library follows a folder: it lists the folder's files, compares
// them with the library's documents and tells when the folder changes. It does nothing to either.
//
// scan.go lists and hashes and says what is left out, plan.go compares, notify.go says when to look again. The steps of
// a Plan are done by who called (cmd/footnote, through the API). It must never follow a link out of the folder, and
// never take what could not be looked at for something that is gone.
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

// A Folder is a directory that is followed. One goroutine uses it at a time.
type Folder struct {
	Dir    string // absolute, without symbolic links
	root   *os.Root
	own    []string          // absolute, without symbolic links: files and folders that are never listed
	hashes map[string]hashed // by path
}

// hashed is the content of a file as it was when it was read.
type hashed struct {
	stamp  Stamp
	sha256 string
}

// Stamp tells whether a file may have changed since. A file that changes without changing either is not noticed;
// programs that write files change the time.
type Stamp struct {
	Size     int64
	Modified time.Time
}

// Equal reports whether two stamps are the same.
func (s Stamp) Equal(o Stamp) bool { return s.Size == o.Size && s.Modified.Equal(o.Modified) }

// OpenFolder opens a directory to follow it. Nothing outside of it is read, whatever symbolic links it holds. Close it.
// os.Root holds to the directory, whatever is put in the place of its path meanwhile.
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

// LeaveOut keeps files and folders out of every listing, wherever in the folder they are: those of the program itself.
func (f *Folder) LeaveOut(paths ...string) { f.own = append(f.own, RealPaths(paths)...) }

// RealPaths returns paths as absolute ones without symbolic links. What is not there may come, as a settings file does:
// it has a path if its folder is there.
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

// Close ends the use of the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Name is the last part of the folder's path: the library's paths of its files begin with it.
func (f *Folder) Name() string { return filepath.Base(f.Dir) }

// Open opens a file by its path below the folder.
func (f *Folder) Open(name string) (*os.File, error) { return f.root.Open(filepath.FromSlash(name)) }

// Listing is what a folder holds. Paths are below the folder and "/"-separated.
type Listing struct {
	Files   map[string]Stamp       // regular files that readable accepts
	Folders map[string]fs.FileInfo // that were entered; "." is the folder itself
	Left    []string               // files of kinds that can't be read
	Skipped []Skipped              // what is not followed for another reason, but for hidden files
	Unread  []Unread               // folders and files that could not be looked at
}

// Skipped is a file, a folder or a link that is not followed. The path of a folder ends with "/".
type Skipped struct{ Path, Why string }

// Unread is a folder or a file that could not be looked at.
type Unread struct {
	Path string
	Err  error
}

// Scan lists the folder without hidden files and what its ignore files leave out. Symbolic links are not followed. It
// fails when the folder itself can't be read; what is wrong inside is in the listing. The rules of the ignore files are
// read at the top only, before anything else. What is left out because it is hidden is not told.
func (f *Folder) Scan(readable func(name string) bool) (*Listing, error) {
	// the folder that has this path now may be another one: a disk may have been taken out or put in
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	_ = f.root.Close() // opened for reading
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
			if !os.IsNotExist(err) { // else it went while it was looked at
				l.Unread = append(l.Unread, Unread{name, err})
			}
		case entry.IsDir():
			l.Folders[name] = info
		case entry.Type()&fs.ModeSymlink != 0:
			l.Skipped = append(l.Skipped, Skipped{name, "Links are not followed."})
		case info == nil: // no regular file
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

// skip notes what the file by leaves out; what is hidden is not worth a note.
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

// Unknown reports whether the listing can't tell if there is a file of that path.
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

// Hash returns the SHA-256 of a file in hex, from memory while its stamp is the same.
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

// Know takes the hash of a file as known, unless another one is, so that it need not be read.
func (f *Folder) Know(name string, stamp Stamp, sha256 string) {
	if _, ok := f.hashes[name]; !ok {
		f.hashes[name] = hashed{stamp, sha256}
	}
}

// Forget drops the hashes of files that are no longer in the listing.
func (f *Folder) Forget(l *Listing) {
	for name := range f.hashes {
		if _, ok := l.Files[name]; !ok {
			delete(f.hashes, name)
		}
	}
}

// ignoreFiles are read in this order at the top of a folder; the last rule that fits a path decides.
var ignoreFiles = []string{".gitignore", ".footnoteignore"}

// rule is one line of an ignore file.
type rule struct {
	file    string // that it stands in
	pattern string // of doublestar, against the path below the folder
	folders bool   // fits folders only
	keep    bool   // takes back an earlier rule
}

// rules are the lines of the ignore files, in order. The rules are git's in what most files use (gitignore(5)): no
// slash means at any depth, a slash at the front or in the middle the top, one at the end folders only, “!” takes back.
// Classes and ranges are doublestar's.
type rules []rule

// readRules reads the ignore files at the top of a folder. Missing ones are empty.
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

// parseRule reads one line of an ignore file; ok is false for an empty one and a comment. A backslash before “#” or “!”
// goes to the pattern, where it makes the sign plain.
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
	// git knows no alternatives: its braces stand for themselves
	r.pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line)
	return r, true
}

// ignores reports whether a path below the folder is left out, and which file says so; none for what is hidden. The
// caller does not enter a folder that is left out. As git has it, a file can't be taken back whose folder is left out,
// since that folder is not entered.
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
