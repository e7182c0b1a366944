//go:build unix

package serve

import (
	"syscall"
	"time"
)

// processorTime is what the process has used so far, and 0 when the system does not say.
func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
