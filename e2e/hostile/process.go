//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is the server under attack. It is created by startServer.
type process struct {
	cmd   *exec.Cmd
	url   string
	log   string        // the file of its standard error
	ended chan struct{} // closed when it has ended
}

// startServer runs "footnote serve" on a free port and returns once it has printed its address.
//
// env is the whole environment. Standard error is appended to logFile. The server is killed when this program dies.
// If it prints no address it is stopped, and the error contains the end of its log.
func startServer(ctx context.Context, binary, data, logFile string, env []string) (*process, error) {
	out, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	defer out.Close()
	p := &process{log: logFile, ended: make(chan struct{})}
	// stop kills it, and so does the end of ctx.
	p.cmd = exec.CommandContext(ctx, binary, "serve", "--addr=127.0.0.1:0", "--data="+data)
	p.cmd.Env, p.cmd.Stderr, p.cmd.Dir = env, out, filepath.Dir(logFile)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	go func() {
		defer close(p.ended)
		_, _ = io.Copy(io.Discard, lines) // until the server ends
		_ = p.cmd.Wait()                  // how it ended is in ProcessState
	}()
	at := strings.Index(line, "http://")
	if err != nil || at < 0 {
		p.stopServer()
		return nil, fmt.Errorf("the server printed %q and logged:\n%s", line, p.logTail())
	}
	p.url = strings.TrimRight(strings.Fields(line[at:])[0], "/.")
	return p, nil
}

// isOver reports whether the server has ended, for any reason.
func (p *process) isOver() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// stopServer stops the server gracefully, or kills it after half a minute. It may be called again.
func (p *process) stopServer() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// logTail returns the end of the log, at most 4,000 bytes.
func (p *process) logTail() string {
	raw, _ := os.ReadFile(p.log) // for an error message
	return string(raw[max(0, len(raw)-4000):])
}

// forgetPeak resets VmHWM to the current memory (proc(5), clear_refs). Without it, the peak would be that of the
// start.
func forgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// memoryOf returns a field of /proc/PID/status in bytes: VmRSS or VmHWM; 0 if the process has ended. VmRSS is the
// current resident memory, VmHWM its peak.
func memoryOf(pid int, field string) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// childrenOf returns the running child processes of a process, without their own children.
func childrenOf(pid int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []int
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			out = append(out, child)
		}
	}
	return out
}
