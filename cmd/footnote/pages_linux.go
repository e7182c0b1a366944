package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// dropProgramPages takes the pages of the program's own file out of this process: its start touches most of them, serving a few. They
// stay in the system's cache and come back when they are used. Only ranges that can't be written and hold nothing that was changed
// in memory are dropped; a failure leaves them where they are.
func dropProgramPages() {
	for _, r := range programRanges() {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, r[0], r[1]-r[0], syscall.MADV_DONTNEED) // best effort
	}
}

// programRanges finds the unchanged read-only ranges of memory that are mapped from the program's file.
func programRanges() (ranges [][2]uintptr) {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer f.Close()
	var at [2]uintptr // 0, 0: not a range of the program
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		switch fields := strings.Fields(line); {
		case len(fields) >= 5 && strings.Contains(fields[0], "-"):
			at = [2]uintptr{}
			if len(fields) == 6 && fields[5] == program && fields[1][1] == '-' {
				at = hexRange(fields[0])
			}
		case len(fields) == 3 && fields[0] == "Anonymous:" && fields[1] == "0" && at[1] > at[0]:
			ranges = append(ranges, at)
		}
	}
	return ranges
}

// processorTime is what the process has used so far.
func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// hexRange reads "00400000-02ca1000"; it is empty if it can't be read.
func hexRange(s string) [2]uintptr {
	from, to, _ := strings.Cut(s, "-")
	a, err := strconv.ParseUint(from, 16, 64)
	b, bad := strconv.ParseUint(to, 16, 64)
	if err != nil || bad != nil {
		return [2]uintptr{}
	}
	return [2]uintptr{uintptr(a), uintptr(b)}
}
