package standing

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/agent"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/runtest"
)

const lease = "# Lease of the mill\n\nThe rent of the mill is 900 euros a month.\n\n" +
	"The notice period is 3 months.\n\nPets are allowed in the mill.\n"

// harness is a store with an agent and a scheduler whose loop the test steps.
type harness struct {
	*testing.T
	*runtest.Store
	runs      *agent.Runs
	scheduler *Scheduler
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	h := &harness{T: t, Store: runtest.Open(t, filepath.Join(t.TempDir(), "footnote.db"), nil)}
	runs, err := agent.NewRuns(agent.Config{Config: run.Config{
		Store: h.Chats, Feed: h.Feed, Library: h.Library, Model: offline.New(nil, nil),
	}, Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runs.Stop(context.Background()); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})
	h.runs = runs
	h.scheduler = h.startServer()
	return h
}

// startServer returns the scheduler of another server with the same store.
func (h *harness) startServer() *Scheduler {
	return New(Config{Store: h.Chats, Library: h.Library, Runs: h.runs, Quiet: time.Millisecond})
}

// keep asks a question, waits for its answer and keeps it.
func (h *harness) keep(question string) chat.Standing {
	h.Helper()
	asked, _, err := h.runs.Start(h.Context(), chat.LocalUser, chat.RunRequest{Message: question})
	if err != nil {
		h.Fatal(err)
	}
	h.until("the answer", func() bool {
		r, err := h.Chats.Run(h.Context(), chat.Local, asked.ID)
		return err == nil && r.Status != chat.RunRunning
	})
	kept, err := h.scheduler.Add(h.Context(), chat.Local, asked.ID)
	if err != nil {
		h.Fatal(err)
	}
	return kept
}

// until waits for a condition.
func (h *harness) until(what string, is func() bool) {
	h.Helper()
	limit, cancel := context.WithTimeout(h.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-limit.Done():
			h.Fatalf("waited in vain for %s", what)
		}
	}
}

// settle runs the scheduler until the question is no longer due.
func (h *harness) settle(id string) (kept chat.Standing) {
	h.Helper()
	h.until("the question to be settled", func() bool {
		h.makeDue(id)
		h.scheduler.loop.Once(h.Context())
		var err error
		if kept, err = h.Chats.Standing(h.Context(), chat.Local, id); err != nil {
			h.Fatal(err)
		}
		version, err := h.Library.Version(h.Context(), chat.Local)
		return err == nil && kept.DueAt.IsZero() && kept.Version == version
	})
	return kept
}

// makeDue makes a question that is due soon due now, so that tests need not wait.
func (h *harness) makeDue(id string) {
	h.Helper()
	if _, err := h.Chats.ChangeStanding(h.Context(), chat.Local, id, func(k *chat.Standing) error {
		if !k.DueAt.IsZero() && k.DueAt.Before(time.Now().Add(2*claimTime)) {
			k.DueAt = time.Now().Add(-time.Millisecond)
		}
		return nil
	}); err != nil {
		h.Fatal(err)
	}
}

func TestChangeIsReportedWithBothQuotes(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.Add(t, "Lease.md", lease)
	kept := h.keep("How long is the notice period?")
	h.Add(t, "Lease.md", strings.ReplaceAll(lease, "3 months", "6 months"))
	kept = h.settle(kept.ID)
	if len(kept.Changes) != 1 || !kept.Unseen() {
		t.Fatalf("changes = %+v, want one that is unseen", kept.Changes)
	}
	d := kept.Changes[0].Differences
	if len(d) != 1 || d[0].Kind != chat.DifferenceChanged || d[0].Was != "The notice period is 3 months" ||
		d[0].Now != "6 months" || !strings.Contains(d[0].Before.URL, kept.RunID) ||
		!strings.Contains(d[0].After.URL, kept.Changes[0].RunID) {
		t.Errorf("differences = %+v", d)
	}
	again, err := h.Chats.Run(t.Context(), chat.Local, kept.Changes[0].RunID)
	if err != nil || again.SessionID != kept.Request.SessionID {
		t.Errorf("it was asked as %+v, %v; want a run in its own conversation", again, err)
	}
}

