package main_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
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

// binary is the program under test, and compiled the cache directory of its PDF parser. Both are set by TestMain
// and only read after.
var binary, compiled string

// patience is the timeout for slow operations on a busy machine. No test asserts a duration with it.
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

// overlap runs three tests in parallel for each CPU, unless -parallel is set: most of their time they wait for
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

// build compiles the program like a release: static, without debug information, and with tags (see the Makefile).
// flags are further ones of go build.
func build(program, tags string, flags ...string) error {
	cmd := exec.Command("go", append(append([]string{"build"}, flags...),
		"-buildvcs=false", "-tags="+tags, "-ldflags=-s -w", "-o", program, ".")...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	return cmd.Run()
}

// newDir returns an empty data directory with the shared cache of the PDF parser.
func newDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	shareCompiled(t, dir)
	return dir
}

// warm compiles the PDF parser once, instead of in every process that parses its first PDF.
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

// shareCompiled links a data directory to the shared cache of the PDF parser.
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

// environment returns a minimal environment for a process under test.
func environment(extra []string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "TMPDIR=" + os.TempDir()}, extra...)
}

// output buffers the output of a process.
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

	children []string // ids of the child processes found so far
}

// serve starts the program on a data directory and waits until it handles requests. It is killed when the test
// ends.
func serve(t testing.TB, dir string, env ...string) *server {
	t.Helper()
	return serveAt(t, "127.0.0.1:0", dir, env...)
}

// serveAt is serve with an address.
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

// launch starts a server by a command and waits until it handles requests. It is killed when the test ends.
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
		_ = s.cmd.Wait()                  // its exit status is in ProcessState
	}()
	t.Cleanup(s.clear)
	url := regexp.MustCompile(`http://\S+`).FindString(s.banner)
	if err != nil || url == "" {
		<-s.ended
		t.Fatalf("banner of serve = %q (%v); log:\n%s", s.banner, err, s.log)
	}
	s.url = url
	return s
}

// restart serves the same directory again.
func (s *server) restart() *server {
	s.t.Helper()
	return serve(s.t, s.dir, s.env...)
}

// kill ends the process like a power cut.
func (s *server) kill() {
	_ = s.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
	<-s.ended
}

// started records the server's child processes, which the test's cleanup waits for.
func (s *server) started() {
	// Empty on systems without it.
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.cmd.Process.Pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the thread may have ended
		s.children = append(s.children, strings.Fields(string(text))...)
	}
}

// clear kills the process and waits for its child processes, which may be writing to its directory.
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

// end signals the process and returns its exit code.
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

// result is the output of a finished command.
type result struct {
	code           int
	stdout, stderr string
}

// command runs the program to its end. dir is the working directory; empty means an empty directory.
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

// eventually polls ok until it is true. On timeout it fails the test with what.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	late := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("timeout while waiting: %s", what)
		}
	}
}

// header is a name and value for send.
type header [2]string

// reply is a complete response.
type reply struct {
	status int
	header http.Header
	body   string
}

// send sends a request. body may be nil, a string or a reader.
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

