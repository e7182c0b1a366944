//go:build unix

package datadir

import (
	"errors"
	"os"
	"syscall"
)

// Lock locks the file for this process, until it is closed or the process ends in any way.
func Lock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// FreeSpace returns the number of bytes that can still be written below path.
func FreeSpace(path string) (int64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil //nolint:gosec,unconvert // sizes differ by system
}

// notSynced are the errors of file systems that can't sync directories.
var notSynced = []error{errors.ErrUnsupported, syscall.EINVAL}

// KeepPrivate sets a umask for this process and its children, so that only their user can read new files and
// directories.
func KeepPrivate() { syscall.Umask(0o077) }
