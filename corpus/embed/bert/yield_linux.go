package bert

import "golang.org/x/sys/unix"

// background is the niceness of a low-priority thread: under contention it gets a tenth of a processor. With less,
// the rest of this process would wait for it on a busy machine, as each garbage collection has to stop it.
const background = 10

// yieldThread lowers the priority of the calling thread: sched(7).
func yieldThread() error {
	return unix.Setpriority(unix.PRIO_PROCESS, 0, background)
}
