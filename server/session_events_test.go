package server

import (
	"net/http"
	"testing"

	"footnote/chat"
)

func TestAStreamOfASessionTellsOfRunsThatBeganElsewhere(t *testing.T) {
	b := newBench(t)
	first := b.begin("Is the roof sound?")
	res, err := http.Get(b.url + "/c/" + first.SessionID + "/events?head=" + first.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	reader := newSSEReader(res.Body)
	for range 2 { // one that is asked here, one of which only a notification of another process is known
		run, _, err := b.stage.Start(t.Context(), chat.LocalUser, chat.RunRequest{Message: "And the wall?", SessionID: first.SessionID})
		if err != nil {
			t.Fatal(err)
		}
		b.feed.Wake(run.ID)
		event, err := reader.next()
		if err != nil || event.Name != "head" || event.Data != run.ID {
			t.Fatalf("event = %+v, %v, want head %s", event, err, run.ID)
		}
	}
	again, err := http.Get(b.url + "/c/" + first.SessionID + "/events?head=" + first.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Body.Close()
	if event, err := newSSEReader(again.Body).next(); err != nil || event.Name != "head" {
		t.Errorf("a page that missed a run: %+v, %v", event, err)
	}
	if got := b.send("GET", "/c/nowhere/events", ""); got.status != http.StatusNotFound {
		t.Errorf("a session that is not there: %d", got.status)
	}
}
