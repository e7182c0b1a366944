package server

import (
	"database/sql"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio/ssetest"
)

// loseAfter takes the end of all logs back, as a crash of the database may.
func (b *bench) loseAfter(seq int64) {
	b.t.Helper()
	db, err := sql.Open("sqlite", "file:"+b.path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(b.t.Context(), `DELETE FROM events WHERE id % (1 << 20) > ?`, seq); err != nil {
		b.t.Fatal(err)
	}
	b.feed.WakeAll() // as when the connection to the database breaks
}

// A reader whose stream stays open while the database loses what it has seen is told, and gets what comes instead.
func TestAReaderIsToldWhenTheLogLosesItsEnd(t *testing.T) {
	b := newBench(t)
	run := b.begin("Is the roof sound?")
	path := "/agent/runs/" + run.ID + "/events"
	step := func(id, says string) chat.Step {
		return chat.Step{
			CallID: id, Step: "analyse", Message: says, Status: chat.StatusComplete, ToolStatus: chat.StatusComplete,
		}
	}
	b.append(run.ID, chat.RunStarted{Question: "Is the roof sound?"}, step("c1", "one"), step("c2", "two"),
		step("c3", "three"))
	readers := map[string]*ssetest.Reader{}
	for _, name := range []string{path, "/runs/" + run.ID + "/stream"} {
		res, r := b.open(name)
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, want %d", name, res.StatusCode, http.StatusOK)
		}
		take(t, r, 4)
		readers[name] = r
	}
	b.loseAfter(2)
	for name, r := range readers {
		if told := take(t, r, 3); told[0].Name != "reset" || told[1].ID != "1" || told[2].ID != "2" {
			t.Errorf("%s: told %v; want %q, %q, %q", name, told, "reset", "1", "2")
		}
	}
	b.append(run.ID, step("c2", "other words"), step("c3", "and others"), step("c4", "and more"),
		chat.RunDone{Status: chat.RunCompleted})
	want := b.logged(run.ID)
	if diff := cmp.Diff(want[2:], take(t, readers[path], len(want)-2)); diff != "" {
		t.Errorf("what follows (-want +got):\n%s", diff)
	}
	for i, ev := range take(t, readers["/runs/"+run.ID+"/stream"], len(want)-2) {
		if ev.ID != fmt.Sprint(i+3) {
			t.Errorf("fragment %d has the number %s", i+3, ev.ID)
		}
	}
	_, late := b.open(path)
	if diff := cmp.Diff(want, take(t, late, len(want))); diff != "" {
		t.Errorf("a reader that comes late (-want +got):\n%s", diff)
	}
}
