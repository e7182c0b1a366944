package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"footnote/chat"
)

// directory is a data directory that this process alone may use.
type directory struct {
	path string
	lock *os.File
}

// occupant is what the process that uses a directory says about itself, so that others can find it.
type occupant struct {
	URL string `json:"url"`
	PID int    `json:"pid"`
}

// errInUse says that another process has the directory. occupant.URL is empty if it does not serve.
type errInUse struct{ occupant }

// Error names the other process and what to do.
func (e *errInUse) Error() string {
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

// claimDirectory makes the directory if need be and takes it until release. It fails with *errInUse when another
// process has it.
func claimDirectory(path string) (*directory, error) {
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
	if err := tryLock(lock); err != nil {
		who, readErr := readOccupant(path)
		return nil, errors.Join(&errInUse{who}, readErr, lock.Close())
	}
	d := &directory{path: path, lock: lock}
	return d, d.announceURL("")
}

// announceURL tells other processes where this one serves. They may read at any moment, so the file changes as a whole.
func (d *directory) announceURL(url string) error {
	raw, err := json.Marshal(occupant{URL: url, PID: os.Getpid()})
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.filePath("server.json.new"), raw, 0o600); err != nil {
		return err
	}
	return os.Rename(d.filePath("server.json.new"), d.filePath("server.json"))
}

// filePath returns a path below the directory.
func (d *directory) filePath(elem ...string) string {
	return filepath.Join(append([]string{d.path}, elem...)...)
}

// releaseDirectory gives the directory up.
func (d *directory) releaseDirectory() error {
	err := os.Remove(d.filePath("server.json"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, d.lock.Close())
}

// readOccupant reads which process has a directory and where it serves; empty when it has not said so.
func readOccupant(path string) (occupant, error) {
	var who occupant
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
	if err := narrowRights(path, before); err != nil {
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
		if err := narrowRights(name, info); err != nil {
			return err
		}
		if entry.IsDir() && before.Mode().Perm()&0o077 == 0 {
			return fs.SkipDir
		}
		return nil
	})
}

// narrowRights takes the rights of a file or directory from everybody but its owner. Links and what belongs to another
// user stay as they are.
func narrowRights(name string, info fs.FileInfo) error {
	if kind := info.Mode().Type(); kind != 0 && kind != fs.ModeDir || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	err := os.Chmod(name, info.Mode().Perm()&0o700)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
