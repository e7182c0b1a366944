package worker

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limitData sets the kernel's limit on this process's private memory. If that fails, watchMemory remains. With the
// race detector no limit is set, since it maps far more than it uses. RLIMIT_DATA counts private writable memory
// (setrlimit(2)), which includes all allocations. It excludes address space that is only reserved, such as
// WebAssembly's.
func limitData() {
	if !raceDetector {
		const most = dataLimit + threadStacks
		_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most})
	}
}

var vmstat = "/proc/vmstat" // a variable for tests

// oomKills returns how many processes of this machine the kernel's out-of-memory killer has ended since boot, 0 if
// unknown. An increase during a worker's life shows that the kernel may have killed it, rather than a person.
func oomKills() int64 {
	raw, err := os.ReadFile(vmstat)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if count, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(count), 10, 64) // 0 if invalid
			return n
		}
	}
	return 0
}

// machineMemory returns the memory in bytes of this machine, or of its cgroup if that is less; 0 if unknown. It
// reads both versions of cgroups, and every ancestor of this process's group, since each may have a limit.
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
				// fails for "max"
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
