package corpus

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/footnote/footnote/chat"
)

// TestDrawingsTakeTurnsByUser has one user queue 20 drawings before another queues one.
func TestDrawingsTakeTurnsByUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrawings()
		var order []string
		draw := func(name string) func(context.Context) (*Drawn, error) {
			return func(context.Context) (*Drawn, error) {
				time.Sleep(time.Minute)
				order = append(order, name)
				return nil, undrawnOffice
			}
		}
		var works []*drawingWork
		for i := range 20 {
			name := "many " + string(rune('a'+i))
			works = append(works, d.begin(t.Context(), "many", name, draw("many")))
			synctest.Wait()
		}
		works = append(works, d.begin(t.Context(), "one", "one", draw("one")))
		for _, work := range works {
			<-work.done
		}
		if i := slices.Index(order, "one"); i != 1 {
			t.Errorf("the other user's drawing is number %d of %d, want the second", i+1, len(order))
		}
		if err := d.close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDrawingsAreSharedAndKeptWithinBounds draws each original once for all callers and evicts the least recently used.
func TestDrawingsAreSharedAndKeptWithinBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrawings()
		calls := 0
		large := func(context.Context) (*Drawn, error) {
			time.Sleep(time.Second)
			calls++
			return &Drawn{Text: string(make([]byte, drawingBytes/4))}, nil
		}
		for range 10 { // at once
			defer func(work *drawingWork) { <-work.done }(d.begin(t.Context(), "a", "shared", large))
		}
		<-d.begin(t.Context(), "b", "shared", large).done
		if calls != 1 {
			t.Errorf("drawn %d times for those who look at once, want once", calls)
		}
		for _, sha := range []string{"1", "2", "3", "4"} {
			<-d.begin(t.Context(), "a", sha, large).done
		}
		if _, ok, _ := d.get("shared"); ok || d.bytes > drawingBytes {
			t.Errorf("the drawing used least is kept (%t), all take %d bytes; want at most %d", ok, d.bytes,
				drawingBytes)
		}
		if _, ok, _ := d.get("4"); !ok {
			t.Error("the newest drawing is gone")
		}
		for sha, err := range map[string]error{"broken": undrawnOffice, "other": errors.New("no disk")} {
			<-d.begin(t.Context(), "a", sha, func(context.Context) (*Drawn, error) { return nil, err }).done
			if _, ok, got := d.get(sha); !ok || !errors.Is(got, err) {
				t.Errorf("the failure %v is forgotten at once", err)
			}
		}
		gone := &chat.Error{Code: chat.CodeNotFound}
		<-d.begin(t.Context(), "a", "gone", func(context.Context) (*Drawn, error) { return nil, gone }).done
		if _, ok, _ := d.get("gone"); ok {
			t.Error("a document that is gone is remembered")
		}
		if err := d.close(); err != nil {
			t.Fatal(err)
		}
	})
}
