package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio/ssetest"
)

func TestAStreamOfASessionTellsOfRunsThatBeganElsewhere(t *testing.T) {
	b := newBench(t)
	first := b.begin("Is the roof sound?")
	res, err := http.Get(b.url + "/c/" + first.SessionID + "/events?head=" + first.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	reader := ssetest.NewReader(res.Body)
	for range 2 { // one that is asked here, one of which only a notification of another process is known
		run, _, err := b.stage.Start(t.Context(), chat.LocalUser, chat.RunRequest{
			Message: "And the wall?", SessionID: first.SessionID,
		})
		if err != nil {
			t.Fatal(err)
		}
		b.feed.Wake(run.ID)
		event, err := reader.Next()
		if err != nil || event.Name != "head" || event.Data != run.ID {
			t.Fatalf("event = %+v, %v, want head %s", event, err, run.ID)
		}
	}
	again, err := http.Get(b.url + "/c/" + first.SessionID + "/events?head=" + first.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Body.Close()
	if event, err := ssetest.NewReader(again.Body).Next(); err != nil || event.Name != "head" {
		t.Errorf("a page that missed a run: %+v, %v; want Name %q", event, err, "head")
	}
	if got := b.send("GET", "/c/nowhere/events", ""); got.status != http.StatusNotFound {
		t.Errorf("a session that is not there: %d, want %d", got.status, http.StatusNotFound)
	}
}

func TestAPageOfAnotherVersionIsGivenTheTurnsThatAreShownNow(t *testing.T) {
	b := newBench(t)
	ask := func(session, sibling string) chat.Run {
		run, _, err := b.stage.Start(t.Context(), chat.LocalUser, chat.RunRequest{
			Message: "Is the roof sound?", SessionID: session, Sibling: sibling,
		})
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	first := b.begin("Is the roof sound?")
	second := ask(first.SessionID, "")
	third := ask(first.SessionID, "")
	again := ask(first.SessionID, second.ID)
	next := func(after string) (ids []string) {
		body := b.send("GET", "/c/"+first.SessionID+"/next?after="+after, "", "HX-Request", "true").body
		for _, run := range []chat.Run{first, second, third, again} {
			if strings.Contains(body, `id="turn-`+run.ID+`"`) {
				ids = append(ids, run.ID)
			}
		}
		return ids
	}
	for _, tt := range []struct {
		name, after string
		want        []string
	}{
		{"the page has it all", again.ID, nil},
		{"another version and what followed it", third.ID, []string{again.ID}},
		{"the question before", first.ID, []string{again.ID}},
		{"a run that is not there", "gone", []string{first.ID, again.ID}},
	} {
		if got := next(tt.after); !slices.Equal(got, tt.want) {
			t.Errorf("%s: turns %v, want %v", tt.name, got, tt.want)
		}
	}
	if err := b.stage.store.SetHead(t.Context(), chat.Scope{User: chat.LocalUser}, first.SessionID,
		first.ID); err != nil {
		t.Fatal(err)
	}
	if got := next(again.ID); !slices.Equal(got, []string{first.ID}) {
		t.Errorf("a branch that ends before: turns %v, want the last one", got)
	}
	res, err := http.Get(b.url + "/c/" + first.SessionID + "/events?head=" + first.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := b.send("POST", "/sessions/"+first.SessionID+"/head", `{"run_id":"`+third.ID+`"}`, "Content-Type",
		"application/json"); got.status != http.StatusNoContent {
		t.Fatalf("choose a version: %d %s, want %d", got.status, got.body, http.StatusNoContent)
	}
	if event, err := ssetest.NewReader(res.Body).Next(); err != nil || event.Name != "head" || event.Data != third.ID {
		t.Errorf("event = %+v, %v, want head %s", event, err, third.ID)
	}
}
