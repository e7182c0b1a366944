package main_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHelpAndVersionAreCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "footnote.yaml"), []byte("x: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, same := range [][2][]string{
		{{"help"}, {"--help"}}, {{"help", "ask"}, {"ask", "--help"}},
		{{"help", "key", "new"}, {"key", "new", "--help"}}, {{"help", "export"}, {"export", "--help"}},
	} {
		want := command(t, "", nil, same[1]...)
		for name, wrong := range map[string]struct {
			dir string
			env []string
		}{
			"settings that are fine": {}, "a settings file that can't be read": {dir: dir},
			"settings that are wrong": {env: []string{"FOOTNOTE_MAX_RUNS=many", "FOOTNOTE_ADDR=x", "OPENAI_API_KEY=x"}},
		} {
			if got := command(t, wrong.dir, wrong.env, same[0]...); got != want || got.code != 0 || got.stdout == "" {
				t.Errorf("with %s footnote %q is\n%+v, want as footnote %q\n%+v", name, same[0], got, same[1], want)
			}
		}
	}
	for _, env := range [][]string{nil, {"FOOTNOTE_MAX_RUNS=many"}} {
		short, long := command(t, dir, env, "--version"), command(t, dir, env, "version")
		if short.code != 0 || short.stdout != "dev\n" || !strings.HasPrefix(long.stdout, short.stdout+"commit ") {
			t.Errorf("--version and version with settings that can't be read: %+v and %+v, want dev", short, long)
		}
	}
	if got := command(
		t,
		dir,
		nil,
		"doctor",
	); got.code != 2 ||
		!strings.Contains(got.stderr, "footnote.yaml is not valid YAML") {
		t.Errorf("doctor with a settings file that can't be read: %+v, want code 2 and the file's name", got)
	}
}

func TestUnknownCommandSuggestsNearest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args []string
		says string
	}{
		{[]string{"serv"}, `serv, did you mean "serve"?`},
		{[]string{"sevre", "--addr=127.0.0.1:0"}, `sevre, did you mean "serve"?`},
		{[]string{"--data", "x", "docter"}, `docter, did you mean "doctor"?`},
		{[]string{"igest", "."}, `igest, did you mean "ingest"?`},
		{[]string{"hlep"}, `hlep, did you mean "help"?`},
		{[]string{"vesion"}, `vesion, did you mean "version"?`},
		{[]string{"bakcup", "x.tar"}, `bakcup, did you mean "backup"?`},
		{[]string{"key", "nwe"}, `nwe, did you mean "new"?`},
		{[]string{"help", "serv"}, `serv, did you mean "serve"?`},
		{[]string{"serve", "x"}, "unexpected argument x\n"},
		{[]string{"xyzzy"}, "unexpected argument xyzzy\n"},
	} {
		got := command(t, "", nil, row.args...)
		if got.code == 0 || !strings.Contains(got.stderr, row.says) || got.stdout != "" {
			t.Errorf("footnote %q: %+v, want %s", row.args, got, row.says)
		}
	}
}

// One of the default ports of model servers is used for a moment.
func TestDoctorFindsLocalModelServer(t *testing.T) {
	var at net.Listener
	for _, port := range []int{1337, 1234, 11434, 8000, 8081} {
		var err error
		if at, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			break
		}
	}
	if at == nil {
		t.Fatal("all ports of model servers are in use on this machine")
	}
	models := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"tiny-model","object":"model"}]}`)
	})}
	go func() { _ = models.Serve(at) }() // ends with Close
	t.Cleanup(func() { _ = models.Close() })
	connects := fmt.Sprintf("OPENAI_BASE_URL=http://localhost:%d/v1 OPENAI_MODEL=tiny-model connects it",
		at.Addr().(*net.TCPAddr).Port)
	for name, env := range map[string][]string{
		"without a model": nil, "with one that can't be reached": {"OPENAI_BASE_URL=http://127.0.0.1:1/v1"},
	} {
		eventually(t, name+": "+connects, func() bool { // it scans for 300 ms, however busy the machine is
			got := command(t, "", env, "doctor", "--data="+newDir(t))
			return strings.Contains(got.stdout, connects) && strings.Contains(got.stdout, "✓ model server")
		})
	}
}

// withoutQuotes are conversations that the offline mode answers without quotes: a greeting, a refused request, a
// calculation, a list, or a request for information.
var withoutQuotes = []string{
	"Hello", "Thanks!", "Who are you?", "help", "?!", "Tell me more", "Explain that", "What does [9] say?",
	"What is 12 * 7?", "What is 7 / 0?", "Which documents do I have?", "Summarise my documents", "Open Missing.pdf",
	"Translate this into German: The gate must be locked at night.",
	"Rewrite this text: The gate must be locked at night. Dogs are kept on a lead.",
	"Summarise this: The gate must be locked at night. Dogs are kept on a lead. No fire is lit in the yard.",
	"Write a poem about the mill", "What does rule 3 say? → Tell me more → Tell me more → Tell me more → Thanks!",
	"Summarise rules.md → Say it in other words", "Put this in simpler words: Dogs are kept on a lead.",
	"What does rule 2 say? → Translate your answer into German", "Erkläre diesen Text: Der Hund bleibt an der Leine.",
}

// The offline mode's own sentences are not claims about documents: none is listed as unsupported.
func TestOfflineStatementsAreNotClaims(t *testing.T) {
	t.Parallel()
	rules := "# Rules of the mill\n\n1. Visitors sign the book at the gate.\n2. Dogs are kept on a lead.\n" +
		"3. No fire is lit in the yard.\n"
	for name, files := range map[string][]file{"nothing": nil, "documents": {{"rules.md", rules}}} {
		t.Run("with "+name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, newDir(t))
			if len(files) > 0 {
				s.add(files...)
			}
			for _, conversation := range withoutQuotes {
				session := ""
				for ask := range strings.SplitSeq(conversation, " → ") {
					log := s.runIn(session, ask)
					session = log.start.SessionID
					if log.answer == nil {
						t.Errorf("%s: %+v", ask, log.done)
					} else if len(log.answer.Unsupported) > 0 {
						t.Errorf("%s\n%s\nlists %q, want none", ask, log.answer.Markdown, log.answer.Unsupported)
					}
				}
			}
			for _, body := range []string{
				`{"question":"Explain this text","context":"The gate is locked at night. Dogs are kept on a lead."}`,
				`{"question":"Who locks the gate?","context":"The gate must be locked at night by the miller."}`,
			} {
				r := s.send("POST", "/agent/query", body)
				got := loose[struct{ Unsupported []string }](t, r.body)
				if r.status != http.StatusOK || len(got.Unsupported) > 0 {
					t.Errorf("%s: %d %s, want nothing unsupported", body, r.status, r.body)
				}
			}
		})
	}
}
