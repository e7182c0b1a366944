// Package postgrestest gives tests a real PostgreSQL: the one that FOOTNOTE_TEST_DATABASE_URL names, or one of its own
// that it starts from the programs on this machine and stops again.
//
// An own server keeps its files in a temporary directory, listens on a socket in it and on no port, and gives up safety
// for speed (fsync=off). It ends with the process that started it, however that ends: a shell holds it and waits for a
// line on its input.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// urlEnv names the server to use instead of an own one. Tests then share that server with whatever else is in it, each
// in a schema of its own.
const urlEnv = "FOOTNOTE_TEST_DATABASE_URL"

// ErrMissing tells how to get the programs.
var ErrMissing = errors.New("PostgreSQL is not on this machine: install it (apt-get install postgresql), or set " +
	urlEnv + " to a database that tests may write to")

// A Server is a running PostgreSQL that tests share; each makes a schema of its own. It is safe for concurrent use but
// for Run, Halt and Stop.
type Server struct {
	URL string // as its superuser, or as FOOTNOTE_TEST_DATABASE_URL says

	dir   string // of an own server
	bin   string // where its programs are
	as    *syscall.SysProcAttr
	own   *exec.Cmd
	stdin io.WriteCloser // it runs until this is closed, or until this process ends
	more  []string       // settings as NAME=VALUE
	made  atomic.Int64
}

// Main runs a package's tests with a server, which server points to meanwhile, and returns the exit code. Without any
// PostgreSQL the tests are left out, with the reason; in CI they fail.
func Main(m interface{ Run() int }, server **Server) int {
	s, err := Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, ErrMissing) && os.Getenv("CI") == "" {
			return 0
		}
		return 1
	}
	*server = s
	code := m.Run()
	if err := s.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
		return max(code, 1)
	}
	return code
}

// Start returns a running server. One that the environment names is not asked whether it answers.
func Start(ctx context.Context) (*Server, error) {
	if url := os.Getenv(urlEnv); url != "" {
		return &Server{URL: url}, nil
	}
	return StartOwn(ctx)
}

// StartOwn returns a running server of one's own, which can be halted, whatever the environment names. settings, as
// NAME=VALUE, overrule those for tests, which give up safety for speed. Stop removes all of it. A machine without the
// programs gets ErrMissing.
//
// Whatever a test does to it, it does to nobody else's data: it has its own directory and no port.
func StartOwn(ctx context.Context, settings ...string) (_ *Server, err error) {
	bin := programs()
	if bin == "" {
		return nil, ErrMissing
	}
	s := &Server{more: settings}
	if s.dir, err = os.MkdirTemp("", "footnote-postgres-*"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	as, err := unprivileged(s.dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(s.dir, "data")
	initdb := exec.CommandContext(
		ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
		"--locale=C.UTF-8", "--no-sync",
	)
	initdb.SysProcAttr, initdb.Dir = as, s.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	s.bin, s.as = bin, as
	s.URL = "postgres://postgres@/postgres?host=" + url.QueryEscape(s.dir)
	return s, s.Run(ctx)
}

// Run starts an own server, with what it kept if it ran before, and returns once it answers. The settings of StartOwn
// come last, so they count. It waits for a minute at most.
func (s *Server) Run(ctx context.Context) (err error) {
	// The shell ends the server when its input closes: so it can't outlive this process, however that ends.
	args := []string{"-c", `"$@" </dev/null & server=$!; read -r how; kill -"${how:-QUIT}" $server; wait $server`, "sh",
		filepath.Join(s.bin, "postgres"), "-D", filepath.Join(s.dir, "data"), "-k", s.dir, "-c", "listen_addresses=",
		"-c", "fsync=off", "-c", "full_page_writes=off",
		"-c", "max_connections=200", "-c", "shared_buffers=128MB", "-c", "jit=off", "-c", "logging_collector=off",
		"-c", "log_min_messages=fatal"}
	for _, setting := range s.more {
		args = append(args, "-c", setting)
	}
	s.own = exec.CommandContext(context.Background(), "/bin/sh", args...) // Stop ends it
	s.own.SysProcAttr, s.own.Dir = s.as, s.dir
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.own.Stdout, s.own.Stderr = log, log
	if s.stdin, err = s.own.StdinPipe(); err != nil {
		return err
	}
	if err := s.own.Start(); err != nil {
		return err
	}
	return s.wait(ctx)
}

// How an own server may end: after it stored all that was committed, or at once, as in a crash of its processes. They
// are the names of signals that PostgreSQL's postmaster takes.
const (
	Fast      = "INT"
	Immediate = "QUIT"
)

// Halt ends an own server, which can Run again, and returns when it has ended. It may be called when it has ended
// already. Every client loses its connection.
func (s *Server) Halt(how string) error {
	if s.stdin == nil {
		return nil
	}
	_, err := io.WriteString(s.stdin, how+"\n")
	err = errors.Join(err, s.stdin.Close())
	s.stdin = nil
	if waited := s.own.Wait(); waited != nil {
		if _, ended := errors.AsType[*exec.ExitError](waited); !ended {
			err = errors.Join(err, waited)
		}
	}
	return err
}

// programs returns the directory of initdb and postgres, the newest if there are many.
func programs() string {
	var places []string
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil { // initdb looks for postgres beside itself
			path = real
		}
		places = append(places, filepath.Dir(path))
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // only fails for a bad pattern
	for i := range found {
		places = append(places, found[len(found)-1-i])
	}
	for _, dir := range append(places, "/usr/local/bin") {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
			return dir
		}
	}
	return ""
}

// wait returns once the server answers.
func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.URL)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("PostgreSQL does not start: %w\n%s", err, log)
		case <-every.C:
		}
	}
}

