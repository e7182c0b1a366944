package chattest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"footnote/chat"
)

func testWishes(t *testing.T, open func(*testing.T) chat.Store) {
	want := func(b bench, by string, wishes ...chat.Wish) {
		b.t.Helper()
		got, err := b.Wishes(b.t.Context(), by)
		if err != nil || len(got) != len(wishes) || len(wishes) > 0 && !reflect.DeepEqual(got, wishes) {
			b.t.Errorf("Wishes of %s = %+v, %v; want %+v", by, got, err, wishes)
		}
	}
	keep := func(b bench, w chat.Wish) {
		b.t.Helper()
		if err := b.Wish(b.t.Context(), anna, w); err != nil {
			b.t.Fatalf("Wish %+v: %v", w, err)
		}
	}
	parallel(t, open, "who holds the run finds what is wanted of it, oldest first, until it is over", func(
		t *testing.T, b bench,
	) {
		one, two := b.ask("s", "q"), b.ask("t", "q")
		wishes := []chat.Wish{
			{RunID: two.ID, Kind: chat.WishApprove, CallID: "c3", Input: json.RawMessage(`{"query": "ro\u0000of"}`)},
			{RunID: one.ID, Kind: chat.WishAnswerNow},
			{RunID: two.ID, Kind: chat.WishDeny, CallID: "c4"},
			{RunID: one.ID, Kind: chat.WishCancel},
			{RunID: two.ID, Kind: chat.WishApprove, CallID: "c5"},
		}
		for _, w := range wishes {
			keep(b, w)
		}
		want(b, owner, wishes...)
		want(b, "server-2")
		b.finish(two.ID)
		if _, err := b.Purge(t.Context(), time.Time{}, time.Time{}); err != nil {
			t.Fatal(err)
		}
		want(b, owner, wishes[1], wishes[3])
		b.finish(one.ID)
		want(b, owner)
	})
	parallel(t, open, "who takes a run over finds what is wanted of it", func(t *testing.T, b bench) {
		run := b.ask("s", "q")
		w := chat.Wish{RunID: run.ID, Kind: chat.WishAnswerNow}
		keep(b, w)
		if _, err := b.TakeOver(
			t.Context(), chat.Lease{Owner: "server-2", Until: time.Now().Add(time.Hour)}, time.Now().Add(2*time.Hour),
		); err != nil {
			t.Fatal(err)
		}
		want(b, owner)
		want(b, "server-2", w)
	})
	parallel(t, open, "the same wish again changes nothing, of two decisions the first counts", func(
		t *testing.T, b bench,
	) {
		run := b.ask("s", "q")
		cancel, approve := chat.Wish{RunID: run.ID, Kind: chat.WishCancel}, chat.Wish{
			RunID: run.ID, Kind: chat.WishApprove, CallID: "c1",
		}
		keep(b, cancel)
		keep(b, approve)
		keep(b, cancel)
		for _, kind := range []chat.WishKind{chat.WishApprove, chat.WishDeny} {
			wantCode(t, "a second decision", b.Wish(
				t.Context(), anna, chat.Wish{RunID: run.ID, Kind: kind, CallID: "c1"},
			), chat.CodeConflict)
		}
		want(b, owner, cancel, approve)
	})
	parallel(t, open, "one of many who decide at once counts", func(t *testing.T, b bench) {
		run := b.ask("s", "q")
		errs := make([]error, 8)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				errs[i] = b.Wish(t.Context(), anna, chat.Wish{
					RunID: run.ID, Kind: chat.WishApprove, CallID: "c1",
					Input: json.RawMessage(fmt.Sprintf(`{"by":%d}`, i)),
				})
			})
		}
		wg.Wait()
		counted := -1
		for i, err := range errs {
			switch {
			case err == nil && counted >= 0:
				t.Errorf("%d and %d both count", counted, i)
			case err == nil:
				counted = i
			default:
				wantCode(t, "a later decision", err, chat.CodeConflict)
			}
		}
		want(b, owner, chat.Wish{RunID: run.ID, Kind: chat.WishApprove, CallID: "c1", Input: json.RawMessage(
			fmt.Sprintf(`{"by":%d}`, counted),
		)})
	})
	parallel(t, open, "only one's own runs under way can be wanted something of", func(t *testing.T, b bench) {
		run, over, hidden := b.ask("s", "q"), b.ask("t", "q"), b.ask("u", "q")
		b.finish(over.ID)
		b.mustHide("u")
		for what, id := range map[string]string{"of no run": chat.NewID(), "of a hidden run": hidden.ID} {
			wantCode(t, "a wish "+what, b.Wish(
				t.Context(), anna, chat.Wish{RunID: id, Kind: chat.WishCancel},
			), chat.CodeNotFound)
		}
		wantCode(t, "a wish of a stranger", b.Wish(
			t.Context(), bert, chat.Wish{RunID: run.ID, Kind: chat.WishCancel},
		), chat.CodeNotFound)
		wantCode(t, "a wish about a run that is over", b.Wish(
			t.Context(), anna, chat.Wish{RunID: over.ID, Kind: chat.WishCancel},
		), chat.CodeConflict)
		want(b, owner)
	})
}
