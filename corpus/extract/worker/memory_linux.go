package worker

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limitData has the kernel refuse this process more private memory than it may have. Where that fails, watchMemory is
// left. Programs built for finding races map far more than they use: there it is left alone. RLIMIT_DATA counts private
// writable memory (setrlimit(2)), which is what a process allocates; address space that is only reserved, as
// WebAssembly's is, doesn't count.
func limitData() {
	if !raceDetector {
		const most = dataLimit + threadStacks
		_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most})
	}
}

var vmstat = "/proc/vmstat" // tests have another

// oomKills returns how many processes the kernel has killed for want of memory, on the whole machine, since that
// started; 0 if it can't be told. It is read before and after: a rise tells that the kernel, and not a person, has
// killed a worker.
func oomKills() int64 {
	raw, err := os.ReadFile(vmstat)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if count, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(count), 10, 64) // 0 if it is none
			return n
		}
	}
	return 0
}

// machineMemory returns how much memory this machine, or the cgroup that this process is in, has; 0 if it can't be
// told. Both versions of cgroups are looked at, and every group above this process's, since each may have a limit of
// its own.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	memory := int64(math.MaxInt64)
	if unix.Sysinfo(&info) == nil {
		memory = int64(info.Totalram) * int64(info.Unit)
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		groups = nil
	}
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		root, file := "/sys/fs/cgroup", "memory.max"
		switch controllers {
		case "":
		case "memory":
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
			if raw, err := os.ReadFile(path.Join(root, dir, file)); err == nil {
				// else "max"
				if n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && n > 0 {
					memory = min(memory, n)
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	if memory == math.MaxInt64 {
		return 0
	}
	return memory
}
