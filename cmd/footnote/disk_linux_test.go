package main_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/footnote/footnote/chat"
)

// limitFiles makes writes of the process beyond a file size fail, like on a full disk.
func (s *server) limitFiles(bytes uint64) {
	s.t.Helper()
	var now unix.Rlimit
	if err := unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, nil, &now); err != nil {
		s.t.Fatal(err)
	}
	now.Cur = min(bytes, now.Max)
	if err := unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, &now, nil); err != nil {
		s.t.Fatal(err)
	}
}

func TestFullDiskRejectsUploadsAndRecovers(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books...)
	before := s.run("What is the rent?")

	s.limitFiles(1)
	r := s.upload(file{"new.md", "# New\n\nThis file comes while the disk is full.\n"})
	refused := r.body
	if answer := decode[uploadAnswer](t, r.body); r.status != http.StatusInsufficientStorage ||
		r.header.Get("Retry-After") == "" ||
		len(answer.Rejected) != 1 || answer.Rejected[0].Code != "disk_full" ||
		!strings.Contains(answer.Rejected[0].Detail, "Free some space") {
		t.Errorf("upload: %d %s, want %d", r.status, refused, http.StatusInsufficientStorage)
	}
	r = s.send("POST", "/chat", ask("What is the condition of the roof?"))
	if p := loose[problem](t, r.body); r.status != http.StatusInsufficientStorage || p.Code != "disk_full" ||
		!plainSentence(p.Detail) || r.header.Get("Retry-After") == "" {
		t.Errorf("question: %d %s, want %d", r.status, r.body, http.StatusInsufficientStorage)
	}
	if s.search("slates").TotalResults == 0 {
		t.Error("search finds nothing")
	}
	if got := s.send("GET", "/agent/session/"+before.start.SessionID, nil); got.status != http.StatusOK ||
		!strings.Contains(got.body, "900 pounds") {
		t.Errorf("history: %d %s; want %d and %q in it", got.status, got.body, http.StatusOK, "900 pounds")
	}

	s.limitFiles(^uint64(0))
	eventually(t, "questions are taken again", func() bool {
		r, err := s.try("POST", "/chat", ask("What is the condition of the roof?"))
		if err != nil || r.status != http.StatusAccepted {
			return false
		}
		log := s.follow(decode[started](t, r.body).RunID)
		return log.done.Status == chat.RunCompleted && len(log.answer.Citations) > 0
	})
	s.add(file{"new.md", "# New\n\nThis file comes while the disk has room again.\n"})
}

// The reserve for uploads is larger than any test's disk: questions are still stored.
func TestDiskReserveIsKeptForQuestions(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	s := serve(t, dir)
	s.add(books...)
	if code := s.end(unix.SIGTERM); code != 0 {
		t.Fatalf("exit code = %d, want 0", code)
	}
	s = serve(t, dir, "FOOTNOTE_LIMITS_DISK_RESERVE_MIB=1000000000")
	r := s.upload(file{"new.md", "# New\n\nThis file comes while the disk is nearly full.\n"})
	answer := decode[uploadAnswer](t, r.body)
	if r.status != http.StatusInsufficientStorage || r.header.Get("Retry-After") == "" {
		t.Errorf("upload: status = %d, Retry-After = %q, want 507 and seconds: %s", r.status,
			r.header.Get("Retry-After"), r.body)
	}
	if len(answer.Rejected) != 1 || answer.Rejected[0].Code != "disk_full" ||
		!strings.Contains(answer.Rejected[0].Detail, "are reserved for questions") {
		t.Errorf("upload: rejected = %+v, want one file with disk_full and the reason", answer.Rejected)
	}
	if log := s.follow(s.begin("What is the rent?").RunID); log.done.Status != chat.RunCompleted ||
		len(log.answer.Citations) == 0 {
		t.Errorf("question: status = %s with %d citations, want completed with some", log.done.Status,
			len(log.answer.Citations))
	}
}

// A disk that becomes full during a run ends the run with the reason, or lets it finish once there is space.
func TestDiskFillsDuringRun(t *testing.T) {
	t.Parallel()
	model := slow(t)
	s := serve(t, newDir(t), model.env()...)
	s.add(books...)
	run := s.begin("Tell me about the roof.")
	st, err := s.open("GET", run.Events, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.close()
	for range 3 {
		if _, err := st.next(); err != nil {
			t.Fatal(err)
		}
	}
	s.limitFiles(1)
	eventually(t, "a write has failed", func() bool { return strings.Contains(s.log.String(), "disk is full") })
	s.limitFiles(^uint64(0))
	log := s.follow(run.RunID)
	if log.done.Status == chat.RunFailed && (log.done.Error == nil || log.done.Error.Code != chat.CodeDiskFull) {
		t.Errorf("run ended with %+v and %+v, want disk_full", log.done, log.done.Error)
	}
}
