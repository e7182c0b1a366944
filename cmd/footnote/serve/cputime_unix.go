//go:build unix

package serve

import (
	"syscall"
	"time"
)

// processorTime returns the CPU time that the process has used, or 0 if the system does not report it.
func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
