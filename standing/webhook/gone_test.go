package webhook

import (
	"testing"

	"footnote/chat"
)

func TestNothingIsSentForWhoIsGone(t *testing.T) {
	p, box := newPost(t), newMailbox(t, nil)
	gone := true
	p.cfg.Gone = func(user string) bool { return gone && user == chat.LocalUser }
	p.set(box.URL)
	p.work()
	if len(box.all()) != 0 {
		t.Error("a user whose keys were revoked is told something")
	}
	gone, p.now = false, p.now.Add(2*claimTime)
	p.work()
	if len(box.all()) != 1 {
		t.Error("a user who has a key again is told nothing")
	}
}
