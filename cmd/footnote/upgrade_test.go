//go:build upgrade

package main_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

const steps = "sql/postgres/migrations"

// git runs git in this repository.
func git(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v, want no error", strings.Join(args, " "), err)
	}
	return out
}

// olderProgram builds the last version before the newest schema migration, from this repository's history. It uses
// today's modules, so that nothing is downloaded. replaced is true if that migration declares the older version
// incompatible.
func olderProgram(t *testing.T) (program string, replaced bool) {
	t.Helper()
	added := strings.TrimSpace(string(git(t, "log", "-1", "--diff-filter=A", "--format=%H", "--", steps+"/*.sql")))
	step := git(t, "show", added, "--format=", "--", steps)
	replaced = bytes.Contains(step, []byte("\n+-- min_compatible: "))
	if shallow := strings.TrimSpace(string(git(t, "rev-parse", "--is-shallow-repository"))); added == "" ||
		shallow == "true" {
		t.Fatal("history of the repository is incomplete: fetch all of it")
	}
	dir := t.TempDir()
	old := tar.NewReader(bytes.NewReader(git(t, "archive", added+"^")))
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for {
		header, err := old.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(old)
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeDir {
			err = root.MkdirAll(filepath.Clean(header.Name), 0o700)
		} else if header.Typeflag == tar.TypeReg {
			err = root.WriteFile(header.Name, raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	before, err := root.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	module, _, _ := bytes.Cut(before, []byte("\n")) // its path may have been another one
	for _, name := range []string{"go.mod", "go.sum"} {
		raw, err := os.ReadFile(filepath.Join("../..", name))
		if name == "go.mod" {
			_, rest, _ := bytes.Cut(raw, []byte("\n"))
			raw = slices.Concat(module, []byte("\n"), rest)
		}
		if err == nil {
			err = root.WriteFile(name, raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const replacement = "corpus/milvus/grpcretry" // go.mod names it
	if _, err := os.Stat(filepath.Join(dir, replacement)); errors.Is(err, os.ErrNotExist) {
		if err := os.CopyFS(filepath.Join(dir, replacement),
			os.DirFS(filepath.Join("../..", replacement))); err != nil {
			t.Fatal(err)
		}
	}
	program = filepath.Join(dir, "footnote-before")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", program, "./cmd/footnote")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // the test itself may be built with the race detector
	build.Dir = dir
	begun := time.Now()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the previous version: %v\n%s", err, out)
	}
	t.Logf("built the version before %.12s in %s", added, time.Since(begun).Round(time.Second))
	return program, replaced
}

// seesEvent streams the events of a run at a server, after a number, until the wanted one.
func (s *server) seesEvent(run started, after string, want func(event) bool) {
	s.t.Helper()
	st, err := s.open("GET", run.Events, nil, header{"Last-Event-ID", after})
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.close()
	late := time.AfterFunc(patience, st.close)
	defer late.Stop()
	for {
		ev, err := st.next()
		if err != nil {
			s.t.Fatalf("%s: the stream ended with %v\n%s", s.url, err, s.log)
		}
		if want(ev) {
			return
		}
	}
}

func TestOlderVersionRunsBesideCurrent(t *testing.T) {
	t.Parallel()
	before, replaced := olderProgram(t)
	if replaced {
		testReplacing(t, before)
		return
	}
	model := newModel(t, scripted.Config{Delay: time.Millisecond, Tokens: 40})
	var mu sync.Mutex
	gate := make(chan struct{})
	shut := func() { mu.Lock(); defer mu.Unlock(); gate = make(chan struct{}) }
	open := func() {
		mu.Lock()
		defer mu.Unlock()
		select {
		case <-gate:
		default:
			close(gate)
		}
	}
	t.Cleanup(open)
	model.onBytes = func(int) {
		mu.Lock()
		wait := gate
		mu.Unlock()
		<-wait
	}
	env := append(model.env(), "DATABASE_URL="+postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://"+t.TempDir())
	serveOld := func() *server { return serveProgram(t, before, "127.0.0.1:0", newDir(t), env...) }
	begins := func(ev event) bool { return ev.name == string(chat.KindRunStarted) }
	done := func(status chat.RunStatus) func(event) bool {
		return func(ev event) bool {
			if ev.name != string(chat.KindRunDone) {
				return false
			}
			if got := loose[chat.RunDone](t, ev.data).Status; got != status {
				t.Errorf("a run ended as %s, want %s: %s", got, status, ev.data)
			}
			return true
		}
	}
	found := func(s *server, words string) {
		t.Helper()
		eventually(t, words+" is found at "+s.url, func() bool { return s.search(words).TotalResults > 0 })
	}

	old := serveOld()
	first := old.add(books[0])[0]
	held, stopped := old.begin("What is the condition of the roof?"), old.begin("What is the rent?")
	old.seesEvent(held, "0", begins)

	current := serve(t, newDir(t), env...) // it migrates the schema while the old one runs
	current.seesEvent(held, "0", begins)
	if r := current.send("GET", "/documents/"+first+"/file", nil); r.status != http.StatusOK ||
		r.body != books[0].body {
		t.Errorf("file of the old server from this one: %d %.200s; want %d and %.200s",
			r.status, r.body, http.StatusOK, books[0].body)
	}
	found(current, "slates missing")

	second := old.add(books[1])[0] // on a schema newer than the program
	found(current, "900 pounds")
	third := current.add(books[2])[0]
	found(old, "the miller wrote")
	for _, s := range []*server{old, current} {
		for id, body := range map[string]string{second: books[1].body, third: books[2].body} {
			if r := s.send("GET", "/documents/"+id+"/file", nil); r.status != http.StatusOK || r.body != body {
				t.Errorf("%s at %s: %d %.200s; want %d and %.200s", id, s.url, r.status, r.body, http.StatusOK, body)
			}
		}
	}

	if r := old.send("POST", "/agent/runs/"+stopped.RunID+"/cancel", ""); r.status >= 300 {
		t.Errorf("stop a run of the old one's: %d %s, want less than 300", r.status, r.body)
	}
	current.seesEvent(stopped, "1", done(chat.RunCancelled))
	mine := current.begin("What did the miller write on Monday?")
	old.seesEvent(mine, "0", begins)
	if r := current.send("POST", "/agent/runs/"+mine.RunID+"/cancel", ""); r.status >= 300 {
		t.Errorf("stop a run of this one's: %d %s, want less than 300", r.status, r.body)
	}
	old.seesEvent(mine, "1", done(chat.RunCancelled))

	open()
	current.seesEvent(held, "1", done(chat.RunCompleted))
	if there, here := old.follow(held.RunID).raw, current.follow(held.RunID).raw; !slices.Equal(there, here) ||
		len(here) < 3 {
		t.Errorf("log of a run at the old server =\n%v\nat this one\n%v", there, here)
	}

	shut()
	left := old.begin("Where does the damp in the kitchen come from?")
	current.seesEvent(left, "0", begins)
	old.kill() // this one takes over its work
	open()
	current.seesEvent(left, "1", done(chat.RunCompleted))
	if r := current.send("DELETE", "/documents/"+third, nil); r.status != http.StatusNoContent {
		t.Errorf("DELETE: %d %s, want %d", r.status, r.body, http.StatusNoContent)
	}
	if code := current.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code = %d, want 0:\n%s", code, current.log)
	}

	back := serveOld() // the downgrade
	if r := back.send("GET", "/documents/"+third+"/file", nil); r.status != http.StatusNotFound {
		t.Errorf("a document that was deleted at the newer one: %d, want %d", r.status, http.StatusNotFound)
	}
	found(back, "900 pounds")
	if log := back.run("What is the rent of the mill?"); log.done.Status != chat.RunCompleted {
		t.Errorf("a question after the way back ended as %+v, want Status %v", log.done, chat.RunCompleted)
	}
}

// testReplacing stops an older version, starts this one on its data, and checks that the older one refuses to start
// again.
func testReplacing(t *testing.T, before string) {
	t.Helper()
	env := []string{"DATABASE_URL=" + postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://" + t.TempDir()}
	dir := newDir(t)
	old := serveProgram(t, before, "127.0.0.1:0", dir, env...)
	id := old.add(books[0])[0]
	if n := old.search("slates missing").TotalResults; n == 0 {
		t.Error("the older version finds nothing, want a passage")
	}
	if code := old.end(syscall.SIGTERM); code != 0 {
		t.Errorf("the older version ended with %d, want 0:\n%s", code, old.log)
	}
	current := serve(t, newDir(t), env...)
	for _, words := range []string{"slates missing", `\"several slates\"`} {
		if n := current.search(words).TotalResults; n == 0 {
			t.Errorf("search for %s finds nothing in the data of the older version", words)
		}
	}
	if r := current.send("GET", "/documents/"+id+"/file", nil); r.status != http.StatusOK || r.body != books[0].body {
		t.Errorf("file of the older version: %d %.200s; want %d and %.200s",
			r.status, r.body, http.StatusOK, books[0].body)
	}
	again := exec.Command(before, "serve", "--addr", "127.0.0.1:0", "--data", dir)
	again.Env = append(os.Environ(), env...)
	if out, err := again.CombinedOutput(); err == nil || !strings.Contains(string(out), "newer Footnote") {
		t.Errorf("older version starts on newer data: %v\n%s", err, out)
	}
}
