// Package milvustest provides real Milvus servers for tests: those named in the environment, or local ones, which
// it starts from the Python packages that "make milvus" installs, and stops.
package milvustest

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
)

// Kind is a type of Milvus server for tests.
type Kind string

// Standalone is Milvus 2.3, the oldest supported version. Lite is a small server with the API of Milvus 2.4 and
// later.
const (
	Standalone Kind = "Milvus 2.3"
	Lite       Kind = "Milvus Lite"
)

// addressEnv names the variables for external servers, which must be empty or reserved for tests.
var addressEnv = map[Kind]string{Standalone: "FOOTNOTE_TEST_MILVUS_ADDRESS", Lite: "FOOTNOTE_TEST_MILVUS_LITE_ADDRESS"}

// AddressEnv returns the environment variable with the address of a server.
func AddressEnv(kind Kind) string { return addressEnv[kind] }

// dirEnv names the variable for the directory of the Python packages, by default .cache/milvus of this repository.
const dirEnv = "FOOTNOTE_TEST_MILVUS_DIR"

// ErrMissing means that the servers are not installed.
var ErrMissing = errors.New("the Milvus servers for tests are not here: run make milvus, which needs python3 with venv")

//go:embed standalone.py
var standalone string

// Server is a running Milvus.
type Server struct {
	Kind    Kind
	Address string

	dir   string // data directory
	port  int
	stdin io.WriteCloser // the server runs until this is closed, or until this process ends
	shell *exec.Cmd
	pid   int
	most  int64 // peak memory in bytes
}

// Start starts a local server, which the caller closes. It returns ErrMissing without the Python packages.
func Start(ctx context.Context, kind Kind) (*Server, error) {
	home := home()
	if home == "" {
		return nil, ErrMissing
	}
	dir, err := os.MkdirTemp("", "footnote-milvus-*")
	if err != nil {
		return nil, err
	}
	s := &Server{Kind: kind, dir: dir}
	if s.port, err = freePort(ctx); err == nil {
		s.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
		err = s.Run(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// home returns the directory installed by "make milvus"; empty if it is missing.
func home() string {
	dir := os.Getenv(dirEnv)
	for up := "."; dir == "" && len(up) < 40; up = filepath.Join(up, "..") {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			dir = filepath.Join(up, ".cache", "milvus")
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(dir, "ready")); err != nil {
		return ""
	}
	return dir
}

// freePort returns an unused TCP port below the ephemeral range. While the server is down, a client that dials an
// ephemeral port can connect to itself, and the server could not listen there again.
func freePort(ctx context.Context) (port int, err error) {
	for range 20 {
		port = 10_000 + rand.IntN(20_000)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		var l net.Listener
		if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}

// Run starts the server, with its existing data, and returns once it responds. A shell is the parent process of the
// server, see below.
func (s *Server) Run(ctx context.Context) (err error) {
	home := home()
	python := filepath.Join(home, "venv", "bin", "python")
	port := strconv.Itoa(s.port)
	args := []string{
		python, "-m", "milvus_lite", "server", "--data-dir", filepath.Join(s.dir, "data"), "--host", "127.0.0.1",
		"--port", port, "--max-workers", "32",
	}
	if s.Kind == Standalone {
		args = []string{python, "-c", standalone, s.dir, filepath.Join(home, "bin"), port}
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	// The shell kills the server when its input closes, so the server can't outlive this process. The shell ignores
	// signals to the process group, like Ctrl-C. Only Kill keeps the files.
	script := `trap "" HUP INT QUIT TERM; dir=$1; shift; "$@" </dev/null >&2 & echo $!; read -r keep; kill -KILL $!; ` +
		`wait $!; [ -n "$keep" ] || rm -rf "$dir"`
	s.shell = exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh",
		append([]string{"-c", script, "sh", s.dir}, args...)...)
	s.shell.Stderr, s.shell.Dir = log, s.dir
	if s.stdin, err = s.shell.StdinPipe(); err != nil {
		return err
	}
	out, err := s.shell.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.shell.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	if s.pid, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		return err
	}
	return s.wait(ctx)
}

// wait returns once the server responds to requests.
func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	for {
		err := s.answers(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("%s does not start: %w\n%s", s.Kind, err, log[max(0, len(log)-4000):])
		case <-every.C:
		}
	}
}

// answers checks the port, then a connection, then the list of collections: each becomes available after the
// previous one.
func (s *Server) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var dialer net.Dialer
	port, err := dialer.DialContext(ctx, "tcp", s.Address)
	if err != nil {
		return err
	}
	if err := port.Close(); err != nil {
		return err
	}
	c, err := client.NewClient(ctx, client.Config{Address: s.Address})
	if err != nil {
		return err
	}
	_, err = c.ListCollections(ctx)
	return errors.Join(err, c.Close())
}

// Pause suspends the server: connections stay open without responses, like a server that hangs. Resume continues
// it. Pause returns when all threads are stopped.
func (s *Server) Pause() error {
	if err := syscall.Kill(s.pid, syscall.SIGSTOP); err != nil {
		return err
	}
	// the signal is delivered to one thread after another
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); runtime.Gosched() {
		if stopped(s.pid) {
			return nil
		}
	}
	return fmt.Errorf("process %d does not stop", s.pid)
}

