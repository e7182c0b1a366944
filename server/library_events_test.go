package server

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/footnote/footnote/server/httpio/ssetest"
)

func TestAStreamTellsOfDocumentsThatComeAndGo(t *testing.T) {
	b := newBench(t)
	type news struct{ Seen, Documents string }
	next := func(reader *ssetest.Reader) (n news) {
		t.Helper()
		event, err := reader.Next()
		if err != nil || event.Name != "library" {
			t.Fatalf("event = %+v, %v, want one with the name library", event, err)
		}
		if err := json.Unmarshal([]byte(event.Data), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	open := func(query string) *ssetest.Reader {
		t.Helper()
		res, err := http.Get(b.url + "/documents/events" + query)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return ssetest.NewReader(res.Body)
	}
	once := open("")
	empty := next(once)
	if empty.Documents != "0" {
		t.Errorf("without documents it tells of %q, want 0", empty.Documents)
	}
	if event, err := once.Next(); err == nil {
		t.Errorf("without ?seen= there is another event: %+v; want the end", event)
	}
	page := open("?seen=" + empty.Seen)
	_, up := b.uploadFiles("@roof.md=" + survey)
	now := next(page)
	for now.Documents != "1" {
		now = next(page)
	}
	one := now.Seen
	if one == empty.Seen {
		t.Errorf("one document is seen as %q, as none was; want another word", one)
	}
	if got := b.send("DELETE", "/documents/"+up.Documents[0].ID, ""); got.status != http.StatusNoContent {
		t.Fatalf("delete: %d, want %d", got.status, http.StatusNoContent)
	}
	for now.Documents != "0" {
		now = next(page)
	}
	if missed := next(open("?seen=" + one)); missed.Documents != "0" {
		t.Errorf("a page that missed changes is told of %q documents, want 0", missed.Documents)
	}
}
