package grid

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/footnote/footnote/agent"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/runtest"
)

// harness is a store with an agent and a filler whose loop the test steps.
type harness struct {
	*testing.T
	*runtest.Store
	runs   *agent.Runs
	filler *Filler
	starts atomic.Int64
}

// Start implements Runs and counts the new runs.
func (h *harness) Start(ctx context.Context, user string, req chat.RunRequest) (chat.Run, bool, error) {
	run, fresh, err := h.runs.Start(ctx, user, req)
	if fresh {
		h.starts.Add(1)
	}
	return run, fresh, err
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
	h.filler = h.startServer(h)
	return h
}

// startServer returns the filler of another server with the same store.
func (h *harness) startServer(runs Runs) *Filler {
	return New(Config{Store: h.Chats, Library: h.Library, Runs: runs})
}

// leases adds contracts, one of them without a term.
func (h *harness) leases(n int) {
	h.Helper()
	for i := range n {
		text := fmt.Sprintf("# Lease %02d\n\nThe rent of the mill is %d euros a month.\n\n"+
			"The notice period is %d months.\n\nPets are allowed in the mill.\n", i, 900+i, i+1)
		if i == 1 {
			text = "# Recipe\n\nStir the flour into the milk. Bake the bread for an hour.\n"
		}
		h.Add(h, fmt.Sprintf("lease-%02d.md", i), text)
	}
}

func (h *harness) make(columns ...string) chat.Grid {
	h.Helper()
	w := Spec{}
	for _, name := range columns {
		w.Columns = append(w.Columns, chat.GridColumn{Name: name})
	}
	g, err := h.filler.Create(h.Context(), chat.Local, w)
	if err != nil {
		h.Fatal(err)
	}
	return g
}

// settle fills until no grid is due, and returns the grid with its cells by row and column.
func (h *harness) settle(id string) (g chat.Grid, cells chat.CellsByPlace) {
	h.Helper()
	for limit := time.Now().Add(time.Minute); ; {
		h.filler.loop.Once(h.Context())
		var err error
		if g, err = h.Chats.Grid(h.Context(), chat.Local, id); err != nil {
			h.Fatal(err)
		}
		if g.State != chat.GridFilling {
			break
		}
		if time.Now().After(limit) {
			h.Fatalf("the table is not filled: %+v", g)
		}
	}
	list, err := h.Chats.GridCells(h.Context(), chat.Local, id, 0)
	if err != nil {
		h.Fatal(err)
	}
	return g, chat.ByPlace(list)
}

func TestGridAsksEveryDocument(t *testing.T) {
	h := newHarness(t)
	h.leases(4)
	g, cells := h.settle(h.make("Notice period", "How much is the rent?").ID)
	if g.State != chat.GridDone || g.Done != 8 || len(cells) != 8 || h.starts.Load() != 8 {
		t.Fatalf("grid = %+v with %d cells and %d runs; want 8", g, len(cells), h.starts.Load())
	}
	for row, r := range g.Rows {
		notice, rent := cells[[2]int{row, 0}], cells[[2]int{row, 1}]
		if r.Title == "Recipe" {
			if notice.State != chat.CellAbsent || rent.State != chat.CellAbsent {
				t.Errorf("cells of the recipe = %q and %q, want both absent", notice.Text, rent.Text)
			}
			continue
		}
		for _, cell := range []chat.GridCell{notice, rent} {
			if cell.State != chat.CellFound || len(cell.Citations) == 0 ||
				cell.Citations[0].DocumentID != r.DocumentID || cell.Citations[0].Quote == "" || cell.RunID == "" {
				t.Errorf("%s: cell = %+v, want it found in this document, with its quote", r.Title, cell)
			}
		}
		if !strings.Contains(notice.Text, "notice period is") || !strings.Contains(rent.Text, "euros a month") {
			t.Errorf("%s: cells %q and %q, want the notice period and the rent", r.Title, notice.Text, rent.Text)
		}
	}
	list, _, err := h.Chats.Sessions(t.Context(), chat.Local, chat.SessionQuery{})
	if err != nil || len(list) != 0 {
		t.Errorf("conversations = %+v, %v; want none in the list", list, err)
	}
	if err := h.filler.Delete(t.Context(), chat.Local, g.ID); err != nil {
		t.Fatal(err)
	}
	_, err = h.Chats.Run(t.Context(), chat.Local, cells[[2]int{0, 0}].RunID)
	if chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("the run of a removed table: %v, want it gone", err)
	}
}

