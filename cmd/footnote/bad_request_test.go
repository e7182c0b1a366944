package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/footnote/footnote/e2e/scripted"
)

const nowhere = "018f0000-0000-7000-8000-000000000000"

// plainSentence reports whether a text for people gives nothing internal away and ends as a sentence.
func plainSentence(text string) bool {
	for _, inside := range []string{
		"panic", "goroutine", ".go:", "sql:", "SQLITE", "/tmp/", "json:", "nil pointer", "strconv",
	} {
		if strings.Contains(text, inside) {
			return false
		}
	}
	return len(text) > 20 && strings.HasSuffix(text, ".")
}

func TestBadRequestsAreRefusedWithASentenceAndDisturbNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books...)
	other := serve(t, newDir(t))
	other.add(books[0])
	foreign := other.begin("What is the condition of the roof?").RunID
	mine := s.begin("What is the condition of the roof?").RunID
	s.follow(mine)

	rows := []struct {
		name         string
		method, path string
		body         any
		headers      []header
		status       int
		code         string
		says         string // what to do, or what is wrong, in the sentence
	}{
		{"an empty question", "POST", "/chat", `{"message":""}`, nil, 400, "invalid", "Write one"},
		{"a question of white space", "POST", "/chat", ask(" \n\t\u00a0 "), nil, 400, "invalid", "Write one"},
		{"a question of a MiB", "POST", "/chat", ask(strings.Repeat("roof ", 1<<20/5)), nil, 413, "too_large",
			"1.0 MiB"},
		{"a question of 32,001 characters", "POST", "/chat", ask(strings.Repeat("ö", 32_001)), nil, 400,
			"invalid", "32,000"},
		{"malformed JSON", "POST", "/chat", `{"message":"a`, nil, 400, "invalid", "not valid JSON"},
		{"two JSON values", "POST", "/chat", `{"message":"a"}{}`, nil, 400, "invalid", "one JSON object"},
		{"a list", "POST", "/chat", `[]`, nil, 400, "invalid", "JSON object"},
		{"a number as message", "POST", "/chat", `{"message":7}`, nil, 400, "invalid", `"message"`},
		{"an unknown field", "POST", "/chat", `{"message":"a","mesage":"b"}`, nil, 400, "invalid", `"mesage"`},
		{"an unknown field inside", "POST", "/chat", `{"message":"a","config":{"max_stepps":3}}`, nil, 400, "invalid",
			`"max_stepps"`},
		{"no body", "POST", "/search", "", nil, 400, "invalid", "empty"},
		{"a wrong content type", "POST", "/chat", "hello", []header{{"Content-Type", "text/plain"}}, 415, "unsupported",
			"application/json"},
		{"a wrong content type for search", "POST", "/search", "query=a",
			[]header{{"Content-Type", "application/x-www-form-urlencoded"}}, 415, "unsupported", "application/json"},
		{"a malformed session id", "POST", "/chat", `{"message":"a","session_id":"../x"}`, nil, 400, "invalid", "128"},
		{"a session id that is too long", "GET", "/agent/session/" + strings.Repeat("x", 129), nil, nil, 400,
			"invalid", "128"},
		{"an unknown session", "GET", "/agent/session/unknown", nil, nil, 404, "not_found", ""},
		{"an unknown session to delete", "DELETE", "/agent/session/unknown", nil, nil, 404, "not_found", ""},
		{"an unknown run", "GET", "/agent/runs/" + nowhere, nil, nil, 404, "not_found", ""},
		{"a run of another store", "GET", "/agent/runs/" + foreign, nil, nil, 404, "not_found", ""},
		{"a run of another store to follow", "GET", "/agent/runs/" + foreign + "/events", nil, nil, 404,
			"not_found", ""},
		{"a run of another store to stop", "POST", "/agent/runs/" + foreign + "/cancel", nil, nil, 404,
			"not_found", ""},
		{"a run that can't be", "GET", "/agent/runs/..%2f..%2fetc", nil, nil, 404, "not_found", ""},
		{"a finished run to stop", "POST", "/agent/runs/" + mine + "/cancel", nil, nil, 409, "conflict", "finished"},
		{"a position that is no number", "GET", "/agent/runs/" + mine + "/events?after=x", nil, nil, 400, "invalid",
			"?after="},
		{"a negative position", "GET", "/agent/runs/" + mine + "/events?after=-1", nil, nil, 400, "invalid", "?after="},
		{"an unknown document", "GET", "/documents/" + nowhere, nil, nil, 404, "not_found", ""},
		{"the text of an unknown document", "GET", "/documents/" + nowhere + "/text", nil, nil, 404, "not_found", ""},
		{"too many results", "POST", "/search", `{"query":"roof","top_k":51}`, nil, 400, "invalid", "50"},
		{"no results asked for", "POST", "/search", `{"query":"roof","top_k":0}`, nil, 400, "invalid", "50"},
		{"an empty search", "POST", "/search", `{"query":" "}`, nil, 400, "invalid", "words"},
		{"a search mode that does not exist", "POST", "/search", `{"query":"roof","mode":"magic"}`, nil, 400, "invalid",
			"lexical"},
		{"an upload that is no form", "POST", "/documents", "abc", []header{{"Content-Type", "text/plain"}}, 415,
			"unsupported", "multipart/form-data"},
		{"an upload without a file", "POST", "/documents", "--x--\r\n",
			[]header{{"Content-Type", "multipart/form-data; boundary=x"}}, 400, "invalid", "files"},
		{"an upload that breaks off", "POST", "/documents",
			"--x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.md\"\r\n\r\nabc",
			[]header{{"Content-Type", "multipart/form-data; boundary=x"}}, 400, "invalid", "again"},
		{"an unknown upload field", "POST", "/documents",
			"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.md\"\r\n\r\nabc\r\n--x--\r\n",
			[]header{{"Content-Type", "multipart/form-data; boundary=x"}}, 400, "invalid", `"file"`},
		{"a key that is too long", "POST", "/chat", ask("a"), []header{{"Idempotency-Key", strings.Repeat("k", 256)}},
			400, "invalid", "255"},
		{"another site's page", "POST", "/chat", ask("a"), []header{{"Origin", "https://evil.example"}}, 403,
			"forbidden", "page"},
		{"another site's fetch", "POST", "/chat", ask("a"), []header{{"Sec-Fetch-Site", "cross-site"}}, 403,
			"forbidden", "page"},
		{"another site's delete", "DELETE", "/agent/session/s", nil, []header{{"Origin", "https://evil.example"}}, 403,
			"forbidden", "page"},
		{"a foreign host name", "GET", "/documents", nil, []header{{"Host", "evil.example"}}, 403, "forbidden",
			"localhost"},
		{"an address that does not exist", "GET", "/nothing/here", nil, nil, 404, "not_found", ""},
		{"a method that is not answered", "PUT", "/chat", ask("a"), nil, 405, "method_not_allowed", "Allow"},
		{"a temperature out of range", "POST", "/agent/chat", `{"message":"a","config":{"temperature":9}}`, nil, 400,
			"invalid", "temperature"},
		{"a citation style that does not exist", "POST", "/agent/chat", `{"message":"a","citation_style":"roman"}`, nil,
			400, "invalid", "citation_style"},
		{"an empty context", "POST", "/agent/chat", `{"message":"a","context_text":" "}`, nil, 400, "invalid",
			"context_text"},
		{"a toolset that does not exist", "POST", "/chat", `{"message":"a","toolset":"axe"}`, nil, 400, "invalid",
			"toolset"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			good := make(chan reply, 1)
			go func() {
				r, _ := s.try("POST", "/search", `{"query":"roof"}`) // a failed request has no status
				good <- r
			}()
			r := s.send(row.method, row.path, row.body, row.headers...)
			if g := <-good; g.status != http.StatusOK || !strings.Contains(g.body, "slates") {
				t.Errorf("a good request beside it: %d %s; want %d and %q in it",
					g.status, g.body, http.StatusOK, "slates")
			}
			if r.status != row.status {
				t.Fatalf("status %d %s, want %d", r.status, r.body, row.status)
			}
			if kind := r.header.Get("Content-Type"); kind != "application/problem+json" {
				t.Errorf("content type %q, want %q", kind, "application/problem+json")
			}
			p := decode[problem](t, r.body)
			if p.Code != row.code || p.Status != row.status || p.RequestID == "" || p.Title == "" || p.Type == "" {
				t.Errorf("%+v, want the code %s", p, row.code)
			}
			if !plainSentence(p.Detail) || !strings.Contains(p.Detail, row.says) {
				t.Errorf("the sentence %q does not say %q, want %q in it", p.Detail, row.says, row.says)
			}
		})
	}
	if log := s.run("What is the condition of the roof?"); len(log.answer.Citations) == 0 {
		t.Errorf("after all that, the answer is %+v, want some", log.answer)
	}
}

