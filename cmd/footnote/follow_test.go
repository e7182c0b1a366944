package main_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// asking is a running "footnote ask" of the server at an address.
type asking struct {
	out, steps *output
	cmd        *exec.Cmd
	ended      chan struct{}
}

func startAsking(t *testing.T, url, question string, more ...string) *asking {
	t.Helper()
	a := &asking{out: &output{}, steps: &output{}, ended: make(chan struct{})}
	a.cmd = exec.Command(binary, append([]string{"ask", question}, more...)...)
	a.cmd.Env, a.cmd.Dir, a.cmd.Stdout, a.cmd.Stderr = environment([]string{"FOOTNOTE_SERVER=" + url}), t.TempDir(),
		a.out, a.steps
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(a.ended)
		_ = a.cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(func() {
		_ = a.cmd.Process.Kill() // it may have ended
		<-a.ended
	})
	return a
}

func (a *asking) end(t *testing.T) {
	t.Helper()
	select {
	case <-a.ended:
	case <-time.After(patience):
		t.Fatalf("it goes on:\n%s%s", a.out, a.steps)
	}
	if code := a.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with %d:\n%s%s", code, a.out, a.steps)
	}
}

// printed returns the events that were printed as JSON.
func (a *asking) printed(t *testing.T) (raw []string, run string) {
	t.Helper()
	for lines := bufio.NewScanner(strings.NewReader(a.out.String())); lines.Scan(); {
		var head struct {
			RunID string `json:"run_id"`
		}
		if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
			t.Errorf("it printed %q: %v, want no error", lines.Text(), err)
		}
		raw, run = append(raw, lines.Text()), head.RunID
	}
	return raw, run
}

// logged returns the events of a run, as a server has them.
func (s *server) logged(run string) (raw []string) {
	s.t.Helper()
	for _, ev := range s.follow(run).raw {
		raw = append(raw, ev.data)
	}
	return raw
}

