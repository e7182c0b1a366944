package server

import (
	"net/url"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestEveryRouteRejectsUnreadableText(t *testing.T) {
	b := newHarness(t)
	run := b.begin("Is the roof sound?")
	id, session := run.ID, run.SessionID
	const form = "application/x-www-form-urlencoded"
	bodies := map[string]string{
		"POST /chat": `{"message":"TEXT"}`, "POST /agent/chat": `{"message":"a","context_text":"TEXT"}`,
		"POST /agent/chat/structured": `{"message":"TEXT"}`,
		"POST /agent/query":           `{"question":"a","history":[["TEXT","b"]]}`,
		"POST /agent/retrieve":        `{"query":"TEXT"}`,
		"POST /search":                `{"query":"a","filters":{"meta":{"b":"TEXT"}}}`,
		"POST /v1/chat/completions": `{"model":"footnote","messages":[{"role":"user",` +
			`"content":[{"type":"text","text":"TEXT"}]}]}`,
		"POST /v1/responses": `{"model":"footnote","input":[{"role":"user","content":"TEXT"}]}`,
		"POST /ui/chat": `{"id":"a","messages":[{"role":"user","parts":[{"type":"text",` +
			`"text":"TEXT"}]}]}`,
		"POST /ag-ui": `{"threadId":"a","runId":"r","messages":[{"role":"user",` +
			`"content":"TEXT"}]}`,
		"PATCH /sessions/" + session:                  `{"title":"TEXT"}`,
		"POST /sessions/" + session + "/queue":        `{"message":"TEXT"}`,
		"PATCH /sessions/" + session + "/queue/x":     `{"message":"TEXT"}`,
		"POST /agent/runs/" + id + "/feedback":        `{"rating":"down","reason":"wrong","comment":"TEXT"}`,
		"POST /agent/runs/" + id + "/steps/x/approve": `{"input":{"a":"TEXT"}}`,
		"POST /agent/runs/" + id + "/steps/x/rerun":   `{"input":{"a":"TEXT"}}`,
		"POST /evidence/verify":                       `{"file":"TEXT"}`,
		"POST /mcp": `{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
			`"params":{"name":"ask","arguments":{"question":"TEXT"}}}`,
	}
	refused := func(name string, got reply, part string) {
		t.Helper()
		if got.status != 400 || !strings.Contains(got.body, part) {
			t.Errorf("%s: %d %s; want 400 and %q in it", name, got.status, got.body, part)
		}
	}
	for route, body := range bodies {
		method, path, _ := strings.Cut(route, " ")
		refused(route, b.send(method, path, strings.Replace(body, "TEXT", "gr\xfcn", 1)), "must be valid UTF-8")
		refused(route, b.send(method, path, strings.Replace(body, "TEXT", `a \ud800 b`, 1)), "unpaired surrogate")
	}
	for path, fields := range map[string]url.Values{
		"/chat": {"message": {"a \xff"}}, "/sessions/" + session + "/queue": {"message": {"a"},
			"context_text": {"\xff"}}, "/sessions/" + session + "/head": {"run_id": {"\xff"}},
		"/agent/runs/" + id + "/feedback":      {"rating": {"down"}, "comment": {"\xff"}},
		"/agent/runs/" + id + "/steps/x/rerun": {"input": {"{\"a\":\"\xff\"}"}},
	} {
		refused("form to "+path, b.send("POST", path, fields.Encode(), "Content-Type", form),
			"must be valid UTF-8")
	}
	refused(
		"a form's JSON",
		b.send("POST", "/agent/runs/"+id+"/steps/x/rerun", url.Values{"input": {`{"a":"\udc00"}`}}.Encode(),
			"Content-Type", form), "unpaired surrogate",
	)
	refused("meta", b.send("POST", "/documents",
		"--b\r\nContent-Disposition: form-data; name=\"meta\"\r\n\r\n{\"a\":\"\\ud800\"}\r\n--b--\r\n",
		"Content-Type", "multipart/form-data; boundary=b"), "unpaired surrogate")
	refused("a key", b.send("POST", "/chat", `{"message":"a"}`, "Idempotency-Key", "a\xff"), "must be valid UTF-8")
	for _, path := range []string{
		"/sessions?q=%FF", "/documents?q=%FF", "/documents?%FF=1", "/feedback?cursor=%FF", "/choose?q=%FF", "/?q=%FF",
	} {
		refused(path, b.send("GET", path, ""), "valid UTF-8")
	}
	for _, path := range []string{"/documents?cursor=%%%", "/sessions?limit=5&q=%zz", "/documents?q=a;b=c"} {
		refused(path, b.send("GET", path, ""), "query string")
	}
	if sessions, _, err := b.store.Sessions(t.Context(), chat.Local, chat.SessionQuery{}); err != nil ||
		len(sessions) != 1 || sessions[0].Title != "Is the roof sound?" {
		t.Errorf("something was kept: %+v, %v; want 1 session and %q", sessions, err, "Is the roof sound?")
	}
	if got := b.send("POST", "/chat", `{"message":"\ud83d\ude00 grün \u00e9"}`); got.status != 202 {
		t.Errorf("text that can be read: %d %s, want 202", got.status, got.body)
	}
}
