// Package datadir is the directory that holds everything the program keeps, and the promise that one process at a time
// writes in it.
//
// A process that claims a directory holds a lock on the file "lock" in it, which the system gives back however the
// process ends, and says in "server.json" where it serves: another process that wants the directory finds it there
// ([InUse]). What the program makes there is its owner's alone, whatever the umask says.
package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/footnote/footnote/chat"
)

// What is kept in a data directory by a name that others have to know.
const (
	// Database is the SQLite database; beside it lie its -wal and -shm.
	Database = "footnote.db"
	// Places is the folder with the secrets of places. A backup leaves it out: after it is restored, each place
	// asks for its password again.
	Places = "places"
	// ChosenFolders keeps which folders were chosen on the page.
	ChosenFolders = "folders.json"
)

// Dir is a data directory that this process alone may use.
type Dir struct {
	path string
	lock *os.File
}

// Occupant is what the process that uses a directory says about itself, so that others can find it.
type Occupant struct {
	URL string `json:"url"`
	PID int    `json:"pid"`
}

// InUse says that another process has the directory. Its URL is empty if it does not serve.
type InUse struct{ Occupant }

// Error names the other process and what to do.
func (e *InUse) Error() string {
	if e.URL == "" {
		return fmt.Sprintf(
			"the data directory is in use by another Footnote (process %d); wait for it, or choose another with --data",
			e.PID,
		)
	}
	return fmt.Sprintf(
		"the data directory is in use by the Footnote at %s (process %d); use that one, or choose another with --data",
		e.URL, e.PID,
	)
}

// At is a data directory that is only looked at: nothing is made or claimed, and another process may use it.
func At(path string) *Dir { return &Dir{path: path} }

// Claim makes the directory if need be and takes it until release. It fails with *InUse when another
// process has it.
func Claim(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: fmt.Sprintf(
			"The data directory %s can't be made; choose another with --data", path,
		), Err: err}
	}
	if err := tightenRights(path); err != nil {
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: fmt.Sprintf(
			"The rights of the data directory %s can't be narrowed to this user; mend them or choose another "+
				"with --data",
			path,
		), Err: err}
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: fmt.Sprintf(
			"The data directory %s can't be written; mend its rights or choose another with --data", path,
		), Err: err}
	}
	if err := Lock(lock); err != nil {
		who, readErr := readOccupant(path)
		return nil, errors.Join(&InUse{who}, readErr, lock.Close())
	}
	d := &Dir{path: path, lock: lock}
	return d, d.Announce("")
}

// Announce tells other processes where this one serves. They may read at any moment, so the file changes as a whole.
func (d *Dir) Announce(url string) error {
	raw, err := json.Marshal(Occupant{URL: url, PID: os.Getpid()})
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.Path("server.json.new"), raw, 0o600); err != nil {
		return err
	}
	return os.Rename(d.Path("server.json.new"), d.Path("server.json"))
}

// Path returns a path below the directory.
func (d *Dir) Path(elem ...string) string {
	return filepath.Join(append([]string{d.path}, elem...)...)
}

// Release gives the directory up.
func (d *Dir) Release() error {
	err := os.Remove(d.Path("server.json"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, d.lock.Close())
}

// readOccupant reads which process has a directory and where it serves; empty when it has not said so.
func readOccupant(path string) (Occupant, error) {
	var who Occupant
	raw, err := os.ReadFile(filepath.Join(path, "server.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return who, nil
	}
	if err != nil {
		return who, err
	}
	return who, json.Unmarshal(raw, &who)
}

// tightenRights takes from a data directory, and from what is in it, the rights of everybody but its owner. In a
// directory that was private already nobody could reach what lies deeper, so only its own files are looked at. What
// belongs to another user stays as it is.
func tightenRights(path string) error {
	before, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := NarrowRights(path, before); err != nil {
		return err
	}
	return filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil // gone meanwhile, or another user's
		}
		if err != nil || name == path {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := NarrowRights(name, info); err != nil {
			return err
		}
		if entry.IsDir() && before.Mode().Perm()&0o077 == 0 {
			return fs.SkipDir
		}
		return nil
	})
}

// NarrowRights takes the rights of a file or directory from everybody but its owner. Links and what belongs to another
// user stay as they are.
func NarrowRights(name string, info fs.FileInfo) error {
	if kind := info.Mode().Type(); kind != 0 && kind != fs.ModeDir || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	err := os.Chmod(name, info.Mode().Perm()&0o700)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Sync makes names in a directory durable. Not every file system can.
func Sync(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if slices.ContainsFunc(notSynced, func(known error) bool { return errors.Is(err, known) }) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
