package chattest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// testGrids checks tables and their cells: concurrent changes are all stored, a claim has one holder and expires if
// that dies, and Seq orders the cells by their last change.
func testGrids(t *testing.T, open func(*testing.T) chat.Store) {
	keep := func(b suite, s chat.Scope, name string) chat.Grid {
		b.t.Helper()
		g, err := b.AddGrid(b.t.Context(), s, chat.Grid{
			Name: name, Columns: []chat.GridColumn{{Name: "Term"}, {Name: "Notice", Question: "How long is it?"}},
			Rows: []chat.GridRow{{DocumentID: "d1", Title: "One"}, {DocumentID: "d2", Title: "Two"}},
		})
		if err != nil {
			b.t.Fatalf("AddGrid: %v", err)
		}
		return g
	}
	parallel(t, open, "create, read, update and delete", func(t *testing.T, b suite) {
		ctx := t.Context()
		first, second := keep(b, anna, "one"), keep(b, anna, "two \x01 ü")
		keep(b, bert, "another's")
		list, err := b.Grids(ctx, anna)
		if err != nil || len(list) != 2 || list[1].ID != first.ID || list[0].Name != "two \x01 ü" {
			t.Fatalf("Grids = %+v, %v; want both of hers, newest first", list, err)
		}
		at := time.Now().UTC().Truncate(time.Microsecond)
		if _, err := b.ChangeGrid(ctx, anna, second.ID, func(g *chat.Grid) error {
			g.State, g.DueAt, g.Tokens = chat.GridFilling, at, 7
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		got, err := b.Grid(ctx, anna, second.ID)
		if err != nil || got.Tokens != 7 || !got.DueAt.Equal(at) || !got.CreatedAt.Equal(second.CreatedAt) ||
			len(got.Rows) != 2 || got.Columns[1].Asked() != "How long is it?" {
			t.Errorf("Grid = %+v, %v; want it as changed", got, err)
		}
		refused := errors.New("refused")
		if _, err := b.ChangeGrid(ctx, anna, second.ID, func(g *chat.Grid) error {
			g.Tokens = 9
			return refused
		}); !errors.Is(err, refused) {
			t.Errorf("ChangeGrid: %v, want its own error", err)
		}
		if got, _ := b.Grid(ctx, anna, second.ID); got.Tokens != 7 {
			t.Error("rejected change was stored")
		}
		if _, err := b.ChangeGridCell(ctx, anna, second.ID, 0, 0, found("x")); err != nil {
			t.Fatal(err)
		}
		if err := b.DropGrid(ctx, anna, second.ID); err != nil {
			t.Errorf("DropGrid: %v", err)
		}
		_, err = b.Grid(ctx, anna, second.ID)
		wantCode(t, "one that was dropped", err, chat.CodeNotFound)
		if cells, err := b.GridCells(ctx, anna, second.ID, 0); len(cells) > 0 || err != nil {
			t.Errorf("GridCells of one that was dropped = %v, %v", cells, err)
		}
	})
	parallel(t, open, "cells are ordered by change", func(t *testing.T, b suite) {
		ctx, g := t.Context(), keep(b, anna, "g")
		for _, at := range [][2]int{{1, 1}, {0, 0}, {1, 1}} {
			if _, err := b.ChangeGridCell(ctx, anna, g.ID, at[0], at[1], found("text")); err != nil {
				t.Fatal(err)
			}
		}
		cells, err := b.GridCells(ctx, anna, g.ID, 0)
		if err != nil || len(cells) != 2 || cells[0].Row != 0 || cells[1].Row != 1 || cells[1].Column != 1 {
			t.Fatalf("GridCells = %+v, %v; want the second and then the first", cells, err)
		}
		if cells[1].Turn != 2 || cells[1].Text != "text" || cells[1].State != chat.CellFound {
			t.Errorf("cell = %+v, want what two changes made of it", cells[1])
		}
		one, err := b.GridCell(ctx, anna, g.ID, 1, 1)
		if err != nil || one.Seq != cells[1].Seq || one.Turn != 2 || one.Text != "text" {
			t.Errorf("GridCell = %+v, %v; want %+v", one, err, cells[1])
		}
		one, err = b.GridCell(ctx, anna, g.ID, 0, 1)
		if err != nil || one.State != chat.CellWaiting || one.Column != 1 {
			t.Errorf("GridCell of one that nothing changed = %+v, %v; want it waiting", one, err)
		}
		if one, err = b.GridCell(ctx, bert, g.ID, 1, 1); err != nil || one.Text != "" || one.Turn != 0 {
			t.Errorf("GridCell of another's = %+v, %v; want nothing of it", one, err)
		}
		later, err := b.GridCells(ctx, anna, g.ID, cells[0].Seq)
		if err != nil || len(later) != 1 || later[0].Seq != cells[1].Seq {
			t.Errorf("GridCells after the first = %+v, %v; want the other", later, err)
		}
		for _, at := range [][2]int{{2, 0}, {0, 2}, {-1, 0}} {
			_, err := b.ChangeGridCell(ctx, anna, g.ID, at[0], at[1], found("x"))
			wantCode(t, "a cell outside", err, chat.CodeNotFound)
		}
	})
	parallel(t, open, "other user's is not found", func(t *testing.T, b suite) {
		ctx, hers := t.Context(), keep(b, anna, "hers")
		if _, err := b.ChangeGridCell(ctx, anna, hers.ID, 0, 0, found("x")); err != nil {
			t.Fatal(err)
		}
		_, err := b.Grid(ctx, bert, hers.ID)
		wantCode(t, "reading it", err, chat.CodeNotFound)
		_, err = b.ChangeGrid(ctx, bert, hers.ID, func(*chat.Grid) error { return nil })
		wantCode(t, "changing it", err, chat.CodeNotFound)
		_, err = b.ChangeGridCell(ctx, bert, hers.ID, 0, 0, found("y"))
		wantCode(t, "changing a cell", err, chat.CodeNotFound)
		wantCode(t, "dropping it", b.DropGrid(ctx, bert, hers.ID), chat.CodeNotFound)
		if cells, err := b.GridCells(ctx, bert, hers.ID, 0); len(cells) > 0 || err != nil {
			t.Errorf("GridCells = %v, %v; want none", cells, err)
		}
	})
	parallel(t, open, "concurrent cell changes are all stored", func(t *testing.T, b suite) {
		g := keep(b, anna, "g")
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				if _, err := b.ChangeGridCell(t.Context(), anna, g.ID, i%2, i/2%2, found("x")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		cells, err := b.GridCells(t.Context(), anna, g.ID, 0)
		turns := 0
		for _, cell := range cells {
			turns += cell.Turn
		}
		if len(cells) != 4 || turns != 20 || err != nil {
			t.Errorf("%d cells with %d turns, %v; want 4 with 20", len(cells), turns, err)
		}
	})
	parallel(t, open, "due item is claimed once, and again after a crash", func(t *testing.T, b suite) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		until := now.Add(time.Minute)
		for _, due := range []time.Time{{}, now.Add(-time.Second), now.Add(time.Second)} {
			g := keep(b, anna, "g")
			if _, err := b.ChangeGrid(t.Context(), anna, g.ID, func(g *chat.Grid) error {
				g.DueAt = due
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if n := sumParallel(t, 8, func() (int, error) {
			_, ok, err := b.ClaimGrid(t.Context(), anna.User, now, until)
			return count(ok), err
		}); n != 1 {
			t.Errorf("%d were claimed, want the one that is due", n)
		}
		for n := range 3 {
			g, ok, err := b.ClaimGrid(t.Context(), anna.User, until, until.Add(time.Minute))
			if err != nil || ok != (n < 2) || ok && (g.User != anna.User || !g.DueAt.Equal(until.Add(time.Minute))) {
				t.Errorf("claim %d a minute later = %+v, %v, %v; want 2", n, g, ok, err)
			}
		}
	})
	parallel(t, open, "claims are per user, longest due first", func(t *testing.T, b suite) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		due := map[string]chat.Scope{}
		for i, s := range []chat.Scope{anna, anna, anna, bert} {
			g := keep(b, s, "g")
			if _, err := b.ChangeGrid(t.Context(), s, g.ID, func(g *chat.Grid) error {
				g.DueAt = now.Add(-time.Duration(i) * time.Second)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			due[g.ID] = s
		}
		users, err := b.DueGrids(t.Context(), now)
		if slices.Sort(users); err != nil || !slices.Equal(users, []string{"anna", "bert"}) {
			t.Fatalf("DueGrids = %q, %v; want both users once", users, err)
		}
		last := time.Time{}
		for range 3 {
			before, _ := b.Grids(t.Context(), anna)
			g, ok, err := b.ClaimGrid(t.Context(), anna.User, now, now.Add(time.Minute))
			if err != nil || !ok || due[g.ID].User != anna.User {
				t.Fatalf("ClaimGrid = %+v, %v, %v; want one of hers", g, ok, err)
			}
			i := slices.IndexFunc(before, func(b chat.Grid) bool { return b.ID == g.ID })
			if was := before[i].DueAt; !was.After(last) {
				t.Errorf("claimed one due at %v after one due at %v, want ascending order", was, last)
			} else {
				last = was
			}
		}
		if users, err = b.DueGrids(t.Context(), now); err != nil || !slices.Equal(users, []string{"bert"}) {
			t.Errorf("DueGrids = %q, %v; want the other alone", users, err)
		}
		if err := b.FreeGrids(t.Context(), now, time.Minute); err != nil {
			t.Fatal(err)
		}
		if users, err = b.DueGrids(t.Context(), now); err != nil || len(users) != 2 {
			t.Errorf("DueGrids after FreeGrids = %q, %v; want both", users, err)
		}
	})
	parallel(t, open, "active runs exclude those of cells", func(t *testing.T, b suite) {
		for _, step := range []struct {
			session string
			want    bool
		}{{chat.GridSessions + "1", false}, {"own", true}} {
			if _, _, err := b.StartRun(t.Context(), anna.User, chat.RunRequest{
				SessionID: step.session, Message: "How long is the term?",
			}, chat.Lease{}); err != nil {
				t.Fatal(err)
			}
			if has, err := b.HasRuns(t.Context(), anna); has != step.want || err != nil {
				t.Errorf("HasRuns with one in %s = %v, %v; want %v", step.session, has, err, step.want)
			}
		}
		if has, err := b.HasRuns(t.Context(), bert); has || err != nil {
			t.Errorf("HasRuns of another = %v, %v; want none", has, err)
		}
	})
	parallel(t, open, "cell runs are not listed as conversations", func(t *testing.T, b suite) {
		for _, id := range []string{chat.GridSessions + "1", "cells-1"} {
			if _, _, err := b.StartRun(t.Context(), anna.User, chat.RunRequest{
				SessionID: id, Message: "How long is the term?",
			}, chat.Lease{}); err != nil {
				t.Fatal(err)
			}
		}
		list, _, err := b.Sessions(t.Context(), anna, chat.SessionQuery{})
		if err != nil || len(list) != 1 || list[0].ID != "cells-1" {
			t.Errorf("Sessions = %+v, %v; want the other alone", list, err)
		}
		if n, err := b.CountSessions(t.Context(), anna); n != 1 || err != nil {
			t.Errorf("CountSessions = %d, %v; want 1", n, err)
		}
		if _, err := b.Session(t.Context(), anna, chat.GridSessions+"1"); err != nil {
			t.Errorf("Session: %v, want it by its id", err)
		}
	})
	parallel(t, open, "limit per store", func(t *testing.T, b suite) {
		if n := sumParallel(t, chat.MaxGrids+5, func() (int, error) {
			_, err := b.AddGrid(t.Context(), anna, chat.Grid{Name: "g"})
			if err != nil && chat.CodeOf(err) == chat.CodeTooMany {
				return 0, nil
			}
			return 1, err
		}); n != chat.MaxGrids {
			t.Errorf("%d were kept, want %d", n, chat.MaxGrids)
		}
	})
}

// found returns a change that fills a cell.
func found(text string) func(*chat.GridCell) error {
	return func(cell *chat.GridCell) error {
		cell.State, cell.Text = chat.CellFound, text
		cell.Turn++
		return nil
	}
}

// count returns 1 for a successful claim, else 0.
func count(ok bool) int {
	if ok {
		return 1
	}
	return 0
}