// Up serves, adds a folder, and opens the page. A second one finds the first.
func TestUpServesFolderAndOpensPage(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the browser is a script that Linux would start")
	}
	bin, papers, data := t.TempDir(), t.TempDir(), ""
	opened := filepath.Join(bin, "opened")
	script := "#!/bin/sh\nprintf '%s\\n' \"$1\" >> " + opened + "\n"
	browser := filepath.Join(bin, "xdg-open")
	if err := os.WriteFile(browser, []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(papers, "roof.md"), []byte("# Roof\n\nIt is sound."), 0o600); err != nil {
		t.Fatal(err)
	}
	// Footnote's own files are never added as documents, wherever they are.
	data = filepath.Join(papers, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	shareCompiled(t, data)
	settings := filepath.Join(papers, "footnote.yaml")
	const own = "openai_api_key: secret\nopenai_base_url: http://localhost:1/v1\nmodel: offline\n"
	if err := os.WriteFile(settings, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(args ...string) (*exec.Cmd, *output) {
		usual := []string{"up", "--data=" + data, "--addr=127.0.0.1:0", "--config=" + settings}
		cmd := exec.Command(binary, append(usual, args...)...)
		out := &output{}
		cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = environment(nil), t.TempDir(), out, out
		cmd.Env = append(cmd.Env, "DISPLAY=:0", "PATH="+bin+":"+os.Getenv("PATH"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
		return cmd, out
	}
	wait := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(patience); !done(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("timeout while waiting: %s", what)
			}
		}
	}
	pages := func() []string {
		raw, _ := os.ReadFile(opened) // missing: no children
		return strings.Fields(string(raw))
	}
	first, said := start(papers)
	wait("the page is opened", func() bool { return len(pages()) == 1 })
	url := pages()[0]
	wait("the folder's document is there", func() bool {
		res, err := http.Get(url + "/documents")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		buf := make([]byte, 64<<10)
		n, _ := res.Body.Read(buf) // a closed stream is one of the endings
		list := string(buf[:n])
		if strings.Contains(list, "footnote.yaml") || strings.Contains(list, "server.json") {
			t.Errorf("documents include Footnote's own files: %s", list)
		}
		return strings.Contains(list, "roof.md")
	})
	if err := os.WriteFile(filepath.Join(papers, "cellar.md"), []byte("# Cellar\n\nIt is dry."), 0o600); err != nil {
		t.Fatal(err)
	}
	second, again := start()
	wait("the page is opened again", func() bool { return len(pages()) == 2 })
	if err := second.Wait(); err != nil || pages()[1] != url || !strings.Contains(again.String(), "already") {
		t.Errorf("%v, %v opened, %s; want the page of the server that runs", err, pages(), again)
	}
	if err := first.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	got := command(t, "", nil, "up", "--data="+data, filepath.Join(papers, "none"))
	if got.code != 1 || !strings.Contains(got.stderr, "none") {
		t.Errorf("a folder that is not there: %d %s, want 1 and its name", got.code, got.stderr)
	}
}

// A command that is interrupted shuts down, releases the directory, and loses no stored data.
func TestInterruptedCommandExitsCleanly(t *testing.T) {
	t.Parallel()
	model := slow(t)
	data := newDir(t)
	cmd := exec.Command(binary, "ask", "Tell me about the roof.", "--data="+data)
	shown := &output{}
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = environment(model.env()), t.TempDir(), shown, shown
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	eventually(t, "the model is asked", func() bool { return len(model.asked()) > 0 })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		_ = cmd.Process.Kill() // the failure is reported
		t.Fatalf("program runs after an interrupt:\n%s", shown)
	}
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(shown.String(), "stopped before the answer was complete") {
		t.Errorf("code %d:\n%s", cmd.ProcessState.ExitCode(), shown)
	}
	s := serve(t, data)
	sessions := loose[struct {
		Sessions []struct {
			Running bool `json:"running"`
		} `json:"sessions"`
	}](t, s.send("GET", "/sessions", nil).body)
	if len(sessions.Sessions) != 1 || sessions.Sessions[0].Running {
		t.Fatalf("sessions: %+v; want 1 session and Sessions[0].Running false", sessions)
	}
}

// newKey creates a user's key with 'footnote key new'.
func newKey(t testing.TB, dir, name string, env ...string) string {
	t.Helper()
	made := command(t, "", env, "key", "new", name, "--data="+dir)
	if made.code != 0 {
		t.Fatalf("key new: exit code %d: %s, want 0", made.code, made.stderr)
	}
	return strings.TrimSpace(made.stdout)
}

// networkAddrs returns address formats, without a port, that other machines can reach.
func networkAddrs(t *testing.T) []string {
	t.Helper()
	all := []string{"0.0.0.0", "", "[::]", "[::ffff:0.0.0.0]"}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range addrs {
		if ip, ok := addr.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			all = append(all, ip.IP.String())
			break
		}
	}
	return all
}

func TestNetworkRequiresKeys(t *testing.T) {
	t.Parallel()
	for _, host := range networkAddrs(t) {
		dir := newDir(t)
		for _, name := range []string{"serve", "doctor"} {
			got := command(t, "", nil, name, "--data="+dir, "--addr="+host+":0")
			text := got.stdout + got.stderr
			if got.code != 1 {
				t.Errorf("%s on %q: exit code %d, want 1:\n%s", name, host, got.code, text)
			}
			for _, want := range []string{
				"footnote key new", "FOOTNOTE_OPEN_TO_NETWORK=true", "--addr 127.0.0.1:8080",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("%s on %q lacks %q:\n%s", name, host, want, text)
				}
			}
		}
	}
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost", "127.8.8.8", "[::ffff:127.0.0.1]"} {
		ln, err := net.Listen("tcp", host+":0")
		if err != nil {
			t.Logf("%s can't be bound here: %v", host, err)
			continue
		}
		_ = ln.Close()
		s := serveAt(t, host+":0", newDir(t))
		if strings.Contains(s.log.String(), "WARN") {
			t.Errorf("got a warning on %s:\n%s", host, s.log)
		}
	}
}

