package chat

import "testing"

func woken(wake <-chan struct{}) bool {
	select {
	case <-wake:
		return true
	default:
		return false
	}
}

func TestASessionsWatchersHearOfItsRunsAlone(t *testing.T) {
	f := NewFeed(nil)
	mine, stopMine := f.WatchSession("anna", "s1")
	other, stopOther := f.WatchSession("ben", "s1")
	defer stopOther()
	one, two := mine(), other()
	f.Begin(Run{ID: "r1", User: "anna", SessionID: "s1"})
	if !woken(one) || woken(two) {
		t.Errorf("after a run of anna's: anna woken %t, ben %t, want true and false", woken(one), woken(two))
	}
	if woken(mine()) {
		t.Error("the next channel is closed before anything else began")
	}
	one, two = mine(), other()
	f.Wake("of another process")
	if !woken(one) || !woken(two) {
		t.Errorf("after a run of another process: anna woken %t, ben %t, want both", woken(one), woken(two))
	}
	stopMine()
	stopMine()
	if n := len(f.sessions.open); n != 1 {
		t.Errorf("%d sessions are watched after one was left, want 1", n)
	}
}
