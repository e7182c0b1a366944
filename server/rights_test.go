package server

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/openapi"
	"github.com/footnote/footnote/server/page"
	"github.com/footnote/footnote/server/shares"
)

// secret is in all of the owner's data: it must not appear in another user's response.
const secret = "zirconium"

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// owned creates one of each object for a user and returns the replacements for the placeholders of routes and
// bodies.
func (b *harness) owned(user, key string) *strings.Replacer {
	b.t.Helper()
	body, kind := form(b.t, "@"+secret+".md=# "+secret+"\n\nThe "+secret+" roof is sound.")
	got := b.send("POST", "/documents", body, "Content-Type", kind, "X-API-Key", key)
	var res api.Uploaded
	got.decode(b.t, &res)
	doc := res.Documents[0].ID
	b.send("GET", "/documents/"+doc+"/events", "", "X-API-Key", key) // until it is ready
	b.stage.events = nil
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
	kept, err := b.store.AddStanding(b.t.Context(), chat.Scope{User: user}, chat.Standing{
		Request: chat.RunRequest{Message: secret, SessionID: "owned"}, Basis: chat.Basis{RunID: run.ID},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.setWebhook(user)
	table, err := b.store.AddGrid(b.t.Context(), chat.Scope{User: user}, chat.Grid{
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

// address replaces a route's parameters by placeholders.
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

func TestUserDataIsIsolated(t *testing.T) {
	b, path, given := keyed(t, "anna", "bert", "carl")
	if _, err := keys.Revoke(path, "carl"); err != nil {
		t.Fatal(err)
	}
	fill := b.owned("anna", given["anna"])
	b.stage.events = []chat.Payload{chat.Answer{Markdown: "So it is."}, chat.RunDone{Status: chat.RunCompleted}}
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
	hers := func() string { // all mutable state
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
			t.Errorf("%s lacks a row in rights", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			if row.want == 0 {
				row.want = 404
			}
			if got := send(route.Method, route.Path, row, given["bert"]); got.status != row.want || leaks(got.body) {
				t.Errorf("another user: %d, want %d: %.500s", got.status, row.want, got.body)
			}
			if row.want == 404 && route.Method != http.MethodGet { // as a form of the page
				got := b.send("POST", fill.Replace(address(route.Path))+"?_method="+route.Method, fill.Replace(
					"columns=Rent&do=make&namespace=none&title=Mine&message=Why&run_id={run}&text=Mine&paused=true&"+
						"rating=up&days=7&input=%7B%7D",
				), "Content-Type", formKind, "Accept", "text/html", "X-API-Key", given["bert"])
				if got.status != 404 && got.status != 415 || leaks(got.body) {
					t.Errorf("another user's form: %d, want 404: %.500s", got.status, got.body)
				}
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
			t.Errorf("%s is not a route", name)
		}
	}
	if after := hers(); after != before {
		t.Errorf("data before:\n%s\nafter:\n%s", before, after)
	}
}

// A conversation's id is unique per user: a question with another user's id starts a conversation, as with any
// unknown id.
func TestSessionIDsAreUniquePerUser(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert")
	fill := b.owned("anna", given["anna"])
	b.stage.events = []chat.Payload{chat.Answer{Markdown: "So it is."}, chat.RunDone{Status: chat.RunCompleted}}
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
		t.Errorf("session before =\n%s\nafter\n%s", hers, now)
	}
	if got := b.send("GET", "/agent/session/owned", "", "X-API-Key", given["bert"]); got.status != 200 ||
		leaks(got.body) || strings.Contains(got.body, secret) {
		t.Errorf("his session: %d %s; want 200 and no %q in it", got.status, got.body, secret)
	}
}

// forget permanently deletes a user's session, if it exists.
func (b *harness) forget(user, session string) {
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

// leaks reports whether a response has more of the owner's data than the request's words.
func leaks(body string) bool {
	return regexp.MustCompile(secret + ` roof|` + secret + `\.md|Where is ` + secret).MatchString(body)
}

// right is a request for another user's object on a route, and its expected status: 404, unless the route names no
// object. Then the response is that of a user without data.
type right struct {
	body   string
	want   int
	public bool // no key is needed
}

const formKind = "application/x-www-form-urlencoded"

// rights has a row for each route. In bodies, {session}, {run}, {doc}, {item} and {call} are the owner's.
var rights = map[string]right{
	"POST /chat":                  {body: `{"message":"Why?","session_id":"{session}"}`, want: 202},
	"POST /agent/chat":            {body: `{"message":"Why?","session_id":"{session}"}`, want: 200},
	"POST /agent/chat/structured": {body: `{"message":"Why?","session_id":"{session}"}`, want: 200},
	"POST /agent/query":           {body: `{"question":"Why?","session_id":"{session}"}`, want: 200},
	"POST /agent/retrieve":        {body: `{"query":"` + secret + `"}`, want: 200},
	"POST /mcp":                   {body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, want: 200},
	"POST /search":                {body: `{"query":"` + secret + `"}`, want: 200},
	"POST /v1/chat/completions": {
		body: `{"model":"footnote","messages":[{"role":"user","content":"Why?"}],"session_id":"{session}"}`, want: 200,
	},
	"POST /ui/chat": {
		body: `{"id":"{session}","messages":[{"role":"user","parts":[{"type":"text","text":"Why?"}]}]}`, want: 200,
	},
	"GET /ui/chat/:id/stream": {want: 204}, // as for a missing chat
	"POST /ag-ui": {
		body: `{"threadId":"{session}","runId":"r","messages":[{"role":"user","content":"Why?"}]}`, want: 200,
	},
	"POST /ui/chat/:id/stop": {},
	"POST /v1/responses": {
		body: `{"model":"footnote","input":"Why?","conversation":"{session}"}`, want: 200,
	},
	"GET /v1/responses/:id":                    {},
	"POST /v1/responses/:id/cancel":            {},
	"GET /v1/models":                           {want: 200},
	"GET /v1/models/:model":                    {},
	"GET /agent/runs/:id":                      {},
	"GET /agent/runs/:id/events":               {},
	"POST /agent/runs/:id/cancel":              {},
	"POST /agent/runs/:id/answer-now":          {},
	"GET /agent/runs/:id/steps/:call/output":   {},
	"POST /agent/runs/:id/steps/:call/approve": {body: `{"input":{}}`},
	"POST /agent/runs/:id/steps/:call/deny":    {},
	"POST /agent/runs/:id/steps/:call/rerun":   {body: `{"input":{"query":"roof"}}`},
	"POST /agent/runs/:id/feedback":            {body: `{"rating":"down"}`},
	"DELETE /agent/runs/:id/feedback":          {},
	"GET /agent/runs/:id/export":               {},
	"GET /feedback":                            {want: 200},
	"POST /agent/runs/:id/shares":              {body: `{"days":7}`},
	"GET /shares":                              {want: 200},
	"DELETE /shares/:id":                       {},
	"POST /evidence/verify":                    {body: `{"file":` + quoted(openapi.EvidenceExample) + `}`, want: 200},
	"GET /agent/session/:id":                   {},
	"DELETE /agent/session/:id":                {},
	"GET /agent/session/:id/export":            {},
	"GET /sessions":                            {want: 200},
	"GET /sessions/:id":                        {},
	"PATCH /sessions/:id":                      {body: `{"title":"Mine"}`},
	"DELETE /sessions/:id":                     {},
	"POST /sessions/:id/restore":               {},
	"POST /sessions/:id/head":                  {body: `{"run_id":"{run}"}`},
	"GET /sessions/:id/queue":                  {},
	"POST /sessions/:id/queue":                 {body: `{"message":"Why?"}`},
	"PATCH /sessions/:id/queue/:item":          {body: `{"message":"Why?"}`},
	"DELETE /sessions/:id/queue/:item":         {},
	"POST /sessions/:id/queue/:item/send":      {body: `{"finish":"cancel"}`},
	"POST /documents":                          {want: 415},
	"POST /documents/samples":                  {},
	"GET /documents":                           {want: 200},
	"GET /documents/:id":                       {},
	"DELETE /documents/:id":                    {},
	"GET /documents/:id/text":                  {},
	"GET /documents/:id/file":                  {},
	"GET /documents/:id/events":                {},
	"GET /documents/:id/pages/:page":           {},
	"POST /documents/:id/cancel":               {},
	"POST /documents/:id/retry":                {},
	"POST /documents/:id/restore":              {},
	"GET /watched":                             {want: 200},
	"POST /agent/table": {
		body: `{"columns":[{"name":"Rent"}],"document_ids":["{doc}"]}`, want: 404,
	},
	"GET /tables":                             {want: 200},
	"GET /tables/:id":                         {},
	"DELETE /tables/:id":                      {},
	"POST /tables/:id/stop":                   {},
	"POST /tables/:id/resume":                 {},
	"GET /tables/:id/events":                  {},
	"GET /tables/:id/export":                  {},
	"PATCH /tables/:id/cells/:row/:column":    {body: `{"text":"Mine"}`},
	"POST /tables/:id/cells/:row/:column/ask": {},
	"POST /tables":                            {body: "columns=Rent&do=make&namespace=none", want: 404},
	"GET /tables/:id/cells":                   {},
	"GET /tables/:id/cells/:row/:column":      {},
	"GET /places":                             {want: 200},
	"POST /places":                            {body: `{"kind":"none","settings":{}}`, want: 400},
	"GET /places/kinds":                       {want: 200},
	"GET /places/:id":                         {},
	"PATCH /places/:id":                       {body: `{"name":"Mine"}`},
	"DELETE /places/:id":                      {},
	"POST /places/:id/look":                   {},
	"GET /places/:id/items":                   {},
	"GET /places/new":                         {want: 200},
	"PUT /watched":                            {body: `{"folder":"/papers"}`, want: 204},
	"GET /standing":                           {want: 200},
	"POST /standing":                          {body: `{"run_id":"{run}"}`},
	"GET /standing/:id":                       {},
	"PATCH /standing/:id":                     {body: `{"paused":true,"seen":true}`},
	"DELETE /standing/:id":                    {},
	"POST /standing/:id/ask":                  {},
	"GET /standing/feed/:token":               {public: true},
	"POST /standing/feed":                     {want: 200},
	"DELETE /standing/feed":                   {want: 204},
	"GET /standing/webhook":                   {},
	"PUT /standing/webhook":                   {body: `{"url":"https://hook.example/in"}`, want: 200},
	"DELETE /standing/webhook":                {want: 204},
	"GET /model":                              {want: 200},
	"PUT /model":                              {body: `{"service":"offline"}`, want: 403},
	"GET /openapi.json":                       {want: 200},
	"GET /docs":                               {want: 200},
	"GET /metrics":                            {want: 200},
	"GET /health":                             {want: 200, public: true},
	"GET /readyz":                             {want: 200, public: true},

	"GET /":                             {want: 200},
	"GET /c/:id":                        {},
	"GET /c/:id/next":                   {},
	"GET /c/:id/events":                 {},
	"GET /find":                         {want: 200},
	"GET /choose":                       {want: 200},
	"GET /d/:id":                        {},
	"GET /documents/events":             {want: 200},
	"GET /documents/states":             {want: 200},
	"POST /documents/check":             {want: 415},
	"POST /share":                       {want: 415},
	"GET /leave":                        {want: 400},
	"GET /add":                          {want: 200},
	"POST /add":                         {body: "url=ftp://x", want: 400},
	"GET /runs/:id/stream":              {},
	"GET /runs/:id/steps/:call/thought": {},
	"GET /folders":                      {want: 403},
	"POST /folders":                     {body: "folder=/tmp", want: 403},
	"POST /folders/stop":                {body: "folder=/tmp", want: 403},
	"GET /s/:token":                     {public: true},
	"GET /signin":                       {want: 200, public: true},
	"POST /language":                    {body: "language=de", want: 303, public: true},
	"POST /signin":                      {body: "key=x", want: 401, public: true},
	"POST /signout":                     {want: 303, public: true},
	"GET /static/:version/*":            {public: true},
	"GET /oauth/authorize":              {want: 400},
	"POST /oauth/authorize":             {body: "answer=allow", want: 400},
	"POST /oauth/register":              {body: `{"redirect_uris":[]}`, want: 400, public: true},
	"POST /oauth/token":                 {body: "grant_type=refresh_token&refresh_token=x", want: 400, public: true},
	"POST /oauth/revoke":                {body: "token=x", want: 200, public: true},
	"GET /connections":                  {want: 200},
	"POST /connections/end":             {body: "id={grant}"},

	"GET /.well-known/oauth-protected-resource":     {want: 200, public: true},
	"GET /.well-known/oauth-protected-resource/mcp": {want: 200, public: true},
	"GET /.well-known/oauth-authorization-server":   {want: 200, public: true},
	"GET /favicon.ico":                              {want: 303, public: true},
}

func TestWebhookIsSetByFormAndAPI(t *testing.T) {
	b := newHarness(t)
	got := b.send("POST", "/standing/webhook?_method=PUT", "url=https%3A%2F%2Fhook.example%2Fin",
		"Content-Type", formKind, "Accept", "text/html")
	if got.status != 200 || !strings.Contains(got.body, "whsec_") ||
		!strings.Contains(got.body, `value="https://hook.example/in"`) ||
		got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the form: %d %v, want the page with the secret", got.status, got.header)
	}
	got = b.send("GET", "/standing", "", "Accept", "text/html")
	if strings.Contains(got.body, "whsec_") || !strings.Contains(got.body, "Test message queued.") {
		t.Error("page shows the secret again or lacks the state")
	}
	got = b.send("POST", "/standing/webhook?_method=PUT", "url=%22%3E%3Cb%3E",
		"Content-Type", formKind, "Accept", "text/html")
	if got.status != 400 || !strings.Contains(got.body, "Invalid webhook URL.") ||
		!strings.Contains(got.body, `value="&#34;&gt;&lt;b&gt;"`) {
		t.Errorf("invalid address: got %d, want 400 with the input and the reason", got.status)
	}
	var state api.WebhookState
	b.send("PUT", "/standing/webhook", `{"url":"https://two.example/"}`, "Content-Type", "application/json").
		decode(t, &state)
	if state.URL != "https://two.example/" || !strings.HasPrefix(state.Secret, "whsec_") || state.SentAt != nil {
		t.Errorf("PUT = %+v", state)
	}
	for _, body := range []string{`{"url":"file:///etc/passwd"}`, `{"url":"https://a:b@x.example/"}`, `{}`} {
		if got := b.send("PUT", "/standing/webhook", body, "Content-Type", "application/json"); got.status != 400 {
			t.Errorf("%s: %d, want 400", body, got.status)
		}
	}
	if h, err := b.store.Webhook(t.Context(), chat.Local); err != nil || h.URL != "https://two.example/" ||
		!strings.HasPrefix(h.Origin, "http://") || len(h.Secret) != 32 {
		t.Errorf("stored %+v, %v", h, err)
	}
}

// setWebhook sets a user's webhook with the secret in its address.
func (b *harness) setWebhook(user string) {
	b.t.Helper()
	if err := b.store.SetWebhook(b.t.Context(), chat.Scope{User: user}, &chat.Webhook{
		URL: "https://hook.example/" + secret, Secret: []byte(secret), SetAt: time.Now(),
	}); err != nil {
		b.t.Fatal(err)
	}
}

// forgetAll undoes the changes of a user's requests.
func (b *harness) forgetAll(user string) {
	b.t.Helper()
	b.forget(user, "owned")
	if err := b.store.SetWebhook(b.t.Context(), chat.Scope{User: user}, nil); err != nil {
		b.t.Fatal(err)
	}
}

func TestShareLinkShowsOnlyItsAnswer(t *testing.T) {
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
		t.Errorf("share link without a key: got %d %s, want 200", open.status, open.body)
	}
	for _, never := range []string{"/d/", "/c/", "/documents", "/agent", "<script", "<form", link.RunID,
		link.SessionID} {
		if strings.Contains(open.body, never) {
			t.Errorf("page has %q:\n%s", never, open.body)
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
		t.Errorf("ended link differs from an unknown one (-unknown +ended):\n%s", diff)
	}
}

func TestShareLinkIsDeletedWithConversation(t *testing.T) {
	b := newHarness(t)
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

func TestShareLinkIsCreatedAndRevokedOnPage(t *testing.T) {
	b := newHarness(t)
	run := b.begin("Is the roof sound?")
	b.append(run.ID, script()...)
	page := b.send("POST", "/agent/runs/"+run.ID+"/shares", "days=30", "Content-Type", formKind, "Accept", "text/html")
	if page.status != http.StatusCreated || !strings.Contains(page.body, "/s/") {
		t.Errorf("made: %d %s; want 201 with the address", page.status, page.body)
	}
	links, err := b.store.Shares(t.Context(), chat.Local, time.Now())
	if err != nil || len(links) != 1 {
		t.Fatalf("Shares = %v, %v; want one", links, err)
	}
	got := b.send("POST", "/shares/"+links[0].ID+"?_method=DELETE", "", "Content-Type", formKind, "Accept", "text/html")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/shares" {
		t.Errorf("ended: %d %s, want 303 to /shares", got.status, got.header.Get("Location"))
	}
	if links, err := b.store.Shares(t.Context(), chat.Local, time.Now()); err != nil || len(links) != 0 {
		t.Errorf("Shares = %v, %v; want none", links, err)
	}
}

func TestShareLinksEndWithKeys(t *testing.T) {
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
