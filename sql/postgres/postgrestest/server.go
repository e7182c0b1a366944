// Package postgrestest provides tests with a real PostgreSQL: the server in FOOTNOTE_TEST_DATABASE_URL, or an own
// one that it starts from the installed programs and stops again.
//
// An own server has its files in a temporary directory and listens on a Unix socket only. It trades durability for
// speed (fsync=off). It never outlives the process that started it: its parent is a shell that waits for a line on
// its input.
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

// urlEnv is the environment variable with the URL of a server to use instead of an own one. Tests use separate
// schemas on it.
const urlEnv = "FOOTNOTE_TEST_DATABASE_URL"

// ErrMissing has advice on how to install PostgreSQL.
var ErrMissing = errors.New("PostgreSQL is not on this machine: install it (apt-get install postgresql), or set " +
	urlEnv + " to a database that tests may write to")

// A Server is a running PostgreSQL that tests share; each creates its own schema. It is safe for concurrent use
// except for Run, Halt and Stop.
type Server struct {
	URL string // as its superuser, or from FOOTNOTE_TEST_DATABASE_URL

	dir   string // of an own server
	bin   string // directory of its programs
	as    *syscall.SysProcAttr
	own   *exec.Cmd
	stdin io.WriteCloser // the server runs until this is closed, or this process ends
	more  []string       // settings as NAME=VALUE
	made  atomic.Int64
}

// Main runs a package's tests with a server, to which server points meanwhile, and returns the exit code. Without
// PostgreSQL the tests are skipped with the reason; in CI they fail.
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

// Start returns a running server. A server from the environment is not pinged.
func Start(ctx context.Context) (*Server, error) {
	if url := os.Getenv(urlEnv); url != "" {
		return &Server{URL: url}, nil
	}
	return StartOwn(ctx)
}

// StartOwn starts an own server, which can be halted, even if the environment configures another. settings, as
// NAME=VALUE, override the defaults, which trade durability for speed. Stop deletes it. Without the programs it
// returns ErrMissing.
//
// It has its own directory and no port, so tests never affect other data.
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

// Run starts an own server, with its previous data if any, and returns once it answers, after a minute at most. The
// settings of StartOwn are last, so they take precedence.
func (s *Server) Run(ctx context.Context) (err error) {
	// The shell stops the server when its input closes, so it never outlives this process.
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

// Fast and Immediate are the ways to halt an own server: after storing all committed data, or at once as in a crash.
// They are names of signals to PostgreSQL's postmaster.
const (
	Fast      = "INT"
	Immediate = "QUIT"
)

// Halt stops an own server, which can Run again, and waits for its end. It is idempotent. Every client loses its
// connection.
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

// programs returns the directory of initdb and postgres, the newest of several.
func programs() string {
	var places []string
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil { // initdb looks for postgres in its own directory
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

// wait returns once the server answers, or after a timeout of a minute.
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

// Pid returns the parent process of an own server; 0 for another one.
func (s *Server) Pid() int {
	if s.own == nil || s.own.Process == nil {
		return 0
	}
	return s.own.Process.Pid
}

// Dir returns the directory of an own server; empty for another one.
func (s *Server) Dir() string { return s.dir }

// Socket returns the Unix socket of an own server; empty for another one.
func (s *Server) Socket() string {
	if s.dir == "" {
		return ""
	}
	return filepath.Join(s.dir, ".s.PGSQL.5432")
}

// Stop stops an own server and deletes its files. It is idempotent, and does nothing for another server.
func (s *Server) Stop() error {
	if s.dir == "" {
		return nil
	}
	return errors.Join(s.Halt(Immediate), os.RemoveAll(s.dir))
}

// Schema creates a schema for one test and returns a URL whose search path begins with it. Names contain the process
// ID, so several packages may test on one server.
func (s *Server) Schema(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), s.made.Add(1))
	s.Exec(t, `CREATE SCHEMA `+name)
	if s.dir == "" { // an own server is deleted with all schemas
		t.Cleanup(func() { s.Exec(t, `DROP SCHEMA `+name+` CASCADE`) })
	}
	separator := "?"
	if strings.Contains(s.URL, "?") {
		separator = "&"
	}
	return s.URL + separator + "search_path=" + url.QueryEscape(name+",public")
}

// Exec runs statements on the server and fails the test on an error. It also works in clean-up, with a cancelled
// test context.
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

// shared is the server that the tests of a process share. It is started for the first test; its error is cached, so
// that further tests fail fast.
var shared struct {
	sync.Mutex
	server *Server
	err    error
}

// Shared returns a server that the tests of a process share: each creates its own schema. CloseShared stops it.
// Without PostgreSQL the test is skipped; in CI it fails.
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

// CloseShared stops the shared server. It is for a TestMain.
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