// stopped reports whether every thread of a process is stopped. Only Linux reports this.
func stopped(pid int) bool {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(stats) == 0 {
		return runtime.GOOS != "linux"
	}
	for _, stat := range stats {
		raw, err := os.ReadFile(stat)
		if err != nil || !bytes.HasPrefix(raw[bytes.LastIndexByte(raw, ')')+1:], []byte(" T")) {
			return false
		}
	}
	return true
}

// Resume continues a paused server.
func (s *Server) Resume() error { return syscall.Kill(s.pid, syscall.SIGCONT) }

// Kill kills the server like a power cut. It can Run again.
func (s *Server) Kill() error {
	if s.stdin == nil {
		return nil
	}
	_, err := io.WriteString(s.stdin, "keep\n")
	err = errors.Join(err, s.stdin.Close())
	s.stdin = nil
	if waited := s.shell.Wait(); waited != nil {
		if _, ended := errors.AsType[*exec.ExitError](waited); !ended {
			err = errors.Join(err, waited)
		}
	}
	if s.shell.ProcessState != nil {
		// includes the server, which the shell has waited for
		if usage, known := s.shell.ProcessState.SysUsage().(*syscall.Rusage); known {
			s.most = max(s.most, usage.Maxrss<<10)
		}
	}
	return err
}

// Pid returns the process ID of a running server.
func (s *Server) Pid() int { return s.pid }

// Dir returns the data directory.
func (s *Server) Dir() string { return s.dir }

// Memory returns the server's peak memory before it was killed, in bytes.
func (s *Server) Memory() int64 { return s.most }

// Empty deletes all data of a killed server.
func (s *Server) Empty() error {
	if err := os.RemoveAll(s.dir); err != nil {
		return err
	}
	return os.Mkdir(s.dir, 0o700)
}

// Close kills the server and deletes its data.
func (s *Server) Close() error { return errors.Join(s.Kill(), os.RemoveAll(s.dir)) }

var made atomic.Int64

// Collection returns a collection name unique to the test, and drops its collections when the test ends. Servers
// are shared by concurrent tests.
func Collection(t testing.TB, address string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d_%d_%d", os.Getpid(), time.Now().UnixNano(), made.Add(1))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := drop(ctx, address, name); err != nil {
			t.Logf("drop the collections of a test: %v", err)
		}
	})
	return name
}

// drop deletes the alias and the collections with the prefix.
func drop(ctx context.Context, address, prefix string) error {
	c, err := client.NewClient(ctx, client.Config{Address: address})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.DropAlias(ctx, prefix); err != nil && !strings.Contains(err.Error(), "alias") {
		return err
	}
	list, err := c.ListCollections(ctx)
	for _, collection := range list {
		if strings.HasPrefix(collection.Name, prefix+"_") {
			err = errors.Join(err, c.DropCollection(ctx, collection.Name))
		}
	}
	return err
}
