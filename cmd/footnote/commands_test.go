package main_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestHelpExplainsEachCommand(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args []string
		says []string
	}{
		{[]string{"--help"},
			[]string{"serve", "ingest", "ask", "doctor", "FOOTNOTE_DATA", "OPENAI_API_KEY", "FOOTNOTE_MODEL"}},
		{[]string{"serve", "--help"}, []string{"--addr", "FOOTNOTE_ADDR"}},
		{[]string{"ingest", "--help"}, []string{"--namespace", "<path>"}},
		{[]string{"ask", "--help"}, []string{"--json", "--session", "<question>"}},
		{[]string{"doctor", "--help"}, []string{"model"}},
	} {
		got := command(t, "", nil, row.args...)
		if got.code != 0 || got.stderr != "" {
			t.Errorf("%v: code %d, %s; want 0 and nothing", row.args, got.code, got.stderr)
		}
		for _, word := range row.says {
			if !strings.Contains(got.stdout, word) {
				t.Errorf("%v does not say %q:\n%s", row.args, word, got.stdout)
			}
		}
		if strings.Contains(got.stdout, "extract-worker") || strings.Contains(got.stdout, "LEASE") {
			t.Errorf("%v shows what is hidden", row.args)
		}
	}
	if got := command(t, "", nil, "--version"); got.code != 0 || strings.TrimSpace(got.stdout) == "" {
		t.Errorf("--version: %+v; want code 0 and something", got)
	}
}

// folder holds files to ingest.
func folder(t *testing.T, files ...file) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// With and without a server on the directory, the commands do the same.
func TestIngestAndAsk(t *testing.T) {
	t.Parallel()
	for _, served := range []bool{false, true} {
		name := map[bool]string{false: "alone", true: "beside a server"}[served]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := newDir(t)
			if served {
				serve(t, data)
			}
			dir := folder(t, books[0], books[1],
				file{"sub/page.html", "<h1>Weir</h1><p>The weir was built in 1911.</p>"},
				file{"sub/plan.pdf", pdfOf("The plan of the weir is drawn by Ada Brown.")},
				file{".hidden.md", "hidden"}, file{"film.mov", "\x00\x00"})
			run := func(args ...string) result { return command(t, "", nil, append(args, "--data="+data)...) }

			first := run("ingest", dir)
			if first.code != 0 || !strings.Contains(first.stderr, "4 added, 0 already there, 0 failed") ||
				!strings.Contains(first.stderr, "/4 ") {
				t.Errorf("first time: %+v; want code 0, %q in it, %q in it",
					first, "4 added, 0 already there, 0 failed", "/4 ")
			}
			if !strings.Contains(first.stderr, "\n1 left out, of kinds that can't be read: 1 .mov\n") {
				t.Errorf("what was left out is not told: %s", first.stderr)
			}
			last := 0
			for _, line := range strings.Split(first.stderr, "\n") {
				var done, all int
				if n, _ := fmt.Sscanf(line, "%d/%d", &done, &all); n == 2 && (done < last || all != 4) {
					t.Errorf("the progress goes back: %s", first.stderr)
				}
				last = max(last, done)
			}
			if second := run("ingest", dir); second.code != 0 ||
				!strings.Contains(second.stderr, "0 added, 4 already there, 0 failed") {
				t.Errorf("second time: %+v; want code 0 and %q in it", second, "0 added, 4 already there, 0 failed")
			}
			if err := os.WriteFile(filepath.Join(dir, "lease.md"),
				[]byte("# Lease\n\nThe rent of the mill is 1200 pounds a month.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if third := run("ingest", dir); third.code != 0 ||
				!strings.Contains(third.stderr, "1 added, 3 already there, 0 failed") {
				t.Errorf("with a changed file: %+v; want code 0 and %q in it",
					third, "1 added, 3 already there, 0 failed")
			}
			bad := run(
				"ingest",
				folder(t, file{"zip.pdf", "PK\x03\x04xxxx"}, file{"locked.pdf", lockedPDF()},
					file{"good.md", "# Mill\n\nThe mill has three floors.\n"}),
			)
			for _, says := range []string{
				"1 added, 0 already there, 2 failed", "zip.pdf: ", "locked.pdf: This PDF needs a password",
				"2 of 3 files",
			} {
				if bad.code != 1 || !strings.Contains(bad.stderr, says) {
					t.Errorf("with bad files, code %d, without %q: %s; want 1 and %q in it",
						bad.code, says, bad.stderr, says)
				}
			}

			asked := run("ask", "What is the rent of the mill?")
			if asked.code != 0 {
				t.Fatalf("ask: %+v, want code 0", asked)
			}
			for _, says := range []string{"1200 pounds a month", "[1] Lease", "“", "(verified)"} {
				if !strings.Contains(asked.stdout, says) {
					t.Errorf("the answer lacks %q:\n%s", says, asked.stdout)
				}
			}
			if strings.Contains(asked.stdout, "900") {
				t.Errorf("the old text is still there:\n%s", asked.stdout)
			}
			for _, says := range []string{"… Searching for", "✓ Found", "✓ Read lease.md"} {
				if !strings.Contains(asked.stderr, says) {
					t.Errorf("the steps lack %q:\n%s", says, asked.stderr)
				}
				if strings.Contains(asked.stdout, says) {
					t.Errorf("a step is on stdout:\n%s", asked.stdout)
				}
			}

			events := run("ask", "--json", "By whom is the plan of the weir drawn?")
			var list []event
			for lines := bufio.NewScanner(strings.NewReader(events.stdout)); lines.Scan(); {
				head := loose[struct {
					Type string `json:"type"`
					Seq  int64  `json:"seq"`
				}](t, lines.Text())
				list = append(list, event{head.Seq, head.Type, lines.Text()})
			}
			if log := readTranscript(t, list); events.code != 0 ||
				!strings.Contains(log.answer.Markdown, "Ada Brown") || log.answer.Citations[0].Page != 1 {
				t.Errorf("the answer as JSON: code %d, %+v; want 0, %q in it, Citations[0].Page 1",
					events.code, log.answer, "Ada Brown")
			}
			if in := run("ask", "--session=../x", "Hello?"); in.code != 1 || !strings.Contains(in.stderr, "128") {
				t.Errorf("a bad session: %+v; want code 1 and %q in it", in, "128")
			}
			if left, err := os.ReadFile(filepath.Join(data, "server.json")); !served && err == nil {
				t.Errorf("the commands left %s", left)
			}
		})
	}
}

