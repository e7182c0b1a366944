package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// die ends a run as when its process is gone: it says nothing more.
func (h *house) die(runID string) {
	h.runs.mu.Lock()
	defer h.runs.mu.Unlock()
	h.runs.active[runID].Lose()
}

// carriedOn takes over what another server left, until a run is over.
func (h *house) carriedOn(runID string) transcript {
	h.Helper()
	ctx, stop := context.WithCancel(h.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); h.runs.KeepLeases(ctx) }()
	got := h.wait(runID)
	stop()
	<-ended
	return got
}

// A killed server leaves a turn of three calls: one that ended, one that only reads and one that orders. The reading is
// made again, the order is not.
func TestOfTheCallsThatWereCutOffThoseThatOnlyReadAreMadeAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := newShop(t, true)
	model := scripted.New(says("There are 28 days of paid holiday a year [1]."))
	h := newHouse(t, model, s.with)
	run, _, err := h.store.StartRun(ctx, chat.LocalUser, asks("How many days of paid holiday are there?"),
		chat.Lease{Owner: "dead", Until: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	step := func(id, tool, input string, status chat.Status) chat.Step {
		return chat.Step{
			CallID: id, ParentID: "c2", Step: tool, ToolName: tool, ToolInput: []byte(input), Status: status,
			ToolStatus: status,
			Timestamp:  float64(time.Now().UnixMicro()) / 1e6, Details: map[string]any{},
		}
	}
	group := step("c2", "", "", chat.StatusRunning)
	group.ParentID, group.Step = "", "parallel"
	counted := step("c3", "calculate", `{"expression":"2+2"}`, chat.StatusComplete)
	counted.ToolOutput = []byte(`{"expression":"2+2","result":"4"}`)
	if err := h.feed.Append(ctx, "dead", run.ID, chat.RunStarted{Question: run.Request.Message}, group, counted,
		step("c4", "search_documents", `{"max_results":10,"query":"paid holiday"}`, chat.StatusRunning),
		step("c5", "shop__order", `{"what":"slates"}`, chat.StatusRunning)); err != nil {
		t.Fatal(err)
	}
	got := h.carriedOn(run.ID)
	if a := got.answer(); len(a.Citations) != 1 {
		t.Errorf("answer = %+v, want 1 citation", a)
	}
	want := map[string]chat.Status{
		"c2": chat.StatusComplete, "c3": chat.StatusComplete, "c4": chat.StatusComplete, "c5": chat.StatusCancelled,
	}
	for _, s := range got.ended() {
		if want[s.CallID] != "" && s.Status != want[s.CallID] {
			t.Errorf("%s %s ended as %s", s.CallID, s.Step, s.Status)
		}
		delete(want, s.CallID)
	}
	if len(want) > 0 {
		t.Errorf("without an end: %v", want)
	}
	if n := s.orders.Load(); n != 0 {
		t.Errorf("%d orders, want 0", n)
	}
	for _, m := range model.Requests()[0].Messages {
		switch m.CallID {
		case "c4":
			if !strings.Contains(m.Text, "28 days") {
				t.Errorf("the model sees of the search: %s, want %q in it", m.Text, "28 days")
			}
		case "c5":
			if !strings.Contains(
				m.Text, "The server was stopped during this call. Nobody knows whether it took effect",
			) {
				t.Errorf("the model sees of the order: %s", m.Text)
			}
		}
	}
}