func TestIrrelevantChangeIsNotReported(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.Add(t, "Lease.md", lease)
	kept := h.keep("How long is the notice period?")
	h.Add(t, "Bread.md", "# Bread\n\nFlour, water and salt.\n")
	if now := h.settle(kept.ID); !now.AskedAt.IsZero() {
		t.Error("unrelated document triggered the question, want no run")
	}
	h.Add(t, "Lease.md", strings.ReplaceAll(lease, "900", "950"))
	now := h.settle(kept.ID)
	if now.AskedAt.IsZero() || len(now.Changes) != 0 {
		t.Errorf("asked at %v with changes %+v; want it asked, and unchanged", now.AskedAt, now.Changes)
	}
}

func TestDeletedAndNewDocumentsAreReported(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.Add(t, "Lease.md", lease)
	kept := h.keep("How long is the notice period?")
	old := kept.Basis.Documents[0].ID
	h.Add(t, "Addendum.md", "# Addendum\n\nThe notice period is 9 months for the barn.\n")
	kept = h.settle(kept.ID)
	if len(kept.Changes) != 1 || kept.Changes[0].Differences[0].Kind != chat.DifferenceAdded {
		t.Fatalf("changes = %+v, want what the addendum adds", kept.Changes)
	}
	if err := h.Library.Delete(t.Context(), chat.Local, old); err != nil {
		t.Fatal(err)
	}
	kept = h.settle(kept.ID)
	if d := kept.Changes[0].Differences; len(kept.Changes) != 2 || d[0].Kind != chat.DifferenceGone || !d[0].Removed {
		t.Errorf("changes = %+v, want what went with the lease", kept.Changes)
	}
}

