package bert

import "golang.org/x/sys/unix"

// idleThread keeps the calling thread for idle times: sched(7), SCHED_IDLE.
func idleThread() error {
	return unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
}
