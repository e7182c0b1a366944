package main_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// What a model's server does wrong is a step with its name, and the offline model takes over, visibly.
func TestAFailingModelIsNamedAndTheOfflineModelAnswers(t *testing.T) {
	t.Parallel()
	fault := func(f scripted.Fault) func(scripted.Request) scripted.Reply {
		return func(scripted.Request) scripted.Reply {
			return scripted.Reply{Text: "The roof of the mill is made of gold, silver and other things", Fault: f}
		}
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + closed.Addr().String() + "/v1"
	_ = closed.Close()
	for _, row := range []struct {
		name   string
		script scripted.Script
		url    string
		says   string
	}{
		{
			"a wrong key",
			fault(scripted.Fault{
				Status: 401,
				Body:   `{"error":{"message":"Incorrect API key provided: test-key","code":"invalid_api_key"}}`,
			}), "", "key",
		},
		{"an unknown model", fault(scripted.Fault{Status: 404}), "", "refused the request"},
		{"a spent quota",
			fault(scripted.Fault{
				Status: 429,
				Body:   `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`,
			}), "", "used up"},
		{"a server that is not there", nil, gone, "can't be reached"},
		{"an answer that is cut off", fault(scripted.Fault{CutAfter: 6}), "", ""},
		{"a connection that is cut before the first word", fault(scripted.Fault{CutAfter: -1}), "", ""},
		{"an error in the stream", fault(scripted.Fault{Error: "boom"}), "", ""},
		{"a page of HTML", fault(scripted.Fault{Raw: []byte("<html>hello</html>"), RawType: "text/html"}), "", ""},
		{"nothing at all", func(scripted.Request) scripted.Reply { return scripted.Reply{Chunks: []string{}} }, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			url := row.url
			if url == "" {
				url = newModel(t, scripted.Config{Script: row.script}).url
			}
			s := serve(t, newDir(t), "OPENAI_BASE_URL="+url, "OPENAI_API_KEY=test-key", "OPENAI_MODEL=scripted")
			s.add(books...)
			log := s.run("What is the condition of the roof?")
			if log.done.Status != chat.RunCompleted || log.answer == nil || len(log.answer.Citations) == 0 {
				t.Fatalf("it ended as %+v with %+v\n%s", log.done, log.answer, s.log)
			}
			if strings.Contains(log.answer.Markdown, "gold") ||
				!strings.Contains(log.answer.Markdown, "poor condition") {
				t.Errorf("answer %q; want no %q in it and %q in it", log.answer.Markdown, "gold", "poor condition")
			}
			named := false
			for _, step := range log.steps {
				if step.Step == "fallback" {
					named = step.Error != nil && plainSentence(step.Error.Message) &&
						strings.Contains(step.Error.Message, row.says) &&
						strings.Contains(step.Error.Message, "footnote doctor") &&
						!strings.Contains(step.Error.Message, "OPENAI_")
					if !named {
						t.Errorf("the step %+v with the error %+v does not say %q", step, step.Error, row.says)
					}
				}
			}
			if !named {
				t.Errorf("no step names the failure: %+v", log.steps)
			}
			for _, ev := range log.raw {
				if strings.Contains(ev.data, "test-key") {
					t.Errorf("the key is in %s, want no %q in it", ev.data, "test-key")
				}
			}
		})
	}
}

