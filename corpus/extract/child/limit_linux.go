package child

import (
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// LimitMemory has the kernel refuse a process, and what it starts from then on, more private memory than most bytes
// each. A process that has ended is no matter. RLIMIT_DATA counts private writable memory, see setrlimit(2). There is a
// moment between the start and the limit, in which a program has read nothing yet.
func LimitMemory(pid int, most uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}, nil)
}

// LimitFiles has the kernel refuse a process, and what it starts from then on, files of more than most bytes.
func LimitFiles(pid int, most uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: most, Max: most}, nil)
}

// LimitTime has the kernel end a process, and what it starts from then on, after so much processor time each.
func LimitTime(pid int, most time.Duration) {
	seconds := uint64(most / time.Second)
	_ = unix.Prlimit(pid, unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds}, nil)
}

// Apart has a command run in a process group of its own, which ends with its context. Without a network, where the
// kernel lets this user have a namespace: Offline says whether it does. The namespaces are of users and networks
// (namespaces(7)); in the new one of users only this user is known, under the same number.
func Apart(cmd *exec.Cmd, offline bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if offline {
		itself := func(id int) []syscall.SysProcIDMap {
			return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
		}
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNET
		cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = itself(unix.Getuid()), itself(unix.Getgid())
	}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
}

// EndGroup ends what is left of the group of a command that was started Apart and has ended itself; nothing is no
// matter.
func EndGroup(pid int) { _ = unix.Kill(-pid, unix.SIGKILL) }

// Offline reports whether Apart can keep a command from the network. Some distributions and containers forbid it. It
// starts a program, so that callers ask once.
func Offline() bool {
	try := exec.Command("/bin/true") //nolint:noctx // it ends at once
	Apart(try, true)
	try.Cancel = nil
	return try.Run() == nil
}
