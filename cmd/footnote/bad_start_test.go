package main_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

func TestAStartThatCannotBeSaysWhy(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	running := serve(t, newDir(t))
	newer := newDir(t)
	serve(t, newer).end(os.Interrupt)
	if err := changeData(t, newer, `INSERT INTO migrations VALUES (9999, '9999_future', 0)`); err != nil {
		t.Fatal(err)
	}
	damaged := newDir(t)
	if err := os.WriteFile(filepath.Join(damaged, "footnote.db"), []byte(strings.Repeat("this is no database ", 500)),
		0o600); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(work, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	aFile := write("file", "not a directory")

	for _, row := range []struct {
		name string
		env  []string
		args []string
		code int
		says []string
	}{
		{"a taken port", nil, []string{"serve", "--data=" + newDir(t), "--addr=" + taken.Addr().String()}, 1,
			[]string{"taken", "--addr"}},
		{"a data directory in use", nil, []string{"serve", "--data=" + running.dir, "--addr=127.0.0.1:0"}, 1,
			[]string{"in use", running.url, "--data"}},
		{"a data directory of a newer version", nil, []string{"serve", "--data=" + newer, "--addr=127.0.0.1:0"}, 1,
			[]string{"newer Footnote", "another directory"}},
		{"a damaged database", nil, []string{"serve", "--data=" + damaged, "--addr=127.0.0.1:0"}, 1,
			[]string{"damaged", "backup"}},
		{"a data directory that is a file", nil, []string{"serve", "--data=" + aFile, "--addr=127.0.0.1:0"}, 1,
			[]string{aFile, "--data"}},
		{"an address that is none", nil, []string{"serve", "--addr=nonsense"}, 2,
			[]string{"FOOTNOTE_ADDR", "HOST:PORT"}},
		{"every mistake at once",
			[]string{
				"FOOTNOTE_ADDR=x", "OPENAI_BASE_URL=localhost:11434", "FOOTNOTE_MAX_UPLOAD_MIB=0",
				"FOOTNOTE_MAX_RUNS=0", "FOOTNOTE_RUN_TIMEOUT=1ms",
			},
			[]string{"serve"}, 2,
			[]string{
				"FOOTNOTE_ADDR", "OPENAI_BASE_URL", "FOOTNOTE_MAX_UPLOAD_MIB", "FOOTNOTE_MAX_RUNS",
				"FOOTNOTE_RUN_TIMEOUT",
			}},
		{"a model that needs a key", []string{"FOOTNOTE_MODEL=openai"}, []string{"serve"}, 2,
			[]string{"OPENAI_API_KEY", "OPENAI_BASE_URL"}},
		{"a model that does not exist", []string{"FOOTNOTE_MODEL=magic"}, []string{"serve"}, 2,
			[]string{"offline", "openai"}},
		{"a framework that does not exist", []string{"FOOTNOTE_AGENT_FRAMEWORK=magic"}, []string{"serve"}, 2,
			[]string{"agent-framework", "simple", "anthropic", "eino", "magic"}},
		{"a framework that was not built in", []string{"FOOTNOTE_AGENT_FRAMEWORK=eino"}, []string{"serve"}, 2,
			[]string{"FOOTNOTE_AGENT_FRAMEWORK is eino", "EINO=1"}},
		{"Anthropic's framework without its key",
			[]string{"FOOTNOTE_AGENT_FRAMEWORK=anthropic", "OPENAI_BASE_URL=http://127.0.0.1:1/v1"}, []string{"serve"},
			2, []string{"FOOTNOTE_AGENT_FRAMEWORK", "ANTHROPIC_API_KEY"}},
		{"a toolset that does not exist", []string{"FOOTNOTE_AGENT_TOOLSET=magic"},
			[]string{"serve", "--addr=127.0.0.1:0", "--data=" + newDir(t)}, 1,
			[]string{"agent.toolset", "magic", "cursor"}},
		{"a tool that does not exist", []string{"FOOTNOTE_AGENT_TOOLS=retrieve,magic"},
			[]string{"serve", "--addr=127.0.0.1:0", "--data=" + newDir(t)}, 1,
			[]string{"agent.tools", "magic", "retrieve_more"}},
		{"the model's settings", nil,
			[]string{
				"serve",
				"--config=" + write("model.yaml", "agent:\n  system_prompt: \"\"\n  temperature: 3\n  max_tokens: 5\n"),
			}, 2,
			[]string{
				"FOOTNOTE_AGENT_SYSTEM_PROMPT is empty", "FOOTNOTE_AGENT_TEMPERATURE goes from 0 to 1",
				"FOOTNOTE_AGENT_MAX_TOKENS",
			}},
		{"more turns than a run may be given",
			[]string{"FOOTNOTE_AGENT_MAX_ITERATIONS=51", "FOOTNOTE_AGENT_MAX_CALLS=-1"}, []string{"serve"}, 2,
			[]string{"FOOTNOTE_AGENT_MAX_ITERATIONS goes from 1 to 50", "FOOTNOTE_AGENT_MAX_CALLS goes from 1 to 50"}},
		{"the same, for doctor", []string{"FOOTNOTE_AGENT_MAX_ITERATIONS=99"}, []string{"doctor"}, 2,
			[]string{"FOOTNOTE_AGENT_MAX_ITERATIONS goes from 1 to 50"}},
		{"a key that is none of OpenAI's", []string{"OPENAI_API_KEY=sk-short"}, []string{"serve"}, 2,
			[]string{"OPENAI_API_KEY", "sk-", "40 characters", "OPENAI_BASE_URL"}},
		{"a key that is none of Anthropic's", []string{"ANTHROPIC_API_KEY=sk-0123456789"}, []string{"serve"}, 2,
			[]string{"ANTHROPIC_API_KEY", "sk-ant-"}},
		{"a setting that is no number", []string{"FOOTNOTE_MAX_RUNS=many"}, []string{"serve"}, 2, []string{"many"}},
		{"an unknown key in the settings file", nil,
			[]string{"serve", "--config=" + write("unknown.yaml", "adr: 127.0.0.1:0\n")}, 2,
			[]string{"unknown.yaml", `"adr"`}},
		{"a settings file that is no YAML", nil, []string{"serve", "--config=" + write("broken.yaml", "a: [\n")}, 2,
			[]string{"broken.yaml"}},
		{"a settings file that is not there", nil, []string{"serve", "--config=/nowhere/footnote.yaml"}, 2,
			[]string{"/nowhere/footnote.yaml"}},
		{"an unknown command", nil, []string{"sevre"}, 2, []string{"sevre", "--help"}},
		{"an unknown flag", nil, []string{"serve", "--prot=1"}, 2, []string{"--prot", "--help"}},
		{"ask without a question", nil, []string{"ask"}, 2, []string{"question"}},
		{"ingest without a path", nil, []string{"ingest"}, 2, []string{"path"}},
		{"ingest of what is not there", nil, []string{"ingest", "/nowhere/at/all", "--data=" + newDir(t)}, 1,
			[]string{"/nowhere/at/all"}},
		{"ingest of films", nil,
			[]string{
				"ingest", folder(t, file{"a.MOV", "\x00"}, file{"b.mov", "\x00"}, file{"LICENSE", "x"}),
				"--data=" + newDir(t),
			}, 1, []string{"nothing to add", "3 left out", "2 .mov, 1 without an ending"}},
		{"a question without words", nil, []string{"ask", " ", "--data=" + newDir(t)}, 1,
			[]string{"the question is empty"}},
		{"a backup of nothing", nil, []string{"backup", filepath.Join(t.TempDir(), "b.tar"), "--data=" + newDir(t)}, 1,
			[]string{"There is no database at"}},
		{"ingest of an empty folder", nil, []string{"ingest", t.TempDir(), "--data=" + newDir(t)}, 1,
			[]string{"nothing to add"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := command(t, "", row.env, row.args...)
			if got.code != row.code {
				t.Errorf("exit code %d, want %d", got.code, row.code)
			}
			for _, word := range row.says {
				if !strings.Contains(got.stderr, word) {
					t.Errorf("it does not say %q:\n%s", word, got.stderr)
				}
			}
			for _, inside := range []string{"panic", "goroutine", "SQLITE_", ".go:"} {
				if strings.Contains(got.stderr, inside) {
					t.Errorf("it says %q:\n%s", inside, got.stderr)
				}
			}
			if got.stdout != "" {
				t.Errorf("on stdout: %s, want nothing", got.stdout)
			}
		})
	}
	if got := running.send("GET", "/readyz", nil); got.status != 200 {
		t.Errorf("the running server answers %d, want 200", got.status)
	}
}

func TestFlagsWinOverTheEnvironmentAndThatOverTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	settings := "data: ./from-file\nmax_upload_mib: 7\nallowed:\n  hosts: [one.example, two.example]\n"
	if err := os.WriteFile(filepath.Join(dir, "footnote.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		env  []string
		args []string
		made string
	}{
		{"the file alone", nil, nil, "from-file"},
		{"the environment over the file", []string{"FOOTNOTE_DATA=./from-env"}, nil, "from-env"},
		{"a flag over both", []string{"FOOTNOTE_DATA=./from-env2"}, []string{"--data=./from-flag"}, "from-flag"},
	} {
		t.Run(row.name, func(t *testing.T) {
			shareCompiled(t, filepath.Join(dir, row.made))
			got := command(t, dir, row.env, append([]string{"doctor"}, row.args...)...)
			if got.code != 0 {
				t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
			}
			if _, err := os.Stat(filepath.Join(dir, row.made, "footnote.db")); err != nil {
				t.Error(err)
			}
			if !strings.Contains(got.stdout, row.made) {
				t.Errorf("it does not say %q:\n%s", row.made, got.stdout)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "from-env2")); err == nil {
		t.Error("the environment won over a flag")
	}
	data := filepath.Join(dir, "served")
	s := serve(t, data)
	hosts := func(host string) int { return s.send("GET", "/readyz", nil, header{"Host", host}).status }
	if a, b, c := hosts("one.example"), hosts("two.example:80"), hosts("three.example"); fmt.Sprint(a, b,
		c) != "200 200 403" {
		t.Errorf("hosts of the file: %d %d %d", a, b, c)
	}
}
