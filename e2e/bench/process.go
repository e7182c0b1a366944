package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server under measurement. log buffers its standard error for an error message. It must be read only
// after the process has ended, or if it does not respond.
type process struct {
	cmd *exec.Cmd
	url string
	log *bytes.Buffer
}

// startProgram runs a program that serves on addr and waits until path responds with 200.
//
// It polls every 2 ms with a timeout of 30 seconds, so that a start can be timed with a resolution of about 2 ms.
// env is added to the environment of this process, and takes precedence. The program is killed when ctx ends.
func startProgram(ctx context.Context, addr, path string, env []string, name string, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, name, args...), url: "http://" + addr, log: &bytes.Buffer{}}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = p.log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); <-tick.C {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, http.NoBody)
		if err != nil {
			return nil, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return p, nil
			}
		}
	}
	return nil, errors.Join(fmt.Errorf("%s does not answer: %s", name, p.log), p.stop())
}

// stop stops the process gracefully and waits for it. A non-zero exit code is an error with the program's log, so
// that a scene fails if its server failed at the end. It may be called once.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := p.cmd.Wait(); err != nil && p.cmd.ProcessState.ExitCode() > 0 {
		return fmt.Errorf("%w: %s", err, p.log)
	}
	return nil
}

// cpuTime returns the CPU time used so far, in Linux's resolution of 10 ms. It is the sum of user and system time
// of the process without its children, and 0 if the process has ended. The name in parentheses may contain spaces,
// so fields are counted after it.
func (p *process) cpuTime() time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+2:]))
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// memoryField returns a field of the process's status in bytes: VmRSS is current, RssAnon excludes file pages,
// VmHWM is the peak. It is 0 if the process has ended or has no such field.
func (p *process) memoryField(field string) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
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

// freeAddr returns a loopback address with an unused port. Another program may bind it before the server does; then
// the start and the scene fail.
func freeAddr(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// startModel runs the fake model server with a delay in ms for each token. Negative delays are for each turn; 0 is
// no delay.
func startModel(ctx context.Context, delay int) (*process, error) {
	return startSelf(ctx, "role-model", strconv.Itoa(delay))
}

// startRelay runs the bare relay in front of a model server. It has the same path /chat as Footnote, so that
// askQuestion supports either.
func startRelay(ctx context.Context, model *process) (*process, error) {
	return startSelf(ctx, "role-relay", model.url)
}

// startSelf starts this program in a role on a free address, and waits for its /ready.
func startSelf(ctx context.Context, role, arg string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr(ctx)
	if err != nil {
		return nil, err
	}
	return startProgram(ctx, addr, "/ready", nil, self, role, addr, arg)
}

// startFootnote runs the binary on a data directory. model may be nil: then the offline mode answers.
//
// A key or a model URL in the bench's environment is removed: no account may be charged, and the offline mode must
// stay offline. Only warnings are logged, since an in-memory log costs time. env is last and takes precedence.
func (b *bench) startFootnote(ctx context.Context, data string, model *process, env ...string) (*process, error) {
	addr, err := freeAddr(ctx)
	if err != nil {
		return nil, err
	}
	env = append([]string{
		"FOOTNOTE_DATA=" + data, "FOOTNOTE_ADDR=" + addr, "FOOTNOTE_LOG_LEVEL=warn", "OPENAI_API_KEY=",
		"OPENAI_BASE_URL=",
	}, env...)
	if model != nil {
		env = append(env, "OPENAI_BASE_URL="+model.url+"/v1", "OPENAI_MODEL=bench")
	}
	return startProgram(ctx, addr, "/health", env, b.binary, "serve")
}
