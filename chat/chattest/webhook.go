package chattest

import (
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// oneHook is the address of the local user's webhooks.
const oneHook = "https://one.example/in"

// webhook sets a user's webhook at a time.
func (b suite) webhook(s chat.Scope, address string, at time.Time) {
	b.t.Helper()
	if err := b.SetWebhook(b.t.Context(), s, &chat.Webhook{
		URL: address, Origin: "https://footnote.example", Secret: []byte(address), SetAt: at, Local: address == oneHook,
	}); err != nil {
		b.t.Fatalf("SetWebhook: %v", err)
	}
}

// changed stores a kept question with changes.
func (b suite) changed(s chat.Scope, at time.Time, changes ...string) chat.Standing {
	b.t.Helper()
	kept, err := b.AddStanding(b.t.Context(), s, chat.Standing{Request: chat.RunRequest{Message: "How \x01 long?"}})
	for _, id := range changes {
		if err == nil {
			kept, err = b.ChangeStanding(b.t.Context(), s, kept.ID, func(k *chat.Standing) error {
				k.Changes = append([]chat.Change{{ID: id, At: at}}, k.Changes...)
				return nil
			})
		}
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return kept
}

// claim claims the first due notice of each user.
func (b suite) claim(now time.Time) (list []chat.Notice) {
	b.t.Helper()
	users, err := b.DueNotices(b.t.Context(), now)
	if err != nil {
		b.t.Fatalf("DueNotices: %v", err)
	}
	for _, user := range users {
		n, ok, err := b.ClaimNotice(b.t.Context(), user, now, now.Add(time.Minute))
		if err != nil {
			b.t.Fatalf("ClaimNotice: %v", err)
		}
		if ok {
			list = append(list, n)
		}
	}
	return list
}

func (b suite) settle(n chat.Notice, d chat.Delivery) bool {
	b.t.Helper()
	settled, err := b.SettleNotice(b.t.Context(), n, d)
	if err != nil {
		b.t.Fatalf("SettleNotice: %v", err)
	}
	return settled
}

// greeted sets a webhook and settles its test message.
func (b suite) greeted(s chat.Scope, at time.Time) {
	b.t.Helper()
	b.webhook(s, oneHook, at)
	list := b.claim(at)
	if len(list) != 1 || list[0].Change != nil || !b.settle(list[0], chat.Delivery{At: at}) {
		b.t.Fatalf("claimed %+v, want the notification of the change", list)
	}
}

// testWebhooks checks that each change adds exactly one notice, that one notice per user is claimed at a time, and
// that a caller that lost its claim settles nothing.
func testWebhooks(t *testing.T, open func(*testing.T) chat.Store) {
	at := time.Now().UTC().Truncate(time.Microsecond)
	later := at.Add(time.Hour)
	parallel(t, open, "webhook is user-specific and replaces the previous one", func(t *testing.T, b suite) {
		_, err := b.Webhook(t.Context(), anna)
		wantCode(t, "before it is set", err, chat.CodeNotFound)
		b.webhook(anna, oneHook, at)
		if h, err := b.Webhook(t.Context(), anna); err != nil || !h.Local {
			t.Errorf("Webhook = %+v, %v, want a local one", h, err)
		}
		b.webhook(anna, "https://two.example/in", later)
		_, err = b.Webhook(t.Context(), bert)
		wantCode(t, "another's", err, chat.CodeNotFound)
		h, err := b.Webhook(t.Context(), anna)
		if err != nil || h.URL != "https://two.example/in" || string(h.Secret) != h.URL || !h.SetAt.Equal(later) ||
			h.User != "anna" || h.Origin != "https://footnote.example" || !h.SentAt.IsZero() ||
			h.Waiting != 0 || h.Local {
			t.Errorf("Webhook = %+v, %v", h, err)
		}
		if list := b.claim(later); len(list) != 1 || list[0].To.URL != h.URL || list[0].To.Local ||
			list[0].Change != nil {
			t.Errorf("claimed %+v, want that the second was set", list)
		}
		if err := b.SetWebhook(t.Context(), anna, nil); err != nil {
			t.Fatal(err)
		}
		_, err = b.Webhook(t.Context(), anna)
		wantCode(t, "after it went", err, chat.CodeNotFound)
		if list := b.claim(later.Add(time.Hour)); len(list) != 0 {
			t.Errorf("claimed %+v, want nothing", list)
		}
	})
	parallel(t, open, "change is queued once, and never without a webhook", func(t *testing.T, b suite) {
		b.changed(bert, at, "his")
		b.greeted(anna, at)
		kept := b.changed(anna, at, "hers")
		if _, err := b.ChangeStanding(t.Context(), anna, kept.ID, func(k *chat.Standing) error {
			k.SeenAt = later
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		list := b.claim(later)
		if len(list) != 1 || list[0].ID != "hers" || list[0].KeptID != kept.ID || list[0].Change.ID != "hers" ||
			list[0].Question != "How \x01 long?" || list[0].User != "anna" || list[0].To.Waiting != 1 {
			t.Fatalf("claimed %+v, want her change", list)
		}
		if !b.settle(list[0], chat.Delivery{At: later}) || b.settle(list[0], chat.Delivery{At: later}) {
			t.Error("want it settled once")
		}
		if h, _ := b.Webhook(t.Context(), anna); !h.SentAt.Equal(later) || h.Waiting != 0 {
			t.Errorf("Webhook = %+v, want when it took something", h)
		}
		b.changed(anna, at, "another's")
		dropped := b.changed(anna, at, "dropped")
		if err := b.DropStanding(t.Context(), anna, dropped.ID); err != nil {
			t.Fatal(err)
		}
		if h, _ := b.Webhook(t.Context(), anna); h.Waiting != 1 {
			t.Errorf("%d wait, want what is owed for a question to go with it", h.Waiting)
		}
	})
	parallel(t, open, "failed message is retried, then dropped", func(t *testing.T, b suite) {
		b.greeted(anna, at)
		b.changed(anna, at, "c")
		n := b.claim(at)[0]
		if !b.settle(n, chat.Delivery{At: at, Trouble: locale.Say("It sleeps {1} s.", 2), Again: later}) {
			t.Fatal("settle = false, want true")
		}
		if list := b.claim(at.Add(time.Minute)); len(list) != 0 {
			t.Errorf("claimed %+v before its time, want none", list)
		}
		h, _ := b.Webhook(t.Context(), anna)
		if h.Trouble.String() != "It sleeps 2 s." || h.Trouble == "It sleeps 2 s." ||
			!h.FailedAt.Equal(at) || h.Lost != 0 || h.Waiting != 1 {
			t.Errorf("Webhook = %+v, want its trouble", h)
		}
		n = b.claim(later)[0]
		if n.Failed != 1 {
			t.Errorf("Failed = %d, want 1", n.Failed)
		}
		b.settle(n, chat.Delivery{At: later, Trouble: "It is gone."})
		if h, _ := b.Webhook(t.Context(), anna); h.Trouble != "It is gone." || h.Lost != 1 || h.Waiting != 0 {
			t.Errorf("Webhook = %+v, want one lost", h)
		}
		b.webhook(anna, "https://two.example/in", later)
		if h, _ := b.Webhook(t.Context(), anna); h.Trouble != "" || h.Lost != 0 || !h.FailedAt.IsZero() {
			t.Errorf("Webhook = %+v, want a fresh one", h)
		}
	})
	parallel(t, open, "longest due message is claimed once, and again after a crash", func(t *testing.T, b suite) {
		b.greeted(anna, at)
		b.greeted(bert, at)
		b.changed(anna, at, "a")
		b.changed(anna, at.Add(time.Second), "b")
		b.changed(bert, at, "c")
		var mu sync.Mutex
		var wg sync.WaitGroup
		claimed := map[string]int{}
		for range 8 {
			wg.Go(func() {
				for _, n := range b.claim(at) {
					mu.Lock()
					claimed[n.ID]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(claimed) != 2 || claimed["a"] != 1 || claimed["c"] != 1 {
			t.Errorf("claimed %v, want each user's first, once", claimed)
		}
		again := b.claim(at.Add(time.Minute))
		if len(again) != 2 {
			t.Errorf("claimed %+v a minute later, want one of each", again)
		}
		for _, n := range again {
			n.DueAt = n.DueAt.Add(-time.Minute) // the expired claim of the first holder
			if b.settle(n, chat.Delivery{At: later}) {
				t.Errorf("%s was settled by a server without the lease", n.ID)
			}
		}
	})
	parallel(t, open, "pending messages go to the new address", func(t *testing.T, b suite) {
		b.greeted(anna, at)
		b.changed(anna, at, "c")
		old := b.claim(at)[0]
		b.webhook(anna, "https://two.example/in", later)
		if b.settle(old, chat.Delivery{At: later, Trouble: "The old one sleeps.", Again: later}) {
			t.Error("result of the former address was stored for the new one")
		}
		got := map[bool]chat.Notice{}
		for _, n := range append(b.claim(later), b.claim(later)...) {
			got[n.Change != nil] = n
		}
		if n := got[true]; len(got) != 2 || n.ID != "c" || n.Failed != 0 || n.To.URL != "https://two.example/in" {
			t.Errorf("claimed %+v, want the change and that it was set", got)
		}
	})
	parallel(t, open, "queue limit", func(t *testing.T, b suite) {
		b.greeted(anna, at)
		ids := make([]string, chat.MaxNotices+2)
		for i := range ids {
			ids[i] = chat.NewID()
		}
		b.changed(anna, at, ids...)
		if h, _ := b.Webhook(t.Context(), anna); h.Waiting != chat.MaxNotices || h.Lost != 2 {
			t.Errorf("%d wait and %d are lost, want %d and 2", h.Waiting, h.Lost, chat.MaxNotices)
		}
	})
}