func TestGridResumesOnOtherServer(t *testing.T) {
	h := newHarness(t)
	h.leases(4)
	g := h.make("Notice period", "Rent")
	ctx, die := context.WithCancel(t.Context())
	dying := h.startServer(startFunc(func(
		ctx context.Context, user string, req chat.RunRequest,
	) (chat.Run, bool, error) {
		run, fresh, err := h.Start(ctx, user, req)
		if h.starts.Load() >= 3 {
			die()
		}
		return run, fresh, err
	}))
	dying.loop.Once(ctx)
	if _, err := h.Chats.ChangeGrid(t.Context(), chat.Local, g.ID, func(g *chat.Grid) error {
		g.DueAt = time.Now().Add(-time.Second) // its claim has ended
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	g, cells := h.settle(g.ID)
	if g.State != chat.GridDone || len(cells) != 8 || h.starts.Load() != 8 {
		t.Errorf("%s with %d cells and %d runs; want 8 of each: no cell is asked twice", g.State, len(cells),
			h.starts.Load())
	}
}

type startFunc func(context.Context, string, chat.RunRequest) (chat.Run, bool, error)

func (f startFunc) Start(ctx context.Context, user string, req chat.RunRequest) (chat.Run, bool, error) {
	return f(ctx, user, req)
}

func TestCellCanBeEditedRepeatedAndReverted(t *testing.T) {
	h := newHarness(t)
	h.leases(1)
	g, before := h.settle(h.make("Notice period").ID)
	text := "  one month "
	cell, err := h.filler.Edit(t.Context(), chat.Local, g.ID, 0, 0, &text)
	if err != nil || cell.Shown() != "one month" || cell.Text != before[[2]int{0, 0}].Text {
		t.Fatalf("Edit = %+v, %v; want both texts", cell, err)
	}
	if cell, err = h.filler.Edit(t.Context(), chat.Local, g.ID, 0, 0, nil); err != nil || cell.Shown() != cell.Text {
		t.Errorf("Edit = %+v, %v; want what was found", cell, err)
	}
	long := strings.Repeat("x", chat.MaxGridText+1)
	if _, err := h.filler.Edit(t.Context(), chat.Local, g.ID, 0, 0, &long); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("text over the limit: got %v, want an invalid input", err)
	}
	if _, err := h.filler.RetryCell(t.Context(), chat.Local, g.ID, 0, 0); err != nil {
		t.Fatal(err)
	}
	g, after := h.settle(g.ID)
	if g.State != chat.GridDone || after[[2]int{0, 0}].Turn != 1 || h.starts.Load() != 2 ||
		after[[2]int{0, 0}].RunID == before[[2]int{0, 0}].RunID {
		t.Errorf("cell = %+v after %d runs, want another run's", after[[2]int{0, 0}], h.starts.Load())
	}
}

// between is a store that runs a function before the next change of a grid.
type between struct {
	chat.Store
	do func()
}

// ChangeGrid implements chat.Store.
func (b *between) ChangeGrid(
	ctx context.Context, s chat.Scope, id string, change func(*chat.Grid) error,
) (chat.Grid, error) {
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
	return b.Store.ChangeGrid(ctx, s, id, change)
}

func TestCellClearedAtEndIsProcessed(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.leases(1)
	g, _ := h.settle(h.make("notice period").ID)
	if _, err := h.filler.Resume(t.Context(), chat.Local, g.ID); err != nil {
		t.Fatal(err)
	}
	other := New(Config{Store: &between{h.Chats, func() {
		if _, err := h.filler.RetryCell(t.Context(), chat.Local, g.ID, 0, 0); err != nil {
			t.Error(err)
		}
	}}, Library: h.Library, Runs: h})
	other.loop.Once(t.Context())
	g, cells := h.settle(g.ID)
	if cell := cells[[2]int{0, 0}]; cell.State != chat.CellFound || g.Done != 1 {
		t.Errorf("state = %s with %d cells, first cell %+v, want 1 found cell", g.State, g.Done, cell)
	}
}

func TestGridStopsAndResumes(t *testing.T) {
	h := newHarness(t)
	h.leases(3)
	g := h.make("Rent")
	if _, err := h.filler.Stop(t.Context(), chat.Local, g.ID); err != nil {
		t.Fatal(err)
	}
	if _, cells := h.settle(g.ID); len(cells) != 0 {
		t.Errorf("stopped grid has %d cells, want none", len(cells))
	}
	if _, err := h.filler.Resume(t.Context(), chat.Local, g.ID); err != nil {
		t.Fatal(err)
	}
	if g, cells := h.settle(g.ID); g.State != chat.GridDone || len(cells) != 3 {
		t.Errorf("%s with %d cells, want all 3", g.State, len(cells))
	}
}

func TestGridFailuresAreBounded(t *testing.T) {
	h := newHarness(t)
	h.leases(maxFailures + 3)
	g := h.make("Rent")
	gone := &chat.Error{Code: chat.CodeNotFound, Message: "Document not found."}
	asking := h.filler
	h.filler = h.startServer(startFunc(func(context.Context, string, chat.RunRequest) (chat.Run, bool, error) {
		return chat.Run{}, false, gone
	}))
	g, cells := h.settle(g.ID)
	if g.State != chat.GridStopped || !strings.Contains(g.Trouble.String(), gone.Message.String()) ||
		len(cells) > maxFailures+1 {
		t.Errorf("%s (%s) after %d cells; want it stopped after %d", g.State, g.Trouble, len(cells), maxFailures)
	}
	h.filler = asking
	if _, err := h.filler.Resume(t.Context(), chat.Local, g.ID); err != nil {
		t.Fatal(err)
	}
	if g, cells = h.settle(g.ID); g.State != chat.GridDone || len(cells) != maxFailures+3 {
		t.Errorf("%s with %d cells after going on, want all", g.State, len(cells))
	}
	for at, cell := range cells {
		if cell.State == chat.CellFailed {
			t.Errorf("cell %v failed: %s, want it repeated", at, cell.Trouble)
		}
	}
}

func TestGridWaitsForLimits(t *testing.T) {
	h := newHarness(t)
	h.leases(1)
	g := h.make("Rent")
	limits, now := chat.Limits{chat.QuestionsPerMinute: 1}, time.Now()
	over := limits.Over(chat.QuestionsPerMinute, now, now.Add(time.Minute))
	h.filler = h.startServer(startFunc(func(context.Context, string, chat.RunRequest) (chat.Run, bool, error) {
		return chat.Run{}, false, over
	}))
	h.filler.loop.Once(t.Context())
	g, err := h.Chats.Grid(t.Context(), chat.Local, g.ID)
	if err != nil || g.State != chat.GridFilling || g.Trouble == "" || !g.DueAt.After(time.Now().Add(time.Second)) {
		t.Errorf("grid = %+v, %v; want it waiting, with the reason", g, err)
	}
}

func TestPlanIsValidatedWithoutSideEffects(t *testing.T) {
	h := newHarness(t)
	column := chat.GridColumn{Name: "Rent"}
	if _, err := h.filler.Plan(t.Context(), chat.Local, Spec{Columns: []chat.GridColumn{column}}); chat.CodeOf(err) !=
		chat.CodeConflict {
		t.Errorf("without a document: %v, want CodeConflict", err)
	}
	h.leases(3)
	for name, w := range map[string]Spec{
		"no column":         {},
		"a nameless column": {Columns: []chat.GridColumn{{Question: "What?"}}},
		"too many columns":  {Columns: make([]chat.GridColumn, chat.MaxGridColumns+1)},
		"a long name":       {Columns: []chat.GridColumn{{Name: strings.Repeat("x", chat.MaxGridName+1)}}},
		"a long question":   {Columns: []chat.GridColumn{{Name: "x", Question: strings.Repeat("x", 1<<20)}}},
		"less than nothing": {Columns: []chat.GridColumn{column}, MaxTokens: -1},
	} {
		if _, err := h.filler.Plan(t.Context(), chat.Local, w); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
	g, err := h.filler.Plan(t.Context(), chat.Local, Spec{Columns: []chat.GridColumn{column}})
	if err != nil || len(g.Rows) != 3 || g.Name != "Rent" || g.MaxTokens != chat.GridTokens {
		t.Errorf("Plan = %+v, %v", g, err)
	}
	if all, err := h.Chats.Grids(t.Context(), chat.Local); len(all) != 0 || err != nil {
		t.Errorf("stored plans = %v, %v, want none", all, err)
	}
}

// keepFor adds a due table of one cell.
func (h *harness) keepFor(user string) chat.Grid {
	h.Helper()
	g, err := h.Chats.AddGrid(h.Context(), chat.Scope{User: user}, chat.Grid{
		Name: "g", State: chat.GridFilling, MaxTokens: chat.GridTokens, DueAt: time.Now(),
		Columns: []chat.GridColumn{{Name: "Rent"}}, Rows: []chat.GridRow{{DocumentID: "d", Title: "Lease"}},
	})
	if err != nil {
		h.Fatal(err)
	}
	return g
}

// run runs a filler's loop until the test ends.
func (h *harness) run(f *Filler) {
	ctx, stop := context.WithCancel(h.Context())
	var all sync.WaitGroup
	all.Go(func() { f.Run(ctx) })
	h.Cleanup(func() { stop(); all.Wait() })
}

func TestGridDoesNotWaitForOtherUsers(t *testing.T) {
	h := newHarness(t)
	begun, asked := make(chan struct{}, chat.MaxGrids), make(chan struct{})
	for range chat.MaxGrids {
		h.keepFor("many")
	}
	f := h.startServer(startFunc(func(ctx context.Context, user string, _ chat.RunRequest) (chat.Run, bool, error) {
		if user == "many" { // whose model does not reply
			begun <- struct{}{}
			<-ctx.Done()
			return chat.Run{}, false, ctx.Err()
		}
		close(asked)
		return chat.Run{}, false, &chat.Error{Code: chat.CodeNotFound, Message: "Document not found."}
	}))
	h.run(f)
	<-begun
	h.keepFor("one")
	select {
	case <-asked:
	case <-time.After(20 * time.Second): // only a table that waits for others takes this long
		t.Error("grid of one cell waits for another user's grids")
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