func TestAskGoesOnAtAnotherReplicaAndPrintsNothingTwice(t *testing.T) {
	t.Parallel()
	model := steadyModel(t, 2*time.Millisecond, 60)
	gate := make(chan struct{}) // no answer ends before both replicas were replaced
	release := sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	model.onBytes = func(n int) {
		if n > 2000 {
			<-gate
		}
	}
	env := append(model.env(), "DATABASE_URL="+postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://"+t.TempDir())
	addrs := []string{freeAddr(t), freeAddr(t)}
	at := func(i int) *server { return serveAt(t, addrs[i], newDir(t), env...) }
	both := []*server{at(0), at(1)}
	proxy := proxied(t, both...)
	asJSON, asText := startAsking(t, proxy.url, "Tell me about the roof.", "--json"), startAsking(t, proxy.url,
		"Tell me about the gutter.")
	eventually(t, "both are being answered", func() bool {
		return strings.Contains(asJSON.out.String(), `"run_started"`) && len(model.asked()) >= 2
	})
	for i := range both { // so each of the streams breaks off once at least
		if code := both[i].end(syscall.SIGTERM); code != 0 {
			t.Errorf("replica %d ended with %d:\n%s", i, code, both[i].log)
		}
		both[i] = at(i)
	}
	release()
	asJSON.end(t)
	asText.end(t)
	printed, run := asJSON.printed(t)
	if want := both[1].logged(run); !slices.Equal(printed, want) {
		t.Errorf("it printed %d events of run %s, which has %d:\n%s", len(printed), run, len(want),
			strings.Join(printed, "\n"))
	}
	// there are no documents
	if n := strings.Count(asText.out.String(), "I couldn't find relevant information"); n != 1 || len(printed) == 0 {
		t.Errorf("the answer was printed %d times:\n%s", n, asText.out)
	}
	for _, a := range []*asking{asJSON, asText} {
		if !strings.Contains(a.steps.String(), "going on with it") {
			t.Errorf("a stream did not break off:\n%s", a.steps)
		}
	}
}

// cuts is a way to a server that breaks each connection after so many bytes of answers, in the midst of whatever they
// are; every time a few more.
func cuts(t *testing.T, url string, first, more int64) (address string, broken *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	broken = &atomic.Int64{}
	var open sync.WaitGroup
	open.Go(func() {
		for n := first; ; n += more {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				_ = from.Close() // the server is gone: so is this
				return
			}
			open.Go(func() {
				_, _ = io.Copy(to, from) // until either side closes
				_ = to.Close()
			})
			open.Go(func() {
				if _, err := io.CopyN(from, to, n); err == nil {
					broken.Add(1)
				}
				_ = from.Close()
				_ = to.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Wait()
	})
	return "http://" + l.Addr().String(), broken
}

func TestAskReadsEachEventOnceHoweverOftenItsConnectionBreaks(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books...)
	address, broken := cuts(t, s.url, 500, 1021)
	asked := startAsking(t, address, "What is the condition of the roof?", "--json")
	asked.end(t)
	printed, run := asked.printed(t)
	if want := s.logged(run); !slices.Equal(printed, want) || broken.Load() < 3 {
		t.Errorf("through %d breaks it printed %d events of run %s, which has %d:\n%s\n%s", broken.Load(), len(printed),
			run, len(want), strings.Join(printed, "\n"), asked.steps)
	}
	r := s.send("GET", "/sessions", nil)
	if n := strings.Count(r.body, `"running"`); r.status != http.StatusOK || n != 1 {
		t.Errorf("the question made %d sessions: %s, want 1", n, r.body)
	}
}

func TestAskGoesOnTryingWhenTheServerGoesAwayBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	addr := freeAddr(t)
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	asked := startAsking(t, "http://"+addr, "What is the condition of the roof?", "--json")
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
		t.Errorf("it asked: %v, want no error", err)
	}
	for _, end := range []io.Closer{l, conn} { // from now on nobody listens
		if err := end.Close(); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "it tries again and finds nobody", func() bool {
		return strings.Count(asked.steps.String(), "asking it again") > 1
	})
	s := serveAt(t, addr, newDir(t))
	asked.end(t)
	printed, run := asked.printed(t)
	if want := s.logged(run); !slices.Equal(printed, want) {
		t.Errorf("it printed %d events of run %s, which has %d:\n%s\n%s", len(printed), run, len(want),
			strings.Join(printed, "\n"), asked.steps)
	}
}

func TestAskEndsWhenThereIsNobody(t *testing.T) {
	t.Parallel()
	nobody := "http://" + freeAddr(t)
	if got := command(t, "", []string{"FOOTNOTE_SERVER=" + nobody}, "ask", "Hello?"); got.code != 1 ||
		!strings.Contains(got.stderr, nobody+" does not answer") || strings.Contains(got.stderr, "going on") {
		t.Errorf("nobody there: %d %s%s; want 1, %q in it, no %q in it",
			got.code, got.stdout, got.stderr, nobody+" does not answer", "going on")
	}
	if got := command(t, "", []string{"FOOTNOTE_SERVER=footnote"}, "ask", "Hello?"); got.code != 2 ||
		!strings.Contains(got.stderr, "FOOTNOTE_SERVER") {
		t.Errorf("no URL: %d %s; want 2 and %q in it", got.code, got.stderr, "FOOTNOTE_SERVER")
	}
	model := slow(t)
	s := serve(t, newDir(t), model.env()...)
	asked := startAsking(t, s.url, "Tell me about the roof.")
	eventually(t, "the model is asked", func() bool { return len(model.asked()) > 0 })
	s.kill()
	select {
	case <-asked.ended:
	case <-time.After(patience):
		t.Fatalf("it goes on without a server:\n%s", asked.steps)
	}
	if n := strings.Count(asked.steps.String(), "going on with it"); asked.cmd.ProcessState.ExitCode() != 1 || n < 2 ||
		!strings.Contains(asked.steps.String(), "does not answer") {
		t.Errorf("after its server was killed: %d\n%s", asked.cmd.ProcessState.ExitCode(), asked.steps)
	}
}
