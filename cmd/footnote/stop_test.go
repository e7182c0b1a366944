package main_test

import (
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// slow is a model that never finishes its answer in time.
func slow(t *testing.T) *modelServer {
	return newModel(t, scripted.Config{
		Delay: 200 * time.Millisecond, Tokens: 10_000, Script: func(scripted.Request) scripted.Reply {
			return scripted.Reply{Text: "one two three four five six seven eight nine ten"}
		},
	})
}

func TestATerminatedServerStopsInOrderAndTheRunIsMarked(t *testing.T) {
	t.Parallel()
	model := slow(t)
	s := serve(t, newDir(t), model.env()...)
	s.add(file{"roof.md", "# Roof\n\nThe roof leaks.\n"})
	run := s.begin("Tell me about the roof.")
	st, err := s.open("GET", run.Events, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.close()
	if _, err := st.next(); err != nil {
		t.Fatal(err)
	}
	idle, err := s.open("GET", "/agent/runs/"+run.RunID+"/events?after=1", nil) // a second reader
	if err != nil {
		t.Fatal(err)
	}
	defer idle.close()

	began := time.Now()
	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("it ended with code %d:\n%s", code, s.log)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v to stop, want at most %v", took, 30*time.Second)
	}
	for _, reader := range []*stream{st, idle} {
		events, err := reader.rest()
		if !errors.Is(err, io.EOF) {
			t.Errorf("a stream ended with %v, want %v", err, io.EOF)
		}
		over := len(events) > 0 && events[len(events)-1].name == string(chat.KindRunDone)
		if reader.retry == "" && !over {
			t.Errorf("a stream ended with neither a hint to come back nor the run's end: %v", events)
		}
	}
	log := s.restart().follow(run.RunID)
	if log.done.Status != chat.RunInterrupted || log.done.Error == nil || !log.done.Error.Retryable {
		t.Errorf("the run ended as %+v; want Status %v and Error.Retryable true", log.done, chat.RunInterrupted)
	}
}

// While requests are being finished, the server says that it takes no new work.
func TestAServerThatStopsIsNotReady(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	if got := s.send("GET", "/readyz", nil); got.status != http.StatusOK {
		t.Fatalf("/readyz = %d %s, want %d", got.status, got.body, http.StatusOK)
	}
	upload, upstream := io.Pipe() // an upload that is under way holds the server up
	body, contentType := form(t, file{
		"late.md", "# Late\n\nThis file came while the server was being stopped.\n" +
			strings.Repeat("More of it came.\n", 1000),
	})
	raw := body.String()
	finished := make(chan reply, 1)
	go func() {
		// a failed request has no status
		r, _ := s.try("POST", "/documents", upload, header{"Content-Type", contentType})
		finished <- r
	}()
	if _, err := io.WriteString(upstream, raw[:len(raw)/2]); err != nil {
		t.Fatal(err)
	}
	s.receiving()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it takes no new work", func() bool {
		r, err := s.try("GET", "/readyz", nil)
		return err != nil || r.status == http.StatusServiceUnavailable
	})
	if _, err := io.WriteString(upstream, raw[len(raw)/2:]); err != nil {
		t.Fatal(err)
	}
	_ = upstream.Close()
	if r := <-finished; r.status != http.StatusAccepted {
		t.Errorf("the upload that was under way: %d %s, want %d", r.status, r.body, http.StatusAccepted)
	}
	<-s.ended
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with code %d:\n%s", code, s.log)
	}
	again := s.restart()
	eventually(t, "the late file is ready", func() bool { return again.search("stopped").TotalResults > 0 })
}

// receiving waits until the server writes an upload to the disk.
func (s *server) receiving() {
	s.t.Helper()
	eventually(s.t, "the upload is under way", func() bool {
		files, err := filepath.Glob(filepath.Join(s.dir, "blobs", "incoming", "*"))
		return err == nil && len(files) > 0
	})
}

func TestASecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	upload, upstream := io.Pipe() // never finished: the server would wait for it
	defer upstream.Close()
	go func() {
		_, _ = s.try("POST", "/documents", upload, header{"Content-Type", "multipart/form-data; boundary=x"})
	}() // it is cut off
	if _, err := io.WriteString(
		upstream, "--x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.md\"\r\n\r\n"+
			strings.Repeat("abc ", 4000),
	); err != nil {
		t.Fatal(err)
	}
	s.receiving()
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it takes no new work", func() bool {
		r, err := s.try("GET", "/readyz", nil)
		return err != nil || r.status == http.StatusServiceUnavailable
	})
	if code := s.end(syscall.SIGINT); code != -1 {
		t.Errorf("the second interrupt ended it with code %d, want the signal's own end:\n%s", code, s.log)
	}
}
