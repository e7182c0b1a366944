//go:build unix

package main

import (
	"os"
	"syscall"
)

// tryLock takes the file for this process, until it is closed or the process ends, however it ends.
func tryLock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