func TestTheLongestQuestionIsTaken(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	question := strings.Repeat("ö", 32_000)
	if log := s.run(question); utf8.RuneCountInString(log.start.Question) != 32_000 {
		t.Errorf("the question has %d characters, want 32_000", utf8.RuneCountInString(log.start.Question))
	}
}

func TestAPositionBeyondTheEndStartsOver(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	id := s.begin("Hello?").RunID
	log := s.follow(id)
	st, err := s.open("GET", "/agent/runs/"+id+"/events?after=5000", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.close()
	first, err := st.next()
	if err != nil || first.name != "reset" || first.id != 0 ||
		!strings.Contains(first.data, fmt.Sprintf(`"last":%d`, len(log.raw))) {
		t.Fatalf("first comes %+v, %v; want name %q and id 0", first, err, "reset")
	}
	rest, _ := st.rest() // its end is checked by what it holds
	if len(rest) != len(log.raw) {
		t.Errorf("then come %d events, want all %d", len(rest), len(log.raw))
	}
	if r := s.send("GET", "/agent/runs/"+id+"/events", nil, header{
		"Last-Event-ID", fmt.Sprint(len(log.raw)),
	}); r.status != http.StatusNoContent {
		t.Errorf("a reader that has all gets %d, want %d", r.status, http.StatusNoContent)
	}
}

func TestAKeyMakesOneRun(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{})
	s := serve(t, newDir(t), model.env()...)
	s.add(books...)
	var mu sync.Mutex
	runs, statuses := map[string]int{}, map[int]int{}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			r, err := s.try("POST", "/chat", ask("What is the rent?"), header{"Idempotency-Key", "k1"})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[r.status]++
			runs[loose[started](t, r.body).RunID]++
		})
	}
	wg.Wait()
	if len(runs) != 1 || statuses[http.StatusAccepted] != 100 {
		t.Errorf("100 posts made %d runs with the statuses %v; want 1 run and 100", len(runs), statuses)
	}
	for id := range runs {
		s.follow(id)
	}
	if n := len(model.asked()); n != 3 {
		t.Errorf("the model was asked %d times, want 3", n)
	}
	r := s.send("POST", "/chat", ask("Something else?"), header{"Idempotency-Key", "k1"})
	if p := loose[problem](t, r.body); r.status != 422 || p.Code != "key_reused" || !plainSentence(p.Detail) {
		t.Errorf("the key with another body: %d %s, want 422", r.status, r.body)
	}
}
