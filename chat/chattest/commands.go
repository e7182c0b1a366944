package chattest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// testCommands checks that commands reach the server that holds a run, survive a takeover, and that of two decisions
// about one call one wins, also concurrently.
func testCommands(t *testing.T, open func(*testing.T) chat.Store) {
	want := func(b suite, by string, commands ...chat.Command) {
		b.t.Helper()
		got, err := b.Commands(b.t.Context(), by)
		if err != nil || len(got) != len(commands) || len(commands) > 0 && !reflect.DeepEqual(got, commands) {
			b.t.Errorf("Commands of %s = %+v, %v; want %+v", by, got, err, commands)
		}
	}
	keep := func(b suite, w chat.Command) {
		b.t.Helper()
		if err := b.AddCommand(b.t.Context(), anna, w); err != nil {
			b.t.Fatalf("AddCommand %+v: %v", w, err)
		}
	}
	parallel(t, open, "lease holder reads commands oldest first until the end", func(
		t *testing.T, b suite,
	) {
		one, two := b.ask("s", "q"), b.ask("t", "q")
		commands := []chat.Command{
			{RunID: two.ID, Kind: chat.CommandApprove, CallID: "c3", Input: json.RawMessage(`{"query": "ro\u0000of"}`)},
			{RunID: one.ID, Kind: chat.CommandAnswerNow},
			{RunID: two.ID, Kind: chat.CommandDeny, CallID: "c4"},
			{RunID: one.ID, Kind: chat.CommandCancel},
			{RunID: two.ID, Kind: chat.CommandApprove, CallID: "c5"},
		}
		for _, w := range commands {
			keep(b, w)
		}
		want(b, owner, commands...)
		want(b, "server-2")
		b.finish(two.ID)
		if _, err := b.Purge(t.Context(), time.Time{}, time.Time{}); err != nil {
			t.Fatal(err)
		}
		want(b, owner, commands[1], commands[3])
		b.finish(one.ID)
		want(b, owner)
	})
	parallel(t, open, "takeover reads pending commands", func(t *testing.T, b suite) {
		run := b.ask("s", "q")
		w := chat.Command{RunID: run.ID, Kind: chat.CommandAnswerNow}
		keep(b, w)
		if _, err := b.TakeOver(
			t.Context(), chat.Lease{Owner: "server-2", Until: time.Now().Add(time.Hour)}, time.Now().Add(2*time.Hour),
		); err != nil {
			t.Fatal(err)
		}
		want(b, owner)
		want(b, "server-2", w)
	})
	parallel(t, open, "repeated command is a no-op, and the first decision counts", func(
		t *testing.T, b suite,
	) {
		run := b.ask("s", "q")
		cancel, approve := chat.Command{RunID: run.ID, Kind: chat.CommandCancel}, chat.Command{
			RunID: run.ID, Kind: chat.CommandApprove, CallID: "c1",
		}
		keep(b, cancel)
		keep(b, approve)
		keep(b, cancel)
		for _, kind := range []chat.CommandKind{chat.CommandApprove, chat.CommandDeny} {
			wantCode(t, "a second decision", b.AddCommand(
				t.Context(), anna, chat.Command{RunID: run.ID, Kind: kind, CallID: "c1"},
			), chat.CodeConflict)
		}
		want(b, owner, cancel, approve)
	})
	parallel(t, open, "one of many concurrent decisions counts", func(t *testing.T, b suite) {
		run := b.ask("s", "q")
		errs := make([]error, 8)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				errs[i] = b.AddCommand(t.Context(), anna, chat.Command{
					RunID: run.ID, Kind: chat.CommandApprove, CallID: "c1",
					Input: json.RawMessage(fmt.Sprintf(`{"by":%d}`, i)),
				})
			})
		}
		wg.Wait()
		counted := -1
		for i, err := range errs {
			switch {
			case err == nil && counted >= 0:
				t.Errorf("commands %d and %d both apply, want one", counted, i)
			case err == nil:
				counted = i
			default:
				wantCode(t, "a later decision", err, chat.CodeConflict)
			}
		}
		want(b, owner, chat.Command{RunID: run.ID, Kind: chat.CommandApprove, CallID: "c1", Input: json.RawMessage(
			fmt.Sprintf(`{"by":%d}`, counted),
		)})
	})
	parallel(t, open, "commands require an active run of the user", func(t *testing.T, b suite) {
		run, over, hidden := b.ask("s", "q"), b.ask("t", "q"), b.ask("u", "q")
		b.finish(over.ID)
		b.mustHide("u")
		for what, id := range map[string]string{"of no run": chat.NewID(), "of a hidden run": hidden.ID} {
			wantCode(t, "a command "+what, b.AddCommand(
				t.Context(), anna, chat.Command{RunID: id, Kind: chat.CommandCancel},
			), chat.CodeNotFound)
		}
		wantCode(t, "a command of a stranger", b.AddCommand(
			t.Context(), bert, chat.Command{RunID: run.ID, Kind: chat.CommandCancel},
		), chat.CodeNotFound)
		wantCode(t, "a command about a run that is over", b.AddCommand(
			t.Context(), anna, chat.Command{RunID: over.ID, Kind: chat.CommandCancel},
		), chat.CodeConflict)
		want(b, owner)
	})
}
