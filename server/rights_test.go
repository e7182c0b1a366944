package server

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio"
)

// secret is in everything that the owner has: it must not come out to anybody else.
const secret = "zirconium"

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// owned makes one of everything for a user and returns what fills the places of routes and bodies.
func (b *bench) owned(user, key string) *strings.Replacer {
	b.t.Helper()
	body, kind := form(b.t, "@"+secret+".md=# "+secret+"\n\nThe "+secret+" roof is sound.")
	got := b.send("POST", "/documents", body, "Content-Type", kind, "X-API-Key", key)
	var res api.Uploaded
	got.decode(b.t, &res)
	doc := res.Documents[0].ID
	b.send("GET", "/documents/"+doc+"/events", "", "X-API-Key", key) // until it is ready
	b.stage.play = nil
	run, _, err := b.stage.Start(b.t.Context(), user, chat.RunRequest{
		SessionID: "owned", Message: "Where is " + secret + "?",
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.append(run.ID, script()...)
	if _, err := b.store.SetFeedback(b.t.Context(), chat.Scope{User: user},
		chat.Feedback{RunID: run.ID, Rating: "up", Comment: secret}); err != nil {
		b.t.Fatal(err)
	}
	item, err := b.store.Enqueue(b.t.Context(), chat.Scope{User: user}, chat.RunRequest{
		SessionID: "owned", Message: secret,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	link, err := b.store.AddShare(b.t.Context(), chat.Scope{User: user}, run.ID, chat.TokenHash{1},
		time.Now().Add(time.Hour))
	if err != nil {
		b.t.Fatal(err)
	}
	kept, err := b.store.KeepStanding(b.t.Context(), chat.Scope{User: user}, chat.Standing{
		Request: chat.RunRequest{Message: secret, SessionID: "owned"}, Basis: chat.Basis{RunID: run.ID},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.setWebhook(user)
	table, err := b.store.KeepGrid(b.t.Context(), chat.Scope{User: user}, chat.Grid{
		Name: secret, Columns: []chat.GridColumn{{Name: secret}}, State: chat.GridStopped,
		Rows: []chat.GridRow{{DocumentID: doc, Title: secret}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	place, err := b.places.CreatePlace(b.t.Context(), chat.NewID(), user, placestore.Setup{
		Name: secret, Namespace: chat.DefaultNamespace, Schedule: placestore.OnRequest,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.NewReplacer("{table}", table.ID, "{place}", place.ID, "{kept}", kept.ID, "{share}", link.ID,
		"{session}", "owned", "{run}", run.ID, "{doc}", doc, "{item}", item.ID, "{call}", "c1")
}

// address fills a route's places.
func address(route string) string {
	path := strings.NewReplacer(":item", "{item}", ":call", "{call}", ":page", "1.png", ":model", "x", ":version", "x",
		":row", "0", ":column", "0", ":token", "unknown", "*", "x").Replace(route)
	id := "{run}"
	switch {
	case strings.HasPrefix(path, "/v1/responses/"):
		id = "resp_{run}"
	case strings.HasPrefix(path, "/tables/"):
		id = "{table}"
	case strings.HasPrefix(path, "/places/"):
		id = "{place}"
	case strings.HasPrefix(path, "/documents/"), strings.HasPrefix(path, "/d/"):
		id = "{doc}"
	case strings.HasPrefix(path, "/shares/"):
		id = "{share}"
	case strings.HasPrefix(path, "/standing/"):
		id = "{kept}"
	case strings.HasPrefix(path, "/sessions/"), strings.HasPrefix(path, "/agent/session/"),
		strings.HasPrefix(path, "/ui/chat/"), strings.HasPrefix(path, "/c/"):
		id = "{session}"
	}
	return strings.Replace(path, ":id", id, 1)
}

func TestNobodyReadsOrChangesWhatIsAnothers(t *testing.T) {
	b, path, given := keyed(t, "anna", "bert", "carl")
	if _, err := keys.Revoke(path, "carl"); err != nil {
		t.Fatal(err)
	}
	fill := b.owned("anna", given["anna"])
	b.stage.play = []chat.Payload{chat.Answer{Markdown: "So it is."}, chat.RunDone{Status: chat.RunCompleted}}
	send := func(method, route string, row right, key string) reply {
		kind := formKind
		if strings.HasPrefix(row.body, "{") {
			kind = "application/json"
		}
		headers := []string{"Content-Type", kind}
		if key != "" {
			headers = append(headers, "X-API-Key", key)
		}
		return b.send(method, fill.Replace(address(route)), fill.Replace(row.body), headers...)
	}
	hers := func() string { // all that can change
		var all strings.Builder
		for _, path := range []string{
			"/agent/runs/{run}", "/agent/session/{session}", "/sessions/{session}/queue", "/feedback", "/shares",
			"/documents/{doc}", "/sessions", "/places/{place}", "/standing", "/standing/{kept}", "/standing/webhook",
			"/tables", "/tables/{table}",
		} {
			got := b.send("GET", fill.Replace(path), "", "X-API-Key", given["anna"])
			if got.status != 200 || !strings.Contains(got.body, secret) && path != "/agent/runs/{run}" {
				t.Fatalf("%s: %d %s, want 200", path, got.status, got.body)
			}
			all.WriteString(got.body)
		}
		return all.String()
	}
	before := hers()
	seen := map[string]bool{}
	for _, route := range httpio.Routes(b.router) {
		name := route.Method + " " + route.Path
		seen[name] = true
		row, ok := rights[name]
		if !ok {
			t.Errorf("%s has no row in rights", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			if row.want == 0 {
				row.want = 404
			}
			if got := send(route.Method, route.Path, row, given["bert"]); got.status != row.want || leaks(got.body) {
				t.Errorf("another user: %d, want %d: %.500s", got.status, row.want, got.body)
			}
			b.forgetAll("bert")
			for who, key := range map[string]string{"no key": "", "a revoked key": given["carl"]} {
				want := 401
				if row.public {
					want = row.want
				}
				if got := send(route.Method, route.Path, row, key); got.status != want || leaks(got.body) {
					t.Errorf("%s: %d, want %d: %.300s", who, got.status, want, got.body)
				}
			}
		})
	}
	for name := range rights {
		if !seen[name] {
			t.Errorf("%s is no route", name)
		}
	}
	if after := hers(); after != before {
		t.Errorf("it was changed:\n%s\n%s", before, after)
	}
}

// A conversation's id is its user's own: whoever asks with one that another user has begins a conversation, as with any
// unknown id.
func TestAnotherUsersSessionIDIsFree(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert")
	fill := b.owned("anna", given["anna"])
	b.stage.play = []chat.Payload{chat.Answer{Markdown: "So it is."}, chat.RunDone{Status: chat.RunCompleted}}
	hers := b.send("GET", "/agent/session/owned", "", "X-API-Key", given["anna"]).body
	bodies := map[string]string{
		"/mcp": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"question":"Why?",` +
			`"session_id":"{session}"}}}`,
	}
	for _, route := range []string{
		"/chat", "/agent/chat", "/agent/chat/structured", "/agent/query", "/v1/chat/completions",
		"/v1/responses", "/ui/chat", "/ag-ui",
	} {
		bodies[route] = rights["POST "+route].body
	}
	his := chat.Scope{User: "bert"}
	asked := 0
	for route, body := range bodies {
		free := b.send("POST", route, strings.ReplaceAll(body, "{session}", "unknown-"+strconv.Itoa(asked)),
			"X-API-Key", given["bert"], "Accept", mcpAccept(route))
		taken := b.send("POST", route, fill.Replace(body), "X-API-Key", given["bert"], "Accept", mcpAccept(route))
		asked++
		if taken.status != free.status || taken.status >= 300 || strings.Contains(taken.body, `"isError":true`) {
			t.Errorf("POST %s: status = %d, want %d as for an unknown id: %s", route, taken.status, free.status,
				taken.body)
		}
		if runs, err := b.store.Runs(t.Context(), his, "owned"); err != nil || len(runs) != asked {
			t.Errorf("after POST %s his session has %d runs, want %d: %v", route, len(runs), asked, err)
		}
	}
	if now := b.send("GET", "/agent/session/owned", "", "X-API-Key", given["anna"]).body; now != hers {
		t.Errorf("her session was\n%s\nand is\n%s", hers, now)
	}
	if got := b.send("GET", "/agent/session/owned", "", "X-API-Key", given["bert"]); got.status != 200 ||
		leaks(got.body) || strings.Contains(got.body, secret) {
		t.Errorf("his session: %d %s; want 200 and no %q in it", got.status, got.body, secret)
	}
}

// forget removes a user's session for good, if there is one.
func (b *bench) forget(user, session string) {
	b.t.Helper()
	if err := b.store.DeleteSession(b.t.Context(), chat.Scope{User: user}, session); err != nil &&
		chat.CodeOf(err) != chat.CodeNotFound {
		b.t.Fatal(err)
	}
	if _, err := b.store.Purge(b.t.Context(), time.Now().Add(time.Hour), time.Time{}); err != nil {
		b.t.Fatal(err)
	}
}

func mcpAccept(route string) string {
	if route == "/mcp" {
		return "application/json, text/event-stream"
	}
	return "application/json"
}

// leaks reports whether an answer has more of the owner's than the words that were asked with.
func leaks(body string) bool {
	return regexp.MustCompile(secret + ` roof|` + secret + `\.md|Where is ` + secret).MatchString(body)
}