func TestAskFailsWithTheRun(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{Script: func(scripted.Request) scripted.Reply {
		return scripted.Reply{Text: "I can't", Finish: "content_filter"}
	}})
	got := command(t, "", model.env(), "ask", "Hello, what can you do?", "--data="+newDir(t))
	if got.code != 1 || !strings.Contains(got.stderr, "refused") {
		t.Errorf("%+v; want code 1 and %q in it", got, "refused")
	}
}

func TestDoctorSaysWhatIsFineAndWhatIsNot(t *testing.T) {
	t.Parallel()
	good := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		for _, tool := range r.Tools {
			return scripted.Reply{Calls: []llm.Call{{Name: tool.Name, Arguments: []byte(`{}`)}}}
		}
		return scripted.Reply{Text: "ready"}
	}})
	mute := newModel(t, scripted.Config{
		Script: func(scripted.Request) scripted.Reply { return scripted.Reply{Text: "I have no tools."} },
	})
	refusing := newModel(t, scripted.Config{Script: func(scripted.Request) scripted.Reply {
		return scripted.Reply{Fault: scripted.Fault{Status: 401}}
	}})
	local := func(room int) []string {
		c := scripted.Config{Model: "qwen", Owner: "llamacpp", Room: room, Script: callsThenAnswers}
		return newModel(t, c).env()
	}
	running := serve(t, newDir(t))
	damaged := newDir(t)
	if err := os.WriteFile(filepath.Join(damaged, "footnote.db"), []byte(strings.Repeat("this is no database ", 500)),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		data string
		env  []string
		code int
		says []string
	}{
		{"all is fine", newDir(t), nil, 0,
			[]string{
				"✓ settings", "✓ data directory", "✓ disk", "✓ database", "✓ PDF reader", "✓ model", "offline",
				"✓ semantic search",
			}},
		{"with a model", newDir(t), append(good.env(), "OPENAI_EMBEDDING_MODEL=hash"), 0,
			[]string{"✓ model", "scripted answers", "✓ tool calls", "✓ semantic search", "hash works"}},
		{"a model of this machine", newDir(t), local(8192), 0, []string{
			"qwen, which the server has instead of scripted, answers", "✓ model's size", "a context of 8192 tokens",
			"the profile is small",
		}},
		{"too little context", newDir(t), local(2048), 1, []string{"✕ model's size", "2048", "--ctx-size"}},
		{"beside a server", running.dir, nil, 0, []string{"in use by the Footnote at " + running.url}},
		{"a model that calls no tools", newDir(t), mute.env(), 1, []string{"✕ tool calls", "OPENAI_MODEL"}},
		{"a model without tool calls", newDir(t), newModel(t, scripted.Config{Script: toolless}).env(), 0,
			[]string{"✓ model", "✓ tool calls", "JSON"}},
		{"a wrong key", newDir(t), refusing.env(), 1, []string{"✕ model", "OPENAI_API_KEY"}},
		{"no model server", newDir(t), []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1"}, 1,
			[]string{"✕ model", "OPENAI_BASE_URL"}},
		{"a damaged database", damaged, nil, 1, []string{"✕ database", "damaged"}},
		{"a data directory that can't be", "/dev/null/data", nil, 1, []string{"✕ data directory", "--data"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := command(t, "", row.env, "doctor", "--data="+row.data)
			if got.code != row.code {
				t.Errorf("code %d, want %d\n%s%s", got.code, row.code, got.stdout, got.stderr)
			}
			for _, says := range row.says {
				if !strings.Contains(got.stdout, says) {
					t.Errorf("it does not say %q:\n%s", says, got.stdout)
				}
			}
			if row.code != 0 && !strings.Contains(got.stderr, "checks failed") {
				t.Errorf("on stderr: %s", got.stderr)
			}
		})
	}
}
