package bert

import "golang.org/x/sys/unix"

// background is the niceness of such a thread: it gets a tenth of a processor that something else needs. Less would let
// the rest of this process wait for it where others keep the machine busy, as each collection of garbage stops it.
const background = 10

// yieldThread has the calling thread give way to others: sched(7).
func yieldThread() error {
	return unix.Setpriority(unix.PRIO_PROCESS, 0, background)
}
