// Package gittest serves a repository to tests with Git's own HTTP server, git http-backend.
//
// Tests can count the data on the wire (Traffic) or replace responses (BreakWith). Names and settings are
// fixed, independent of the user's Git configuration.
package gittest

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Repository is a served repository, and a clone from which commits are pushed to it. It is for one test. Requests
// run in other goroutines, so their counters are protected by the mutex mu.
type Repository struct {
	Address string   // clone URL
	At      net.Addr // of the server
	Bare    string   // directory of the served repository
	Clone   string

	t     testing.TB
	mu    sync.Mutex
	fails func(w http.ResponseWriter, r *http.Request) bool
	so    Traffic
}

// Traffic counts the requests and responses of a server.
type Traffic struct {
	Asked []string // requested objects
	Times int      // fetch commands
	Sent  int64    // bytes
}

// Serve serves a new repository without commits. Without Git the test is skipped; in CI it fails. options are passed
// to `git init`, such as --object-format=sha256.
func Serve(t testing.TB, options ...string) *Repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git is missing")
		}
		t.Skip("no git: install it")
	}
	dir := t.TempDir()
	r := &Repository{t: t, Bare: filepath.Join(dir, "served", "ada", "book.git"), Clone: filepath.Join(dir, "clone")}
	r.run(dir, "", append(append([]string{"init", "-q", "--bare", "-b", "main"}, options...), r.Bare)...)
	r.Configure("uploadpack.allowFilter", "true")
	r.run(dir, "", append(append([]string{"init", "-q", "-b", "main"}, options...), r.Clone)...)
	r.Git("remote", "add", "origin", r.Bare)
	backend := &cgi.Handler{
		Path:   filepath.Join(r.run(dir, "", "--exec-path"), "git-http-backend"),
		Env:    append(environment(), "GIT_PROJECT_ROOT="+filepath.Join(dir, "served"), "GIT_HTTP_EXPORT_ALL=1"),
		Stderr: io.Discard,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.serve(w, req, backend)
	}))
	t.Cleanup(server.Close)
	r.Address, r.At = server.URL+"/ada/book.git", server.Listener.Addr()
	return r
}

// environment isolates Git from the configuration of the user and sets fixed author names and emails. Dates are not
// fixed, so commit hashes differ between runs.
func environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.org",
	}
}

// serve counts requested objects and sent bytes. Request bodies are small and buffered, as the backend reads them
// again.
func (r *Repository) serve(w http.ResponseWriter, req *http.Request, backend http.Handler) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	if strings.Contains(string(body), "command=fetch") {
		r.so.Times++
	}
	for line := range strings.SplitSeq(string(body), "\n") {
		if _, name, wanted := strings.Cut(line, "want "); wanted {
			r.so.Asked = append(r.so.Asked, name)
		}
	}
	fails := r.fails
	r.mu.Unlock()
	if fails == nil || !fails(w, req) {
		backend.ServeHTTP(&counted{w, r}, req)
	}
}

// counted counts sent bytes.
type counted struct {
	http.ResponseWriter
	r *Repository
}

// Write implements io.Writer.
func (c *counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.r.so.Sent += int64(n)
	return n, err
}

// BreakWith sets a handler that may replace responses; it returns true if it did. nil removes it.
func (r *Repository) BreakWith(fails func(w http.ResponseWriter, req *http.Request) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = fails
}

// Traffic returns and resets the counters.
func (r *Repository) Traffic() Traffic {
	r.mu.Lock()
	defer r.mu.Unlock()
	so := r.so
	r.so = Traffic{}
	return so
}

// Configure sets a setting of the served repository.
func (r *Repository) Configure(name, value string) { r.run(r.Bare, "", "config", name, value) }

// Write writes files into the clone.
func (r *Repository) Write(files map[string]string) {
	r.t.Helper()
	for name, text := range files {
		file := filepath.Join(r.Clone, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

// Push commits the content of the clone and pushes it. It pushes with force, so that a test can remove commits.
func (r *Repository) Push() (commit string) {
	r.t.Helper()
	r.Git("add", "-A")
	r.Git("commit", "-q", "--allow-empty", "-m", "Change")
	r.Git("push", "-q", "--force", "origin", "HEAD")
	return r.Git("rev-parse", "HEAD")
}

// Git runs a command in the clone and returns its output without the trailing newline.
func (r *Repository) Git(arguments ...string) string {
	r.t.Helper()
	return r.run(r.Clone, "", arguments...)
}

// Make creates an object in the served repository and returns its hash. The content need not be well-formed
// (--literally), for tests of damaged repositories.
func (r *Repository) Make(kind, content string) string {
	r.t.Helper()
	return r.run(r.Bare, content, "hash-object", "-w", "--literally", "-t", kind, "--stdin")
}

// Serving runs a command in the served repository.
func (r *Repository) Serving(arguments ...string) string {
	r.t.Helper()
	return r.run(r.Bare, "", arguments...)
}

// run runs Git in a directory with an input and returns its output without the trailing newline. A failed command
// fails the test with its error output.
func (r *Repository) run(dir, input string, arguments ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(r.t.Context()), "git", arguments...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, environment(), strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(arguments, " "), err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}