func TestOpenServerWarnsAndKnowsItsNames(t *testing.T) {
	t.Parallel()
	env := []string{"FOOTNOTE_OPEN_TO_NETWORK=true", "FOOTNOTE_ALLOWED_HOSTS=Intranet.example"}
	dir := newDir(t)
	s := serveAt(t, "0.0.0.0:0", dir, env...)
	if log := s.log.String(); !strings.Contains(log, "FOOTNOTE_OPEN_TO_NETWORK") ||
		!strings.Contains(log, "level=WARN") {
		t.Errorf("log lacks the warning:\n%s", log)
	}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	status := func(host string) int { return s.send("GET", "/documents", nil, header{"Host", host}).status }
	for host, want := range map[string]int{
		"localhost:" + port: 200, "127.0.0.1": 200, "intranet.example:" + port: 200, "intranet.example.": 200,
		"evil.example": 403, "10.255.254.253": 403, "localhost.evil.example": 403, "0.0.0.0:" + port: 403,
	} {
		if got := status(host); got != want {
			t.Errorf("Host %s: status = %d, want %d", host, got, want)
		}
	}
	for _, host := range networkAddrs(t)[4:] { // this machine's own addresses
		own := *s
		own.url = "http://" + net.JoinHostPort(host, port)
		if got := own.send("GET", "/documents", nil); got.status != 200 {
			t.Errorf("at its own address %s: status = %d, want 200", host, got.status)
		}
	}
	if got := command(t, "", append(env, "FOOTNOTE_ADDR=0.0.0.0:"+port), "doctor", "--data="+dir); got.code != 0 ||
		!strings.Contains(got.stdout, "everyone who can reach") {
		t.Errorf("doctor: exit code = %d:\n%s%s", got.code, got.stdout, got.stderr)
	}
	key := newKey(t, dir, "anna")
	if got := s.send("GET", "/documents", nil, header{"Host", "intranet.example"}); got.status != 401 {
		t.Errorf("with the first key made, a request without one: status = %d, want 401", got.status)
	}
	if got := s.send("GET", "/documents", nil, header{"Host", "intranet.example"},
		header{"X-API-Key", key}); got.status != 200 {
		t.Errorf("with the first key: status = %d, want 200", got.status)
	}
}

func TestServerWithKeysFileStartsLocked(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	env := []string{"FOOTNOTE_KEYS=" + filepath.Join(t.TempDir(), "keys")}
	s := serveAt(t, "0.0.0.0:0", dir, env...)
	if log := s.log.String(); !strings.Contains(log, "footnote key new NAME") {
		t.Errorf("log lacks the command for the first key:\n%s", log)
	}
	for path, want := range map[string]int{"/documents": 401, "/": 401, "/health": 200, "/readyz": 200} {
		if got := s.send("GET", path, nil); got.status != want {
			t.Errorf("%s before the first key: status = %d, want %d", path, got.status, want)
		}
	}
	if got := command(t, "", env, "doctor", "--data="+dir); got.code != 1 ||
		!strings.Contains(got.stdout, "none exists") {
		t.Errorf("doctor: exit code = %d, want 1:\n%s", got.code, got.stdout)
	}
	key := newKey(t, dir, "anna", env...)
	if got := s.send("GET", "/documents", nil, header{"X-API-Key", key},
		header{"Host", "any.example"}); got.status != 200 {
		t.Errorf("with the first key: status = %d, want 200", got.status)
	}
	if got := command(t, "", env, "doctor", "--data="+dir); got.code != 0 ||
		!strings.Contains(got.stdout, "an API key is required; valid keys: 1") {
		t.Errorf("doctor: exit code = %d, want 0:\n%s", got.code, got.stdout)
	}
}
