//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a program started by the harness. It is created by startProgram and safe for concurrent use.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
}

// startProgram runs a program, which is killed when ctx ends. Its output is appended to a file. If a first line is
// wanted, it returns after that.
//
// env is the whole environment. The log is opened for appending, so one log has all lives of a replica; its folder
// is the working directory. The first line must contain an address. Otherwise the program is killed, and the error
// contains the end of the log.
func startProgram(
	ctx context.Context, name string, env []string, log string, firstLine bool, args ...string,
) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &process{cmd: exec.CommandContext(ctx, name, args...), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Stderr, p.cmd.Dir = env, out, filepath.Dir(log)
	// It ends with the harness, and an interrupt is sent only to that.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(stdout)
	var line string
	if firstLine {
		line, err = lines.ReadString('\n')
	}
	go func() {
		defer close(p.ended)
		_, _ = io.Copy(io.Discard, lines) // until it ends
		_ = p.cmd.Wait()                  // its exit status is in ProcessState
	}()
	if firstLine && (err != nil || !strings.Contains(line, "http://")) {
		p.killProcess()
		raw, _ := os.ReadFile(log) // for the error message
		return nil, fmt.Errorf("%s printed %q and logged:\n%s", name, line, raw[max(0, len(raw)-4000):])
	}
	return p, nil
}

// killProcess kills the process like a power cut. It returns when the process is gone.
func (p *process) killProcess() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// endProcess stops the process gracefully and returns its exit code, -1 if it had to be killed. The timeout is a
// minute, longer than any shutdown may take.
func (p *process) endProcess(ctx context.Context) int {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(time.Minute):
	case <-ctx.Done():
	}
	p.killProcess()
	return -1
}

// replica is one "footnote serve", restarted repeatedly on the same address and data directory, like by an
// operator. env may be changed between two starts.
type replica struct {
	life                   context.Context // of its programs, which are killed when it ends
	binary, addr, dir, log string
	env                    []string
	links                  map[string]*link

	// mu guards only now.
	mu  sync.Mutex
	now *process // nil while it is down
}

// baseURL returns the URL of the replica itself, without nginx.
func (r *replica) baseURL() string { return "http://" + r.addr }

// startServing starts the server, and returns once it handles requests. It returns an error if the program ends or
// prints no address.
func (r *replica) startServing() error {
	p, err := startProgram(r.life, r.binary, r.env, r.log, true, "serve", "--addr="+r.addr, "--data="+r.dir)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.now = p
	r.mu.Unlock()
	return nil
}

// currentProcess returns the last started process, which may have ended.
func (r *replica) currentProcess() *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// restartInOrder stops it gracefully and starts it with its current settings.
func (r *replica) restartInOrder(ctx context.Context) error {
	if code := r.currentProcess().endProcess(ctx); code != 0 {
		return fmt.Errorf("%s ended with code %d after SIGTERM", r.addr, code)
	}
	return r.startServing()
}

// killServer kills it with SIGKILL. It may be called repeatedly.
func (r *replica) killServer() {
	if p := r.currentProcess(); p != nil {
		p.killProcess()
	}
}

// killWithoutWait is killServer without waiting for the end: for callers that the replica itself waits for.
func (r *replica) killWithoutWait() {
	if p := r.currentProcess(); p != nil {
		_ = p.cmd.Process.Kill() // it may have ended
	}
}

// freeAddr returns a loopback address with an unused port, a fixed one for nginx and a replica's links.
func freeAddr(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// nginxConf returns deploy/nginx.conf with the addresses, names and paths of one machine.
//
// It is the file that operators use, so a change there that breaks streams or retries is detected here. Each
// replacement must match, or it is an error. It is read from the module's root, or from this package's folder in
// tests.
func nginxConf(dir, addr string, replicas []*replica) (string, error) {
	raw, err := os.ReadFile("deploy/nginx.conf")
	if errors.Is(err, os.ErrNotExist) {
		raw, err = os.ReadFile("../../deploy/nginx.conf")
	}
	if err != nil {
		return "", err
	}
	var upstream strings.Builder
	for _, r := range replicas {
		fmt.Fprintf(&upstream, "server %s max_fails=1 fail_timeout=2s;\n", r.addr)
	}
	conf := string(raw)
	for _, change := range [][2]string{
		{"server footnote:8080 resolve max_fails=1 fail_timeout=2s;", upstream.String()},
		{"resolver 127.0.0.11 valid=5s;", ""},
		{"listen 8080;", "listen " + addr + ";"},
		{"worker_processes auto;", "worker_processes 1; daemon off; master_process off;"},
		{"/tmp/", dir + "/"},
	} {
		if !strings.Contains(conf, change[0]) {
			return "", fmt.Errorf("deploy/nginx.conf has no %q", change[0])
		}
		conf = strings.ReplaceAll(conf, change[0], change[1])
	}
	return conf, nil
}

// startNginx runs nginx in front of the replicas and returns its URL. It does not wait until nginx listens: the
// first requests are retried.
func startNginx(ctx context.Context, dir string, replicas []*replica) (*process, string, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx"
	}
	addr, err := freeAddr(ctx)
	if err != nil {
		return nil, "", err
	}
	conf, err := nginxConf(dir, addr, replicas)
	if err != nil {
		return nil, "", err
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		return nil, "", err
	}
	p, err := startProgram(
		ctx, program, os.Environ(), filepath.Join(dir, "nginx.log"), false, "-c", file, "-p", dir, "-e", "stderr",
	)
	if err != nil {
		return nil, "", fmt.Errorf("nginx (make nginx installs it): %w", err)
	}
	return p, "http://" + addr, nil
}
