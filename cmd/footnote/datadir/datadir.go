// Package datadir manages the directory that holds all data, and ensures that only one process at a time writes to
// it.
//
// A process that claims a directory locks the file "lock" in it; the operating system releases the lock however the
// process ends. It writes its address to "server.json" for other processes that want the directory ([InUse]). Only
// the owner can read the files in it, whatever the umask is.
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
	"github.com/footnote/footnote/text/locale"
)

// The well-known names in a data directory.
const (
	// Database is the SQLite database, with its -wal and -shm files beside it.
	Database = "footnote.db"
	// Places is the folder with the secrets of places. It is not in backups: after a restore, each place asks for
	// its password again.
	Places = "places"
	// ChosenFolders is the file that lists the folders chosen on the page.
	ChosenFolders = "folders.json"
)

// Dir is a data directory that is locked by this process.
type Dir struct {
	path string
	lock *os.File
}

// Occupant identifies the process that uses a directory, so that other processes can find it.
type Occupant struct {
	URL string `json:"url"`
	PID int    `json:"pid"`
}

// InUse means that another process has claimed the directory. Its URL is empty if it does not serve.
type InUse struct{ Occupant }

// Error returns a message with the other process and advice.
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

// At returns a data directory for reading only: nothing is created or locked, and another process may use it.
func At(path string) *Dir { return &Dir{path: path} }

// Claim creates the directory if needed and locks it until release. It fails with *InUse if another process has it.
func Claim(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: locale.Say(
			"The data directory {1} can't be created; choose another with --data", path,
		), Err: err}
	}
	if err := tightenRights(path); err != nil {
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: locale.Say(
			"The permissions of the data directory {1} can't be restricted to this user; fix them or choose "+
				"another with --data",
			path,
		), Err: err}
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: locale.Say(
			"The data directory {1} is not writable; fix its permissions or choose another with --data", path,
		), Err: err}
	}
	if err := Lock(lock); err != nil {
		who, readErr := readOccupant(path)
		return nil, errors.Join(&InUse{who}, readErr, lock.Close())
	}
	d := &Dir{path: path, lock: lock}
	return d, d.Announce("")
}

// Announce writes the server's URL for other processes. They may read at any moment, so the file is replaced
// atomically.
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

// Release unlocks the directory.
func (d *Dir) Release() error {
	err := os.Remove(d.Path("server.json"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, d.lock.Close())
}

// readOccupant reads which process uses a directory and its URL. It is empty if the process has not announced
// itself.
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

// tightenRights removes the permissions of group and others from a data directory and its contents. If the
// directory was private already, deeper files were never accessible, so only its direct entries are changed. Files
// of another user are skipped.
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
			return nil // deleted meanwhile, or owned by another user
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

// NarrowRights removes the permissions of group and others from a file or directory. Links and files of another
// user are skipped.
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

// Sync makes the names in a directory durable. Not every file system supports it.
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
