package ocr

import "golang.org/x/sys/unix"

// limitMemory has the kernel refuse a process more private memory than most. A process that has ended is no matter.
func limitMemory(pid int, most uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}, nil)
}