// If a server dies between two steps, another continues, and the question is asked once.
func TestStandingQuestionResumesOnOtherServer(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.Add(t, "Lease.md", lease)
	kept := h.keep("How long is the notice period?")
	h.Add(t, "Lease.md", strings.ReplaceAll(lease, "3 months", "6 months"))
	h.scheduler.loop.Once(t.Context())
	noticed, err := h.Chats.Standing(t.Context(), chat.Local, kept.ID)
	if err != nil || noticed.Noticed.IsZero() {
		t.Fatalf("Noticed = %v, %v", noticed.Noticed, err)
	}
	req := noticed.Request // started, but the start is not stored
	if err := h.scheduler.startRun(t.Context(), noticed, noticed.Version); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Chats.ChangeStanding(t.Context(), chat.Local, kept.ID, func(k *chat.Standing) error {
		noticed.DueAt = time.Now()
		*k = noticed
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	h.scheduler = h.startServer()
	kept = h.settle(kept.ID)
	runs, err := h.Chats.Runs(t.Context(), chat.Local, req.SessionID)
	if err != nil || len(runs) != 1 || len(kept.Changes) != 1 {
		t.Errorf("%d runs and %d changes, %v; want one of each", len(runs), len(kept.Changes), err)
	}
}

func TestManyChangesTriggerOneRun(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.Add(t, "Lease.md", lease)
	kept := h.keep("How long is the notice period?")
	h.scheduler = New(Config{Store: h.Chats, Library: h.Library, Runs: h.runs, Quiet: time.Minute})
	for _, months := range []string{"4 months", "5 months", "6 months"} {
		h.Add(t, "Lease.md", strings.ReplaceAll(lease, "3 months", months))
		h.makeDue(kept.ID)
		h.scheduler.loop.Once(t.Context())
	}
	kept = h.settle(kept.ID)
	if kept.Turn != 1 || len(kept.Changes) != 1 || kept.Changes[0].Differences[0].Now != "6 months" {
		t.Errorf("asked %d times with changes %+v; want once, 6 months", kept.Turn, kept.Changes)
	}
}

func TestAskNowDuringCheckIsKept(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.Add(t, "Lease.md", lease)
	for name, goOn := range map[string]func(context.Context, chat.Standing) error{
		"a look": h.scheduler.compareLibrary, "a wait that is over": h.scheduler.startIfQuiet,
	} {
		read := h.settle(h.keep("How long is the notice period?").ID)
		if _, err := h.scheduler.AskNow(t.Context(), chat.Local, read.ID); err != nil {
			t.Fatal(err)
		}
		if err := goOn(t.Context(), read); err != nil {
			t.Fatal(err)
		}
		if now := h.settle(read.ID); now.AskedAt.IsZero() || now.Wanted {
			t.Errorf("%s: question is %s without a run", name, now.State())
		}
	}
}

func TestPausedQuestionWaitsAndYieldsToRuns(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.Add(t, "Lease.md", lease)
	kept := h.keep("How long is the notice period?")
	if _, err := h.scheduler.Pause(t.Context(), chat.Local, kept.ID, true); err != nil {
		t.Fatal(err)
	}
	if _, err := h.scheduler.AskNow(t.Context(), chat.Local, kept.ID); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("AskNow while it is paused: %v, want a conflict", err)
	}
	if _, err := h.scheduler.Pause(t.Context(), chat.Local, kept.ID, false); err != nil {
		t.Fatal(err)
	}
	// a run that stays active until it is ended
	own, _, err := h.Chats.StartRun(t.Context(), chat.LocalUser, chat.RunRequest{Message: "mine"},
		chat.Lease{Owner: "test", Until: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.scheduler.AskNow(t.Context(), chat.Local, kept.ID); err != nil {
		t.Fatal(err)
	}
	h.scheduler.loop.Once(t.Context())
	if now, _ := h.Chats.Standing(t.Context(), chat.Local, kept.ID); now.Asking != "" || !now.Wanted {
		t.Errorf("asked as %q, want it to wait", now.Asking)
	}
	if _, err := h.Chats.Append(t.Context(), "test", own.ID, chat.RunDone{Status: chat.RunCompleted}); err != nil {
		t.Fatal(err)
	}
	if now := h.settle(kept.ID); now.AskedAt.IsZero() || len(now.Changes) != 0 {
		t.Errorf("asked at %v, changes %+v; want it asked, and unchanged", now.AskedAt, now.Changes)
	}
	if _, err := h.scheduler.Add(t.Context(), chat.Local, kept.RunID); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("keeping it again: %v, want a conflict", err)
	}
}

func TestFailuresAreReportedAndRetried(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.Add(t, "Lease.md", lease)
	kept := h.keep("How long is the notice period?")
	h.scheduler.cfg.Runs = failing{}
	if _, err := h.scheduler.AskNow(t.Context(), chat.Local, kept.ID); err != nil {
		t.Fatal(err)
	}
	h.scheduler.loop.Once(t.Context())
	now, err := h.Chats.Standing(t.Context(), chat.Local, kept.ID)
	if err != nil || now.Trouble != "The model rests." || time.Until(now.DueAt) < firstWait/2 {
		t.Errorf("trouble = %q, due at %v, %v; want the reason, and a minute", now.Trouble, now.DueAt, err)
	}
	if wait(1) != 2*firstWait || wait(60) != longestWay {
		t.Errorf("waits = %v, %v", wait(1), wait(60))
	}
}

// failing refuses to start runs.
type failing struct{}

func (failing) Start(context.Context, string, chat.RunRequest) (chat.Run, bool, error) {
	return chat.Run{}, false, &chat.Error{Code: chat.CodeModelFailed, Message: "The model rests."}
}

type startFunc func(context.Context, string, chat.RunRequest) (chat.Run, bool, error)

func (f startFunc) Start(ctx context.Context, user string, req chat.RunRequest) (chat.Run, bool, error) {
	return f(ctx, user, req)
}

// keepFor keeps a question with a requested run.
func (h *harness) keepFor(user string) {
	h.Helper()
	if _, err := h.Chats.AddStanding(h.Context(), chat.Scope{User: user}, chat.Standing{
		Request: chat.RunRequest{Message: "What is the rent?"}, Wanted: true, DueAt: time.Now(),
	}); err != nil {
		h.Fatal(err)
	}
}

func TestQuestionDoesNotWaitForOtherUsers(t *testing.T) {
	h := newHarness(t)
	begun, asked := make(chan struct{}, chat.MaxKept), make(chan struct{})
	for range chat.MaxKept {
		h.keepFor("many")
	}
	k := New(Config{Store: h.Chats, Library: h.Library, Runs: startFunc(
		func(ctx context.Context, user string, _ chat.RunRequest) (chat.Run, bool, error) {
			if user == "many" { // whose model does not reply
				begun <- struct{}{}
				<-ctx.Done()
				return chat.Run{}, false, ctx.Err()
			}
			close(asked)
			<-ctx.Done()
			return chat.Run{}, false, ctx.Err()
		})})
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { k.Run(ctx) })
	defer all.Wait()
	defer stop()
	<-begun
	h.keepFor("one")
	select {
	case <-asked:
	case <-time.After(20 * time.Second): // only a question that waits for others takes this long
		t.Error("question waits for another user's questions")
	}
}
