package webhook

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestNothingIsSentForRevokedUser(t *testing.T) {
	p, box := newHarness(t), newReceiver(t, nil)
	gone := true
	p.cfg.Gone = func(user string) bool { return gone && user == chat.LocalUser }
	p.set(box.URL)
	p.work()
	if len(box.all()) != 0 {
		t.Error("got a message for a user with revoked keys, want none")
	}
	gone, p.now = false, p.now.Add(2*claimTime)
	p.work()
	if len(box.all()) != 1 {
		t.Error("got no message for a user with a new key, want 1")
	}
}

// TestWebhookKeepsNetworkPolicy covers a webhook that was not set by the local user: its messages reach only the public
// internet.
func TestWebhookKeepsNetworkPolicy(t *testing.T) {
	p, box := newHarness(t), newReceiver(t, nil)
	if _, err := p.Set(t.Context(), chat.Local, box.URL, "https://footnote.example", false); err != nil {
		t.Fatal(err)
	}
	p.work()
	h, err := p.store.Webhook(t.Context(), chat.Local)
	if err != nil || !strings.Contains(h.Trouble.String(), "not on the public internet") || len(box.all()) != 0 {
		t.Errorf("%d messages arrived, trouble %q, %v; want none", len(box.all()), h.Trouble, err)
	}
}