func TestADeadModelLeavesTheRestWorking(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{})
	s := serve(t, newDir(t), model.env()...)
	s.add(books...)
	before := s.run("What is the rent?")
	if got := s.send("GET", "/health", nil); got.status != http.StatusOK ||
		!strings.Contains(got.body, `"status":"ok"`) {
		t.Errorf("/health = %d %s; want %d and %q in it", got.status, got.body, http.StatusOK, `"status":"ok"`)
	}
	strict := serve(t, newDir(t), append(model.env(), "FOOTNOTE_AGENT_FALLBACK_TO_FIXED_PIPELINE=false")...)
	if got := strict.send("GET", "/health", nil); got.status != http.StatusOK {
		t.Errorf("/health = %d %s, want %d", got.status, got.body, http.StatusOK)
	}
	model.web.CloseClientConnections()
	_ = model.web.Listener.Close()
	s.run("What is the rent?") // the check remembers a good answer for a while, but the run knows better
	strict.run("What is the rent?")
	health := s.send("GET", "/health", nil)
	if health.status != http.StatusOK || !strings.Contains(health.body, `"degraded"`) {
		t.Errorf("/health = %d %s; want %d and %q in it", health.status, health.body, http.StatusOK, `"degraded"`)
	}
	if got := strict.send("GET", "/health", nil); got.status != http.StatusServiceUnavailable ||
		!strings.Contains(got.body, `"down"`) {
		t.Errorf("/health after a run failed, with nothing in the model's place = %d %s, want 503 and down",
			got.status, got.body)
	}
	back, err := net.Listen("tcp", model.web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	again := &httptest.Server{Listener: back, Config: &http.Server{Handler: model}}
	again.Start()
	strict.run("What is the rent?")
	if got := strict.send("GET", "/health", nil); got.status != http.StatusOK ||
		!strings.Contains(got.body, `"status":"ok"`) {
		t.Errorf("/health after a run succeeded = %d %s; want %d and %q in it",
			got.status, got.body, http.StatusOK, `"status":"ok"`)
	}
	again.CloseClientConnections()
	again.Close()
	if got := s.search("slates"); got.TotalResults == 0 {
		t.Errorf("search does not work: got %v, want other than 0", got.TotalResults)
	}
	alone := serve(t, newDir(t), append(model.env(), "FOOTNOTE_AGENT_FALLBACK_TO_FIXED_PIPELINE=false")...)
	if got := alone.send("GET", "/health", nil); got.status != http.StatusServiceUnavailable ||
		!strings.Contains(got.body, `"down"`) || !strings.Contains(got.body, "footnote doctor") {
		t.Errorf("/health with nothing in the model's place = %d %s, want 503 and down", got.status, got.body)
	}
	if got := alone.send("GET", "/readyz", nil); got.status != http.StatusOK {
		t.Errorf("/readyz with nothing in the model's place = %d, want 200", got.status)
	}
	wantNoSettings(t, alone)
	newKey(t, alone.dir, "anna")
	if got := alone.send("GET", "/health", nil); got.status != http.StatusServiceUnavailable ||
		!strings.Contains(got.body, "The model can't be used now.") || strings.Contains(got.body, "OPENAI_") {
		t.Errorf("/health with keys = %d %s, want 503 without settings", got.status, got.body)
	}
	if got := s.send("GET", "/agent/session/"+before.start.SessionID, nil); got.status != http.StatusOK ||
		!strings.Contains(got.body, "900 pounds") {
		t.Errorf("history: %d %s; want %d and %q in it", got.status, got.body, http.StatusOK, "900 pounds")
	}
}

// wantNoSettings asks a server without a model on each route that needs one: no failure names a setting, for the local
// user either, and the log does.
func wantNoSettings(t *testing.T, s *server) {
	t.Helper()
	setting := regexp.MustCompile(`[A-Z]{2,}_[A-Z_]{2,}`)
	failed := 0
	for _, ask := range [][2]string{
		{"/agent/chat", `{"message":"What is the rent?"}`},
		{"/agent/chat/structured", `{"message":"What is the rent?"}`},
		{"/agent/query", `{"question":"What is the rent?"}`},
		{"/v1/chat/completions", `{"model":"footnote","messages":[{"role":"user","content":"What is the rent?"}]}`},
		{"/health", ""},
	} {
		method := "POST"
		if ask[1] == "" {
			method = "GET"
		}
		got := s.send(method, ask[0], ask[1])
		if got.status >= http.StatusInternalServerError {
			failed++
		}
		if bad := setting.FindString(got.body); bad != "" || got.status < 500 {
			t.Errorf("%s = %d names %q, want a failure without a setting: %s", ask[0], got.status, bad, got.body)
		}
	}
	if log := s.log.String(); failed == 0 || !strings.Contains(log, "OPENAI_BASE_URL") {
		t.Errorf("%d failures, and the log does not name the setting:\n%s", failed, log)
	}
}

// A model that hangs holds up its own run only, and that can be stopped.
func TestAHangingModelCanBeStopped(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		if strings.Contains(r.Question(), "hang") {
			return scripted.Reply{Text: "one two three", Fault: scripted.Fault{StallAfter: -1}}
		}
		return scripted.Librarian(r)
	}})
	s := serve(t, newDir(t), model.env()...)
	s.add(books...)
	hanging := s.begin("Please hang.").RunID
	if log := s.run("What is the rent?"); log.done.Status != chat.RunCompleted ||
		!strings.Contains(log.answer.Markdown, "900 pounds") {
		t.Errorf("the run beside it: %+v, want %q in it", log.answer, "900 pounds")
	}
	if got := s.send("POST", "/agent/runs/"+hanging+"/cancel", nil); got.status != http.StatusAccepted {
		t.Errorf("cancel = %d %s, want %d", got.status, got.body, http.StatusAccepted)
	}
	if log := s.follow(hanging); log.done.Status != chat.RunCancelled {
		t.Errorf("it ended as %+v, want Status %v", log.done, chat.RunCancelled)
	}
	if code := s.end(os.Interrupt); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}
