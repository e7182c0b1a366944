package main_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/footnote/footnote/corpus/milvus/milvustest"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// binary is the program under test, and compiled the directory of what its PDF reader compiles: both are set by
// TestMain and only read after.
var binary, compiled string

// patience is how long a test waits for what a busy machine may take long for. Nothing is asserted by it.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if err := overlap(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		dir, err := os.MkdirTemp("", "footnote-test-*")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		binary, compiled = filepath.Join(dir, "footnote"), filepath.Join(dir, "compiled")
		if err := build(binary, "grpcnotrace,retrynotrace"); err != nil {
			fmt.Fprintln(os.Stderr, "build footnote:", err)
			return 1
		}
		code := milvustest.Main(m)
		if err := postgrestest.CloseShared(); err != nil {
			fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
			code = max(code, 1)
		}
		return code
	}())
}

// overlap has three tests at once for each processor, unless -parallel says otherwise: most of their time they wait for
// other processes.
func overlap() error {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if chosen {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
}

// build makes the program as it is shipped: static, without the tables for debuggers, and with tags (see the Makefile).
// flags are further ones of go build.
func build(program, tags string, flags ...string) error {
	cmd := exec.Command("go", append(append([]string{"build"}, flags...),
		"-buildvcs=false", "-tags="+tags, "-ldflags=-s -w", "-o", program, ".")...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	return cmd.Run()
}

// newDir returns an empty data directory that shares what the PDF reader compiled.
func newDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	shareCompiled(t, dir)
	return dir
}

// warm has the PDF reader compiled once, and not by every process that reads its first PDF.
var warm = sync.OnceValue(func() error {
	data := filepath.Join(filepath.Dir(compiled), "warm")
	for _, dir := range []string{compiled, filepath.Join(data, "cache")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.Symlink(compiled, filepath.Join(data, "cache", "pdf")); err != nil {
		return err
	}
	cmd := exec.Command(binary, "doctor", "--data="+data)
	cmd.Env = environment(nil)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("doctor: %w\n%s", err, out)
	}
	return nil
})

// shareCompiled lets a data directory use what the PDF reader compiled before.
func shareCompiled(t testing.TB, dir string) {
	t.Helper()
	if err := warm(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "cache"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(compiled, filepath.Join(dir, "cache", "pdf")); err != nil {
		t.Fatal(err)
	}
}

// environment is what a process under test sees: nothing of ours but what a program needs to run.
func environment(extra []string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "TMPDIR=" + os.TempDir()}, extra...)
}

// output is what a process wrote so far.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// server is a running "footnote serve".
type server struct {
	t      testing.TB
	url    string
	dir    string
	banner string
	cmd    *exec.Cmd
	log    *output
	ended  chan struct{} // closed when the process has ended
	env    []string
	key    string // sent with each request; empty for a server without keys

	children []string // ids of the processes that it has started, when they were looked for
}

// serve starts the program on a data directory and waits until it answers. It is killed when the test ends.
func serve(t testing.TB, dir string, env ...string) *server {
	t.Helper()
	return serveAt(t, "127.0.0.1:0", dir, env...)
}

// serveAt is serve on an address of the caller's choice.
func serveAt(t testing.TB, addr, dir string, env ...string) *server {
	t.Helper()
	return serveProgram(t, binary, addr, dir, env...)
}

// serveProgram is serveAt with another version of the program.
func serveProgram(t testing.TB, program, addr, dir string, env ...string) *server {
	t.Helper()
	cmd := exec.Command(program, "serve", "--addr="+addr, "--data="+dir)
	cmd.Env, cmd.Dir = environment(env), filepath.Dir(dir)
	return launch(t, cmd, dir, env...)
}

// launch starts a server by a command and waits until it answers. It is killed when the test ends.
func launch(t testing.TB, cmd *exec.Cmd, dir string, env ...string) *server {
	t.Helper()
	s := &server{t: t, cmd: cmd, dir: dir, log: &output{}, ended: make(chan struct{}), env: env}
	s.cmd.Stderr = s.log
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	s.banner, err = lines.ReadString('\n')
	go func() {
		defer close(s.ended)
		_, _ = io.Copy(io.Discard, lines) // until the process ends
		_ = s.cmd.Wait()                  // how it ended is in ProcessState
	}()
	t.Cleanup(s.clear)
	url := regexp.MustCompile(`http://\S+`).FindString(s.banner)
	if err != nil || url == "" {
		<-s.ended
		t.Fatalf("serve printed %q (%v) and logged:\n%s", s.banner, err, s.log)
	}
	s.url = url
	return s
}

// restart serves the same directory again.
func (s *server) restart() *server {
	s.t.Helper()
	return serve(s.t, s.dir, s.env...)
}

// kill ends the process as a power cut would.
func (s *server) kill() {
	_ = s.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
	<-s.ended
}

// started adds the processes that the server has started to those that the end of the test waits for.
func (s *server) started() {
	// none where there is no such thing
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.cmd.Process.Pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the thread may have ended
		s.children = append(s.children, strings.Fields(string(text))...)
	}
}

// clear ends the process and waits for those that it started, which may be writing to its directory: they end when they
// notice.
func (s *server) clear() {
	s.started()
	s.kill()
	for _, id := range s.children {
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat("/proc/" + id); err != nil {
				break
			}
		}
	}
}

// end asks the process to end and returns its exit code.
func (s *server) end(signal os.Signal) int {
	s.t.Helper()
	s.started()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Fatalf("it did not end after %v:\n%s", signal, s.log)
	}
	return s.cmd.ProcessState.ExitCode()
}

// result is what a finished command left.
type result struct {
	code           int
	stdout, stderr string
}

// command runs the program to its end. dir is where it runs; empty means an empty directory.
func command(t testing.TB, dir string, env []string, args ...string) result {
	t.Helper()
	return commandOf(t, binary, dir, env, args...)
}

// commandOf is command with another version of the program.
func commandOf(t testing.TB, program, dir string, env []string, args ...string) result {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = environment(env), dir, &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// eventually asks again and again until ok, or fails the test with what was wanted.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	late := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// header is a pair for send.
type header [2]string

// reply is a whole answer.
type reply struct {
	status int
	header http.Header
	body   string
}

// send makes a request. body may be nil, a string or a reader.
func (s *server) send(method, path string, body any, headers ...header) reply {
	s.t.Helper()
	r, err := s.try(method, path, body, headers...)
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", method, path, err, s.log)
	}
	return r
}

func (s *server) try(method, path string, body any, headers ...header) (reply, error) {
	req, err := s.request(method, path, body, headers...)
	if err != nil {
		return reply{}, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(raw)}, err
}

func (s *server) request(method, path string, body any, headers ...header) (*http.Request, error) {
	var reader io.Reader
	switch body := body.(type) {
	case string:
		reader = strings.NewReader(body)
	case io.Reader:
		reader = body
	}
	req, err := http.NewRequest(method, s.url+path, reader)
	if err != nil {
		return nil, err
	}
	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.key != "" {
		req.Header.Set("X-API-Key", s.key)
	}
	for _, h := range headers {
		if h[0] == "Host" {
			req.Host = h[1]
		}
		req.Header.Set(h[0], h[1])
	}
	return req, nil
}
