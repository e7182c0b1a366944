package main_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/server/modelchoice"
)

// A model that was found on this machine answers from the next question on, also after a restart; the settings file
// keeps everything else.
func TestAModelIsChosenWhileTheServerServes(t *testing.T) {
	t.Parallel()
	here := newModel(t, scripted.Config{Model: "qwen3:8b", Owner: "library"})
	away := newModel(t, scripted.Config{})
	u, err := url.Parse(here.url)
	if err != nil {
		t.Fatal(err)
	}
	dir, settings := newDir(t), filepath.Join(t.TempDir(), "footnote.yaml")
	const before = "# The settings of the office.\nsession_keep_days: 7 # a week\n"
	if err := os.WriteFile(settings, []byte(before), 0o644); err != nil { //nolint:gosec // as people have it
		t.Fatal(err)
	}
	env := []string{
		"FOOTNOTE_CONFIG=" + settings, "FOOTNOTE_MODEL_PORTS=" + u.Port(), "FOOTNOTE_MODEL_SERVICES=openai=" + away.url,
	}
	s := serve(t, dir, env...)
	s.add(dated...)
	found := loose[modelchoice.Found](t, s.send("GET", "/model", nil).body)
	if found.Answering != "offline" || len(found.Servers) != 1 || found.Locked != "" ||
		found.Servers[0].Models[0].Name != "qwen3:8b" || !found.Servers[0].Models[0].Suggested {
		t.Fatalf("found %+v, want the model on this machine", found)
	}
	ask := func() string {
		t.Helper()
		r := s.send("POST", "/agent/chat", `{"message":"How good is the roof of Highlands?"}`)
		run := loose[struct {
			RunID string `json:"run_id"`
		}](t, r.body).RunID
		return loose[struct{ Model string }](t, s.send("GET", "/agent/runs/"+run, nil).body).Model
	}
	if got := ask(); got != "offline" {
		t.Errorf("%s answers before anything is chosen, want offline", got)
	}
	for body, why := range map[string]string{
		fmt.Sprintf(`{"port":%s}`, u.Port()):                  "Name a model",
		`{"port":1,"model":"x"}`:                              "not looked for at port 1",
		`{"service":"openai"}`:                                "needs a key",
		`{"service":"openai","key":"short"}`:                  "",
		`{"service":"anthropic","key":"sk-other"}`:            "no key of Anthropic",
		`{"service":"groq","key":"a b"}`:                      "no spaces",
		`{"service":"nobody","key":"x"}`:                      "no service of that name",
		`{"service":"mistral","key":"k","model":"` + longName: "at most 200",
	} {
		got := s.send("PUT", "/model", body)
		if why == "" { // the service is tried, and takes every key
			if got.status != 200 {
				t.Errorf("%s: %d %s", body, got.status, got.body)
			}
			continue
		}
		if got.status != 400 || !strings.Contains(got.body, why) {
			t.Errorf("%s: %d %s, want %q", body, got.status, got.body, why)
		}
	}
	if got := s.send("PUT", "/model", fmt.Sprintf(`{"port":%s,"model":"qwen3:8b"}`, u.Port())); got.status != 200 ||
		!strings.Contains(got.body, `"tools":true`) {
		t.Fatalf("%d %s, want it taken", got.status, got.body)
	}
	if got := ask(); got != "qwen3:8b" {
		t.Errorf("%s answers, want the model that was chosen", got)
	}
	raw, err := os.ReadFile(settings)
	if err != nil || !bytes.HasPrefix(raw, []byte(before)) ||
		!bytes.Contains(raw, []byte("openai_model: qwen3:8b\n")) || bytes.Contains(raw, []byte("short")) {
		t.Errorf("%v, the settings file is %s, want what it said before, the model, and no other key", err, raw)
	}
	if !strings.Contains(s.log.String(), "a model on this machine could answer") {
		t.Errorf("the log says nothing of the model: %s", s.log)
	}
	s.end(os.Interrupt)
	s = serve(t, dir, env...)
	if got := ask(); got != "qwen3:8b" {
		t.Errorf("%s answers after a restart, want the model that was chosen", got)
	}
	here.web.CloseClientConnections()
	here.web.Close()
	s.end(os.Interrupt)
	s = serve(t, dir, env...) // nobody has asked it yet
	now := loose[modelchoice.Found](t, s.send("GET", "/model", nil).body)
	if len(now.Servers) > 0 || !strings.Contains(now.Trouble, "nothing answers at its address") {
		t.Errorf("after its server went: %+v, want it said", now)
	}
	if got := s.send("PUT", "/model", `{"service":"offline"}`); got.status != 200 {
		t.Errorf("offline: %d %s", got.status, got.body)
	}
	if got := ask(); got != "offline" {
		t.Errorf("%s answers, want offline", got)
	}
}

// longName is a name that no model has, to the end of a body.
var longName = strings.Repeat("x", 201) + `"}`
