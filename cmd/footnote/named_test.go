package main_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// unlike is what differs in each answer.
var unlike = regexp.MustCompile(`"request_id":"[^"]*"`)

// keyFor makes a user's key in a data directory.
func keyFor(t *testing.T, data, user string) header {
	t.Helper()
	made := command(t, "", nil, "key", "new", user, "--data", data)
	if made.code != 0 {
		t.Fatalf("%+v, want code 0", made)
	}
	return header{"X-API-Key", strings.TrimSpace(made.stdout)}
}

// Whoever narrows a question or a search to what is not there is told so at every entrance, in the same words whether
// it is somebody else's or never was, and nothing is kept of it.
func TestWhatAQuestionNamesMustBeThere(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	anna, ben := keyFor(t, dir, "anna"), keyFor(t, dir, "ben")
	s := serve(t, dir)
	add := func(key header, namespace, text string) string {
		t.Helper()
		body := "--b\r\nContent-Disposition: form-data; name=\"namespace\"\r\n\r\n" + namespace +
			"\r\n--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.md\"\r\n\r\n" + text +
			"\r\n--b--\r\n"
		r := s.send("POST", "/documents", body, key, header{"Content-Type", "multipart/form-data; boundary=b"})
		answer := decode[uploadAnswer](t, r.body)
		if len(answer.Documents) != 1 {
			t.Fatalf("%d %s", r.status, r.body)
		}
		id := answer.Documents[0].ID
		eventually(t, "the document is ready", func() bool {
			return loose[documentState](t, s.send("GET", "/documents/"+id, nil, key).body).State == "ready"
		})
		return id
	}
	own, deleted, theirs := add(anna, "house", holidays), add(anna, "", "# Gone\n\nIt was here.\n"), add(ben, "secret",
		"# Ben\n\nThe code is blue.\n")
	if r := s.send("DELETE", "/documents/"+deleted, nil, anna); r.status != 204 {
		t.Fatalf("%d %s, want 204", r.status, r.body)
	}
	if r := s.send(
		"POST", "/agent/chat",
		`{"message":"How many days of paid holiday?","session_id":"there","namespace":"house","document_ids":["`+own+
			`"]}`, anna,
	); r.status != 200 {
		t.Fatalf("%d %s, want 200", r.status, r.body)
	}
	const unknown = "0192a1b2-0000-7000-8000-000000000000"
	mcp := func(tool, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` +
			arguments + `}}`
	}
	for _, entrance := range []struct{ path, ids, namespace string }{
		{"/chat", `{"message":"a","document_ids":IDS}`, `{"message":"a","namespace":"NAME"}`},
		{"/agent/chat", `{"message":"a","session_id":"fresh","document_ids":IDS}`,
			`{"message":"a","session_id":"fresh","namespace":"NAME"}`},
		{"/agent/chat/structured", `{"message":"a","document_ids":IDS}`,
			`{"message":"a","namespace":"NAME","context_text":"b"}`},
		{"/agent/query", "", `{"question":"a","namespace":"NAME"}`},
		{"/agent/retrieve", `{"query":"a","filters":{"document_ids":IDS}}`, `{"query":"a","namespace":"NAME"}`},
		{"/search", `{"query":"a","filters":{"document_ids":IDS,"title":"x"}}`,
			`{"query":"a","mode":"lexical","namespace":"NAME"}`},
		{"/v1/chat/completions", `{"model":"footnote","messages":[{"role":"user","content":"a"}],"document_ids":IDS}`,
			`{"model":"footnote","messages":[{"role":"user","content":"a"}],"stream":true,"namespace":"NAME"}`},
		{"/ui/chat", `{"id":"c","messages":[{"role":"user","parts":[{"type":"text","text":"a"}]}],"document_ids":IDS}`,
			`{"id":"c","messages":[{"role":"user","parts":[{"type":"text","text":"a"}]}],"namespace":"NAME"}`},
		{"/ag-ui", `{"threadId":"t","runId":"r","messages":[{"role":"user","content":"a"}],` +
			`"forwardedProps":{"document_ids":IDS}}`,
			`{"threadId":"t","runId":"r","messages":[{"role":"user","content":"a"}],` +
				`"forwardedProps":{"namespace":"NAME"}}`},
		{"/sessions/there/queue", `{"message":"a","document_ids":IDS}`, `{"message":"a","namespace":"NAME"}`},
		{"/mcp", mcp("ask", `{"question":"a","document_ids":IDS}`), mcp("search", `{"query":"a","namespace":"NAME"}`)},
		{"/mcp", mcp("search", `{"query":"a","document_ids":IDS}`), mcp("ask", `{"question":"a","namespace":"NAME"}`)},
	} {
		refused := func(body, named, part string) string {
			t.Helper()
			r := s.send("POST", entrance.path, body, anna)
			status := 404
			if entrance.path == "/mcp" { // the protocol tells what a tool failed with in its answer
				status = 200
			}
			if r.status != status || !strings.Contains(r.body, part) || strings.Contains(r.body, "blue") {
				t.Errorf("POST %s %s: %d %s; want %d, %q in it, no %q in it",
					entrance.path, body, r.status, r.body, status, part, "blue")
			}
			return unlike.ReplaceAllString(strings.ReplaceAll(r.body, named, "X"), "")
		}
		if entrance.ids != "" {
			var words []string
			for _, id := range []string{unknown, theirs, deleted} {
				words = append(
					words,
					refused(strings.ReplaceAll(entrance.ids, "IDS", `["`+own+`","`+id+`"]`), id,
						"One of the chosen documents is not there"),
				)
			}
			if words[0] != words[1] || words[0] != words[2] {
				t.Errorf("POST %s tells unknown documents from others: %q; want %v and %v",
					entrance.path, words, words[1], words[2])
			}
		}
		none := refused(strings.ReplaceAll(entrance.namespace, "NAME", "nobodys"), "nobodys",
			"There are no documents in the namespace")
		if other := refused(strings.ReplaceAll(entrance.namespace, "NAME", "secret"), "secret",
			"There are no documents in the namespace"); other != none {
			t.Errorf("POST %s tells an unknown namespace from another's: %q, %q; want %q",
				entrance.path, none, other, none)
		}
	}
	fields := url.Values{"message": {"a"}, "document_ids": {own, theirs}}.Encode()
	kind := header{"Content-Type", "application/x-www-form-urlencoded"}
	if r := s.send("POST", "/chat", fields, anna, kind, header{"Accept", "text/html"}); r.status != 404 ||
		!strings.Contains(r.body, "One of the chosen documents is not there") || !strings.Contains(r.body, "<main") {
		t.Errorf("the page without scripts: %d %s; want 404, %q in it, %q in it",
			r.status, r.body, "One of the chosen documents is not there", "<main")
	}
	if r := s.send("POST", "/chat", fields, anna, kind, header{"HX-Request", "true"}); r.status != 404 ||
		!strings.Contains(r.body, "One of the chosen documents is not there") || strings.Contains(r.body, "<main") {
		t.Errorf("the page's script: %d %s; want 404, %q in it, no %q in it",
			r.status, r.body, "One of the chosen documents is not there", "<main")
	}
	both := `{"message":"a","namespace":"default","document_ids":["` + own + `"]}`
	if r := s.send("POST", "/agent/chat", both, anna); r.status != 404 ||
		!strings.Contains(r.body, "in the namespace") {
		t.Errorf("a document of another namespace: %d %s; want 404 and %q in it", r.status, r.body, "in the namespace")
	}
	if r := s.send("POST", "/search", `{"query":"a","namespace":"default"}`, anna); r.status != 200 {
		t.Errorf("the namespace that is always there: %d %s, want 200", r.status, r.body)
	}
	kept := s.send("GET", "/sessions", nil, anna)
	if n := strings.Count(kept.body, `"session_id":`); n != 1 || !strings.Contains(kept.body, `"there"`) {
		t.Errorf("something was kept: %s, want %q in it", kept.body, `"there"`)
	}
	if history := s.send("GET", "/agent/session/there", nil, anna); strings.Count(history.body, `"role":"user"`) != 1 {
		t.Errorf("something was kept: %s", history.body)
	}
	if r := s.send("GET", "/sessions/there/queue", nil, anna); r.body != "{\"queue\":[]}\n" {
		t.Errorf("something waits: %s", r.body)
	}
}
