package chattest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
)

// testQueue checks the three steps of a queued question (taken, started, settled), the edits before it is taken, and
// that one key is one question.
func testQueue(t *testing.T, open func(*testing.T) chat.Store) {
	enqueue := func(b suite, session, message string) chat.Queued {
		b.t.Helper()
		q, err := b.Enqueue(
			b.t.Context(), anna, chat.RunRequest{SessionID: session, Message: message, Toolset: "react"},
		)
		if err != nil {
			b.t.Fatalf("Enqueue(%q): %v", message, err)
		}
		return q
	}
	waiting := func(b suite, session string) (messages []string) {
		b.t.Helper()
		list, err := b.Queue(b.t.Context(), anna, session)
		if err != nil {
			b.t.Fatalf("Queue: %v", err)
		}
		for _, q := range list {
			messages = append(messages, q.Request.Message)
		}
		return messages
	}
	take := func(b suite, want string) chat.Queued {
		b.t.Helper()
		q, ok, err := b.TakeQueued(b.t.Context(), chat.SessionKey{User: anna.User, ID: "s"})
		if err != nil || ok != (want != "") || q.Request.Message != want {
			b.t.Fatalf("TakeQueued = %q, %v, %v; want %q", q.Request.Message, ok, err, want)
		}
		return q
	}
	parallel(t, open, "questions wait for the run in order", func(t *testing.T, b suite) {
		run := b.ask("s", "zero")
		one := enqueue(b, "s", "one")
		enqueue(b, "s", "two")
		if one.User != anna.User || one.SessionID != "s" || one.Request.Toolset != "react" ||
			one.Request.IdempotencyKey == "" {
			t.Errorf("queued question = %+v", one)
		}
		take(b, "")
		if ids, err := b.Waiting(t.Context()); err != nil || len(ids) != 0 {
			t.Errorf("Waiting = %v, %v while a run is under way", ids, err)
		}
		b.finish(run.ID)
		if ids, err := b.Waiting(t.Context()); err != nil ||
			!slices.Equal(ids, []chat.SessionKey{{User: anna.User, ID: "s"}}) {
			t.Errorf("Waiting = %v, %v", ids, err)
		}
		again := take(b, "one")
		if same := take(b, "one"); same.ID != again.ID || same.Request.IdempotencyKey != one.Request.IdempotencyKey {
			t.Errorf("repeated take = %+v, want the same as %+v", same, again)
		}
		if err := b.SettleQueued(t.Context(), one.ID, ""); err != nil {
			t.Fatal(err)
		}
		two := take(b, "two")
		if err := b.SettleQueued(t.Context(), two.ID, ""); err != nil {
			t.Fatal(err)
		}
		take(b, "")
	})
	parallel(t, open, "unsendable question waits until edited", func(t *testing.T, b suite) {
		b.finish(b.ask("s", "zero").ID)
		one := enqueue(b, "s", "one")
		enqueue(b, "s", "two")
		take(b, "one")
		if err := b.SettleQueued(t.Context(), one.ID, "It can't be."); err != nil {
			t.Fatal(err)
		}
		take(b, "")
		if list, err := b.Queue(t.Context(), anna, "s"); err != nil || list[0].Problem != "It can't be." {
			t.Errorf("Queue = %+v, %v", list, err)
		}
		if err := b.EditQueued(t.Context(), anna, "s", one.ID, "one, \"mended\""); err != nil {
			t.Fatal(err)
		}
		if q := take(b, "one, \"mended\""); q.Request.Toolset != "react" ||
			q.Request.IdempotencyKey == one.Request.IdempotencyKey {
			t.Errorf("edited question = %+v", q)
		}
	})
	parallel(t, open, "questions can be moved first and removed", func(t *testing.T, b suite) {
		run := b.ask("s", "zero")
		one, two, three := enqueue(b, "s", "one"), enqueue(b, "s", "two"), enqueue(b, "s", "three")
		if err := b.MoveQueuedFirst(t.Context(), anna, "s", three.ID); err != nil {
			t.Fatal(err)
		}
		if err := b.DropQueued(t.Context(), anna, "s", one.ID); err != nil {
			t.Fatal(err)
		}
		if got := waiting(b, "s"); !slices.Equal(got, []string{"three", "two"}) {
			t.Errorf("waiting = %v", got)
		}
		b.finish(run.ID)
		take(b, "three")
		wantCode(t, "DropQueued", b.DropQueued(t.Context(), anna, "s", three.ID), chat.CodeNotFound)
		wantCode(t, "EditQueued", b.EditQueued(t.Context(), anna, "s", three.ID, "x"), chat.CodeNotFound)
		wantCode(t, "MoveQueuedFirst", b.MoveQueuedFirst(t.Context(), anna, "s", three.ID), chat.CodeNotFound)
		if err := b.DropQueued(t.Context(), anna, "s", two.ID); err != nil {
			t.Errorf("other question: %v", err)
		}
	})
	parallel(t, open, "question taken too early is requeued", func(t *testing.T, b suite) {
		b.finish(b.ask("s", "zero").ID)
		one := enqueue(b, "s", "one")
		take(b, "one")
		wantCode(t, "DropQueued of a taken one", b.DropQueued(t.Context(), anna, "s", one.ID), chat.CodeNotFound)
		if err := b.PutBackQueued(t.Context(), one.ID); err != nil {
			t.Fatal(err)
		}
		if list, err := b.Queue(t.Context(), anna, "s"); err != nil || len(list) != 1 || list[0].Problem != "" {
			t.Errorf("waiting = %+v, %v; want the question without a problem", list, err)
		}
		if err := b.DropQueued(t.Context(), anna, "s", one.ID); err != nil {
			t.Errorf("DropQueued: %v", err)
		}
	})
	parallel(t, open, "queue limit and idempotency key", func(t *testing.T, b suite) {
		b.ask("s", "zero")
		var wg sync.WaitGroup
		for i := range chat.MaxQueued + 5 {
			wg.Go(func() {
				_, err := b.Enqueue(t.Context(), anna, chat.RunRequest{SessionID: "s", Message: fmt.Sprint(i)})
				if err != nil && chat.CodeOf(err) != chat.CodeConflict {
					t.Errorf("Enqueue: %v", err)
				}
			})
		}
		wg.Wait()
		if n := len(waiting(b, "s")); n != chat.MaxQueued {
			t.Errorf("%d wait, want %d", n, chat.MaxQueued)
		}
		b.ask("other", "zero")
		req := chat.RunRequest{SessionID: "other", Message: "one", IdempotencyKey: "k"}
		first, err := b.Enqueue(t.Context(), anna, req)
		if err != nil || first.Request.IdempotencyKey != "k" {
			t.Fatalf("Enqueue = %+v, %v", first, err)
		}
		if second, err := b.Enqueue(t.Context(), anna, req); err != nil || second.ID != first.ID {
			t.Errorf("the same key again: %s, %v; want %s", second.ID, err, first.ID)
		}
		req.DocumentIDs = []string{"d"}
		_, err = b.Enqueue(t.Context(), anna, req)
		wantCode(t, "another question under the key", err, chat.CodeKeyReused)
	})
	parallel(t, open, "user isolation", func(t *testing.T, b suite) {
		b.ask("s", "zero")
		one := enqueue(b, "s", "one")
		_, err := b.Enqueue(t.Context(), bert, chat.RunRequest{SessionID: "s", Message: "x"})
		wantCode(t, "Enqueue", err, chat.CodeNotFound)
		_, err = b.Enqueue(t.Context(), anna, chat.RunRequest{SessionID: "none", Message: "x"})
		wantCode(t, "Enqueue in no session", err, chat.CodeNotFound)
		_, err = b.Queue(t.Context(), bert, "s")
		wantCode(t, "Queue", err, chat.CodeNotFound)
		for _, where := range []struct {
			scope   chat.Scope
			session string
		}{{bert, "s"}, {anna, "other"}} {
			wantCode(t, "EditQueued", b.EditQueued(
				t.Context(), where.scope, where.session, one.ID, "x",
			), chat.CodeNotFound)
			wantCode(t, "MoveQueuedFirst", b.MoveQueuedFirst(
				t.Context(), where.scope, where.session, one.ID,
			), chat.CodeNotFound)
			wantCode(t, "DropQueued", b.DropQueued(t.Context(), where.scope, where.session, one.ID), chat.CodeNotFound)
		}
		b.mustHide("s")
		take(b, "")
	})
}
