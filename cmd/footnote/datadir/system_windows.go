package datadir

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Lock locks the file for this process, until it is closed or the process ends in any way.
func Lock(f *os.File) error {
	return windows.LockFileEx(
		windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		new(windows.Overlapped),
	)
}

// FreeSpace returns the number of bytes that can still be written below path.
func FreeSpace(path string) (int64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(free), err
}

// notSynced are the errors of file systems that can't sync directories.
var notSynced = []error{errors.ErrUnsupported, windows.ERROR_ACCESS_DENIED, windows.ERROR_INVALID_HANDLE}

// KeepPrivate does nothing: on Windows a file inherits the permissions of its directory.
func KeepPrivate() {}
