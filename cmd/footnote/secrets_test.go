package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

// Keys are nowhere but in the environment and in the requests to the model: not in the log at debug level, not in
// events, answers, or files.
func TestKeysStaySecret(t *testing.T) {
	t.Parallel()
	const canary = "sk-canary-7f3a9e52d1"
	echo := func(r scripted.Request) scripted.Reply {
		if strings.Contains(r.Question(), "wrong key") {
			return scripted.Reply{
				Fault: scripted.Fault{
					Status: 401,
					Body: `{"error":{"message":"Incorrect API key provided: ` + canary + `","type":"x","code":"` +
						canary + `"}}`,
				},
			}
		}
		if strings.Contains(r.Question(), "error in the stream") {
			return scripted.Reply{
				Text: "one two", Fault: scripted.Fault{Error: "the key " + canary + " is not allowed"},
			}
		}
		return scripted.Librarian(r)
	}
	model := newModel(t, scripted.Config{Script: echo})
	data := newDir(t)
	s := serve(t, data, "OPENAI_BASE_URL="+model.url, "OPENAI_API_KEY="+canary, "OPENAI_MODEL=scripted",
		"OPENAI_EMBEDDING_MODEL=hash", "FOOTNOTE_LOG_LEVEL=debug")
	s.add(append(books, file{"p.pdf", pdfOf("A page for the worker.")})...)
	var seen strings.Builder
	for _, question := range []string{
		"What is the rent?", "Do you have a wrong key?", "Is there an error in the stream?",
	} {
		for _, ev := range s.run(question).raw {
			seen.WriteString(ev.data)
		}
	}
	s.send("POST", "/chat", `{"message":`)
	for _, path := range []string{"/", "/health", "/metrics", "/documents", "/sessions", "/readyz"} {
		r := s.send("GET", path, nil)
		seen.WriteString(r.body)
		for name, values := range r.header {
			seen.WriteString(name + strings.Join(values, " "))
		}
	}
	_ = model.web.Listener.Close()
	model.web.CloseClientConnections()
	for _, ev := range s.run("And when the model is gone?").raw {
		seen.WriteString(ev.data)
	}
	doctor := command(t, "", []string{"OPENAI_BASE_URL=" + model.url, "OPENAI_API_KEY=" + canary}, "doctor",
		"--data="+newDir(t), "--log-level=debug")
	seen.WriteString(doctor.stdout + doctor.stderr)
	wrong := command(t, "", []string{"OPENAI_API_KEY=" + canary}, "serve", "--addr=x", "--data="+newDir(t))
	seen.WriteString(wrong.stdout + wrong.stderr)
	s.end(os.Interrupt)
	if !strings.Contains(s.log.String(), "level=DEBUG") {
		t.Errorf("the log is not at debug level:\n%s", s.log)
	}
	if strings.Contains(s.log.String(), canary) {
		t.Errorf("the key is in the log:\n%s", s.log)
	}
	if strings.Contains(seen.String(), canary) {
		at := strings.Index(seen.String(), canary)
		t.Errorf("the key was sent out: …%s", seen.String()[max(0, at-200):at])
	}
	if err := filepath.WalkDir(data, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(raw), canary) {
			t.Errorf("the key is in the file %s", name)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