// Pid is the parent of an own server's processes, 0 for another one.
func (s *Server) Pid() int {
	if s.own == nil || s.own.Process == nil {
		return 0
	}
	return s.own.Process.Pid
}

// Dir is where an own server keeps everything, empty for another one.
func (s *Server) Dir() string { return s.dir }

// Socket is where an own server listens, empty for another one.
func (s *Server) Socket() string {
	if s.dir == "" {
		return ""
	}
	return filepath.Join(s.dir, ".s.PGSQL.5432")
}

// Stop ends an own server and removes all it kept. It may be called twice, and does nothing to a server of somebody
// else.
func (s *Server) Stop() error {
	if s.dir == "" {
		return nil
	}
	return errors.Join(s.Halt(Immediate), os.RemoveAll(s.dir))
}

// Schema makes a schema for one test and returns the URL of a database whose search path begins with it. Names have the
// process's id, so several packages may test on one server.
func (s *Server) Schema(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), s.made.Add(1))
	s.Exec(t, `CREATE SCHEMA `+name)
	if s.dir == "" { // an own server goes with all it has
		t.Cleanup(func() { s.Exec(t, `DROP SCHEMA `+name+` CASCADE`) })
	}
	separator := "?"
	if strings.Contains(s.URL, "?") {
		separator = "&"
	}
	return s.URL + separator + "search_path=" + url.QueryEscape(name+",public")
}

// Exec runs statements on the server. An error ends the test. It is also for clean-up, when the test's own context is
// over.
func (s *Server) Exec(t testing.TB, statements string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statements); err != nil {
		t.Fatal(err)
	}
}

// shared is the server of all tests of a process that ask for it. It is made when the first test asks, and its error
// is kept, so that not every test waits for one that can't be started.
var shared struct {
	sync.Mutex
	server *Server
	err    error
}

// Shared is a server that the tests of a process share: each makes a schema of its own. CloseShared stops it. Without
// any PostgreSQL the test is skipped; in CI it fails.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = Start(context.WithoutCancel(t.Context()))
	}
	if errors.Is(shared.err, ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(shared.err)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// CloseShared stops the server that tests shared. It is for a TestMain.
func CloseShared() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		return nil
	}
	err := shared.server.Stop()
	shared.server, shared.err = nil, nil
	return err
}
