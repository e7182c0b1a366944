//go:build unix

package datadir

import (
	"errors"
	"os"
	"syscall"
)

// Lock takes the file for this process, until it is closed or the process ends, however it ends.
func Lock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// FreeSpace returns the bytes that may still be written below path.
func FreeSpace(path string) (int64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil //nolint:gosec,unconvert // sizes differ by system
}

// notSynced are the errors of file systems that can't sync directories.
var notSynced = []error{errors.ErrUnsupported, syscall.EINVAL}

// KeepPrivate has this process, and those that it starts, make files and directories that only their user can read.
func KeepPrivate() { syscall.Umask(0o077) }
