package server

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio/ssetest"
)

func TestAQuestionIsAnsweredInTheFormTheClientAsksFor(t *testing.T) {
	b := newBench(t)
	b.stage.play = script()

	got := b.send("POST", "/chat", `{"message":"Is the roof sound?","session_id":"s1","context_text":null}`)
	var ok api.Accepted
	got.decode(t, &ok)
	want := api.Accepted{
		RunID: ok.RunID, SessionID: "s1", Stream: "/runs/" + ok.RunID + "/stream",
		Events: "/agent/runs/" + ok.RunID + "/events",
	}
	if got.status != http.StatusAccepted || ok != want || ok.RunID == "" {
		t.Errorf("JSON: %d %s, want %d", got.status, got.body, http.StatusAccepted)
	}

	got = b.send("POST", "/chat", `{"message":"Is the roof sound?"}`, "Accept", "text/event-stream")
	if events := ssetest.NewReader(strings.NewReader(got.body)).All(t); got.status != 200 ||
		len(events) != len(script()) {
		t.Errorf("stream: %d with %d events, want 200", got.status, len(events))
	}

	form := url.Values{"message": {"Two\r\nlines?"}, "session_id": {"s2"}, "context_text": {""}}.Encode()
	got = b.send("POST", "/chat", form, "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
	runs, err := b.store.Runs(t.Context(), chat.Local, "s2")
	if got.status != http.StatusSeeOther || len(runs) == 0 || got.header.Get("Location") != "/c/s2?asked="+runs[0].ID {
		t.Errorf("form: %d to %q; want %d and %q",
			got.status, got.header.Get("Location"), http.StatusSeeOther, "/c/s2?asked="+runs[0].ID)
	}
	if err != nil || len(runs) != 1 || runs[0].Request.Message != "Two\nlines?" || runs[0].Request.ContextText != "" {
		t.Errorf("stored: %+v, %v; want 1 run and nothing", runs, err)
	}
}

func TestBadQuestionsGetOneSentence(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("é", 32_001)
	for _, tt := range []struct {
		name, path, body string
		status           int
		part             string // of the sentence
	}{
		{"empty", "/chat", `{"message":""}`, 400, "empty"},
		{"white space", "/chat", `{"message":" \n\t "}`, 400, "empty"},
		{"only NUL", "/chat", `{"message":"\u0000"}`, 400, `"message" holds a NUL`},
		{"only signs that show nothing", "/agent/chat", `{"message":"\u200b\u2060\u3164 \u00ad"}`, 400, "empty"},
		{"missing", "/agent/chat", `{}`, 400, "empty"},
		{"one rune too long", "/chat", `{"message":"` + long + `"}`, 400, "32,000 characters"},
		{"over the limit of a body", "/chat", `{"message":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "1.0 MiB"},
		{"an unknown field", "/chat", `{"message":"a","mesage":"b"}`, 400, `"mesage"`},
		{"an unknown field inside", "/agent/chat", `{"message":"a","config":{"temprature":1}}`, 400, `"temprature"`},
		{"a field of another type", "/chat", `{"message":5}`, 400, `"message" can't be a number`},
		{"a list", "/chat", `{"message":["a"]}`, 400, "an array"},
		{"broken off", "/chat", `{"message":"a"`, 400, "breaks off"},
		{"not JSON", "/chat", `{message}`, 400, "byte 2"},
		{"two objects", "/chat", `{"message":"a"}{}`, 400, "nothing after it"},
		{"a session id that is a number", "/agent/chat", `{"message":"a","session_id":5}`, 400,
			`The field "session_id" can't be`},
		{"a session id that can't be", "/chat", `{"message":"a","session_id":"a b"}`, 400, "session id"},
		{"an empty context", "/agent/chat", `{"message":"a","context_text":""}`, 400, "context_text"},
		{"a setting out of range", "/agent/query", `{"question":"a","config":{"max_steps":51}}`, 400, "max_steps"},
		{"a temperature out of range", "/agent/chat", `{"message":"a","config":{"temperature":-1}}`, 400,
			"temperature"},
		{"a citation style that is none", "/agent/chat", `{"message":"a","citation_style":"apa"}`, 400,
			"citation_style"},
		{"a search without words", "/search", `{"query":" "}`, 400, "query"},
		{"a search for too many", "/search", `{"query":"a","top_k":51}`, 400, "top_k"},
		{"a search for none", "/search", `{"query":"a","top_k":0}`, 400, "top_k"},
		{"a search in no known way", "/search", `{"query":"a","mode":"magic"}`, 400, "mode"},
		{"an unknown filter", "/agent/retrieve", `{"query":"a","filters":{"autor":"x"}}`, 400, `"autor"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.send("POST", tt.path, tt.body)
			if p := got.problem(t); got.status != tt.status || !strings.Contains(p.Detail, tt.part) {
				t.Errorf("got %d %q, want %d with %q", got.status, p.Detail, tt.status, tt.part)
			}
		})
	}
	if got := b.send("POST", "/agent/chat", "message=a", "Content-Type",
		"application/x-www-form-urlencoded"); got.status != 415 {
		t.Errorf("a form where JSON is needed: %d, want 415", got.status)
	}
	if got := b.send("POST", "/chat", "hello", "Content-Type", "text/plain"); got.status != 415 {
		t.Errorf("plain text: %d, want 415", got.status)
	}
	if sessions, _, err := b.store.Sessions(t.Context(), chat.Local, chat.SessionQuery{}); err != nil ||
		len(sessions) != 0 {
		t.Errorf("bad input left %d sessions, %v; want no sessions", len(sessions), err)
	}
}

func TestTheLongestQuestionIsTaken(t *testing.T) {
	b := newBench(t)
	if got := b.send(
		"POST", "/chat", `{"message":"`+strings.Repeat("é", 32_000)+`"}`,
	); got.status != http.StatusAccepted {
		t.Errorf("got %d %s, want %d", got.status, got.body, http.StatusAccepted)
	}
}

func TestOneKeyIsOneRun(t *testing.T) {
	b := newBench(t)
	ids := make([]string, 100)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			var ok api.Accepted
			b.send("POST", "/chat", `{"message":"Is the roof sound?","session_id":"s1"}`, "Idempotency-Key",
				"k1").decode(t, &ok)
			ids[i] = ok.RunID
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("one key made the runs %q and %q; want something and %q", ids[0], id, ids[0])
		}
	}
	form := url.Values{"message": {"Is the roof sound?"}, "session_id": {"s1"}, "idempotency_key": {"k1"}}.Encode()
	b.send("POST", "/chat", form, "Content-Type", "application/x-www-form-urlencoded")
	if runs, err := b.store.Runs(t.Context(), chat.Local, "s1"); err != nil || len(runs) != 1 {
		t.Errorf("the form's field made another run: %d, %v; want 1 run", len(runs), err)
	}
	got := b.send("POST", "/chat", `{"message":"Another question"}`, "Idempotency-Key", "k1")
	if p := got.problem(t); got.status != 422 || p.Code != chat.CodeKeyReused {
		t.Errorf("another body under the key: %d %s, want 422", got.status, got.body)
	}
	if got := b.send("POST", "/chat", `{"message":"a"}`, "Idempotency-Key",
		strings.Repeat("k", 256)); got.status != 400 {
		t.Errorf("a key that is too long: %d, want 400", got.status)
	}
}

func TestAskingAgainLooksInTheSameDocuments(t *testing.T) {
	b := newBench(t)
	form := func(fields url.Values) {
		t.Helper()
		if got := b.send("POST", "/chat", fields.Encode(), "Content-Type", "application/x-www-form-urlencoded",
			"Accept", "text/html"); got.status >= 400 {
			t.Fatalf("got %d %s, want less than 400", got.status, got.body)
		}
	}
	form(url.Values{"message": {"Is the roof sound?"}, "session_id": {"s1"}, "document_ids": {"d1", "d2"}})
	first, err := b.store.Runs(t.Context(), chat.Local, "s1")
	if err != nil || len(first) != 1 {
		t.Fatalf("%d runs, %v; want 1", len(first), err)
	}
	form(url.Values{"message": {"Is the roof dry?"}, "session_id": {"s1"}, "sibling": {first[0].ID}})
	runs, err := b.store.Runs(t.Context(), chat.Local, "s1")
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v; want 2 runs", len(runs), err)
	}
	if diff := cmp.Diff([]string{"d1", "d2"}, runs[1].Request.DocumentIDs); diff != "" {
		t.Errorf("documents of the new version (-want +got):\n%s", diff)
	}
}
