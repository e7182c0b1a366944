package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/server/page"
	"github.com/footnote/footnote/server/shares"
)

func TestALinkShowsOneAnswerAndNothingElse(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert")
	fill := b.owned("anna", given["anna"])
	made := func(body string) reply {
		return b.send("POST", fill.Replace("/agent/runs/{run}/shares"), body, "Content-Type", "application/json",
			"X-API-Key", given["anna"])
	}
	for body, want := range map[string]int{`{"days":0.5}`: 400, `{"days":-1}`: 400, `{"days":31}`: 400,
		`{"day":1}`: 400} {
		if got := made(body); got.status != want {
			t.Errorf("%s: status = %d, want %d: %s", body, got.status, want, got.body)
		}
	}
	got := made(`{}`)
	var link shares.SharedLink
	got.decode(t, &link)
	left := time.Until(link.ExpiresAt)
	at, path, ok := strings.Cut(link.URL, "/s/")
	if got.status != http.StatusCreated || !ok || len(path) != 26 || !strings.HasPrefix(at, "http://") ||
		left < 167*time.Hour || left > 168*time.Hour || got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("made: %d %s", got.status, got.body)
	}

	open := b.send("GET", "/s/"+path, "", "Accept", "text/html")
	if open.status != 200 || !strings.Contains(open.body, "Where is "+secret) {
		t.Errorf("opened without a key: %d %s", open.status, open.body)
	}
	for _, never := range []string{"/d/", "/c/", "/documents", "/agent", "<script", "<form", link.RunID,
		link.SessionID} {
		if strings.Contains(open.body, never) {
			t.Errorf("the page has %q:\n%s", never, open.body)
		}
	}
	for name, want := range map[string]string{
		"X-Robots-Tag": "noindex, nofollow, noarchive", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Content-Type": "text/html; charset=UTF-8",
	} {
		if open.header.Get(name) != want {
			t.Errorf("%s = %q, want %q", name, open.header.Get(name), want)
		}
	}

	var list shares.ShareList
	b.send("GET", "/shares", "", "X-API-Key", given["anna"], "Accept", "application/json").decode(t, &list)
	if len(list.Shares) != 2 || list.Shares[0].ID != link.ID || list.Shares[0].Opens != 1 {
		t.Errorf("GET /shares = %+v; want the new one first, opened once", list.Shares)
	}
	if page := b.send("GET", "/shares", "", "X-API-Key", given["anna"], "Accept", "text/html"); page.status != 200 ||
		strings.Contains(page.body, path) || !strings.Contains(page.body, "opened once") {
		t.Errorf("the page of links: %d %s; want no address and \"opened once\"", page.status, page.body)
	}

	never := b.send("GET", "/s/"+strings.Repeat("A", 26), "")
	if got := b.send("DELETE", "/shares/"+link.ID, "", "X-API-Key", given["anna"]); got.status != 204 {
		t.Errorf("DELETE: %d %s", got.status, got.body)
	}
	ended := b.send("GET", "/s/"+path, "")
	if never.status != 404 || ended.status != 404 {
		t.Errorf("status of a link that never was = %d, of an ended one = %d, want 404", never.status, ended.status)
	}
	if diff := cmp.Diff(never.body, ended.body); diff != "" {
		t.Errorf("one can tell an ended link from none (-none +ended):\n%s", diff)
	}
}

func TestALinkNeedsAnAnswerAndGoesWithItsConversation(t *testing.T) {
	b := newBench(t)
	run := b.begin("Is the roof sound?")
	share := func() reply {
		return b.send("POST", "/agent/runs/"+run.ID+"/shares", `{}`, "Content-Type", "application/json")
	}
	if got := share(); got.status != http.StatusConflict {
		t.Errorf("while it runs: %d %s, want 409", got.status, got.body)
	}
	b.append(run.ID, script()...)
	var link shares.SharedLink
	share().decode(t, &link)
	path := link.URL[strings.Index(link.URL, "/s/"):]
	status := func() int { return b.send("GET", path, "").status }
	if got := status(); got != 200 {
		t.Errorf("opened: status = %d, want 200", got)
	}
	if err := b.store.DeleteSession(t.Context(), chat.Local, run.SessionID); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != 404 {
		t.Errorf("opened when its conversation is deleted: status = %d, want 404", got)
	}
}

func TestAPersonMakesAndEndsLinks(t *testing.T) {
	b := newBench(t)
	run := b.begin("Is the roof sound?")
	b.append(run.ID, script()...)
	page := b.send("POST", "/shares", "run="+run.ID+"&days=30", "Content-Type", formKind, "Accept", "text/html")
	if page.status != http.StatusCreated || !strings.Contains(page.body, "/s/") {
		t.Errorf("made: %d %s; want 201 with the address", page.status, page.body)
	}
	links, err := b.store.Shares(t.Context(), chat.Local, time.Now())
	if err != nil || len(links) != 1 {
		t.Fatalf("Shares = %v, %v; want one", links, err)
	}
	got := b.send("POST", "/shares/"+links[0].ID+"/delete", "", "Content-Type", formKind, "Accept", "text/html")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/shares" {
		t.Errorf("ended: %d %s, want 303 to /shares", got.status, got.header.Get("Location"))
	}
	if links, err := b.store.Shares(t.Context(), chat.Local, time.Now()); err != nil || len(links) != 0 {
		t.Errorf("Shares = %v, %v; want none", links, err)
	}
}

func TestWhatIsOpenToOthersClosesWithItsUsersKeys(t *testing.T) {
	b, path, given := keyed(t, "anna")
	fill := b.owned("anna", given["anna"])
	var link shares.SharedLink
	b.send("POST", fill.Replace("/agent/runs/{run}/shares"), `{}`, "Content-Type", "application/json",
		"X-API-Key", given["anna"]).decode(t, &link)
	var feed page.FeedAddress
	b.send("POST", "/standing/feed", "", "X-API-Key", given["anna"]).decode(t, &feed)
	status := func() (codes []int) {
		for _, address := range []string{link.URL, feed.URL} {
			codes = append(codes, b.send("GET", strings.TrimPrefix(address, b.url), "").status)
		}
		return codes
	}
	if got := status(); got[0] != 200 || got[1] != 200 {
		t.Fatalf("before: %v, want both open", got)
	}
	if _, err := keys.Revoke(path, "anna"); err != nil {
		t.Fatal(err)
	}
	if got := status(); got[0] != 404 || got[1] != 404 {
		t.Errorf("when the key is revoked: %v, want neither open", got)
	}
	if _, err := keys.New(path, "anna"); err != nil {
		t.Fatal(err)
	}
	if got := status(); got[0] != 200 || got[1] != 200 {
		t.Errorf("with another key: %v, want both open", got)
	}
}
