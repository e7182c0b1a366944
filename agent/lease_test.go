package agent

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// Whenever a server dies, another one has its run within 35 s: when the lease has ended, and at the next look. It
// happens once.
func TestARunOfADeadServerIsTakenOverWithin35Seconds(t *testing.T) {
	t.Parallel()
	for after := range 12 { // seconds from the others' first look to the death
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, scripted.New(calls(search("holiday")), says(goodAnswer)), among("one"))
			two := h.another("two", scripted.New(calls(search("holiday")), says(goodAnswer)))
			ctx, stop := context.WithCancel(t.Context())
			var working sync.WaitGroup
			defer working.Wait()
			defer stop()
			for _, r := range []*Runs{h.runs, two} {
				working.Go(func() { r.KeepLeases(ctx) })
			}
			time.Sleep(time.Duration(after)*time.Second + time.Millisecond)
			died := time.Now()
			dead := chat.Lease{Owner: "dead", Until: died.Add(30 * time.Second)}
			run, _, err := h.store.StartRun(t.Context(), chat.LocalUser,
				asks("How many days of holiday are there?"), dead)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.feed.Append(t.Context(), dead.Owner, run.ID, chat.RunStarted{}); err != nil {
				t.Fatal(err)
			}
			for run.Status == chat.RunRunning && time.Since(died) < time.Minute {
				time.Sleep(10 * time.Millisecond)
				if run, err = h.store.Run(t.Context(), chat.Local, run.ID); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(died); run.Status != chat.RunCompleted || took < 30*time.Second ||
				took > 35*time.Second {
				t.Errorf("%d s after a look: %s after %v; want %s, at least %v, at most %v",
					after, run.Status, took, chat.RunCompleted, 30*time.Second, 35*time.Second)
			}
			times := 0
			for _, s := range h.wait(run.ID).ended() {
				if s.Step == "restart" {
					times++
				}
			}
			if times != 1 {
				t.Errorf("%d s after a look: taken over %d times, want 1", after, times)
			}
		})
	}
}

func TestARunThatHasNotBegunIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New(), among("one"))
	two := h.another("two", scripted.New(calls(search("holiday")), says(goodAnswer)))
	begun, _, err := h.store.StartRun(t.Context(), chat.LocalUser, asks("How many days of holiday are there?"),
		h.runs.newLease())
	if err != nil {
		t.Fatal(err)
	}
	ctx, c := run.NewControl(t.Context(), chat.LocalUser)
	defer c.Close()
	c.LeaveAtOnce()
	h.runs.engine.NewRunner(begun, h.runs.engine.DefaultTools(), c).Execute(ctx, nil, nil)
	if log := h.log(begun.ID); len(log) != 0 {
		t.Errorf("log = %s, want none", dump(log))
	}
	h.works(two)
	got := h.wait(begun.ID)
	if got.log[0].Kind() != chat.KindRunStarted || got.answer().Markdown != goodAnswer {
		t.Errorf("log:%s", dump(got.log))
	}
}
