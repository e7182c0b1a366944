package main_test

import (
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
	_ "modernc.org/sqlite"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestFailedStartReportsReason(t *testing.T) {
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
			[]string{"in use", "--addr"}},
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
				"FOOTNOTE_AGENT_SYSTEM_PROMPT is empty", "FOOTNOTE_AGENT_TEMPERATURE must be between 0 and 1",
				"FOOTNOTE_AGENT_MAX_TOKENS",
			}},
		{"more turns than a run may be given",
			[]string{"FOOTNOTE_AGENT_MAX_ITERATIONS=51", "FOOTNOTE_AGENT_MAX_CALLS=-1"}, []string{"serve"}, 2,
			[]string{"FOOTNOTE_AGENT_MAX_ITERATIONS must be between 1 and 50", "FOOTNOTE_AGENT_MAX_CALLS must be " +
				"between 1 and 50"}},
		{"the same, for doctor", []string{"FOOTNOTE_AGENT_MAX_ITERATIONS=99"}, []string{"doctor"}, 2,
			[]string{"FOOTNOTE_AGENT_MAX_ITERATIONS must be between 1 and 50"}},
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
			}, 1, []string{"nothing to add", "3 skipped", "2 .mov, 1 without an extension"}},
		{"a question without words", nil, []string{"ask", " ", "--data=" + newDir(t)}, 1,
			[]string{"the question is empty"}},
		{"a backup of nothing", nil, []string{"backup", filepath.Join(t.TempDir(), "b.tar"), "--data=" + newDir(t)}, 1,
			[]string{"No database found at"}},
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
					t.Errorf("output lacks %q:\n%s", word, got.stderr)
				}
			}
			for _, inside := range []string{"panic", "goroutine", "SQLITE_", ".go:"} {
				if strings.Contains(got.stderr, inside) {
					t.Errorf("output has %q:\n%s", inside, got.stderr)
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

func TestFlagsPrecedeEnvironmentAndFile(t *testing.T) {
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
				t.Errorf("exit code = %d, want 0\n%s%s", got.code, got.stdout, got.stderr)
			}
			if _, err := os.Stat(filepath.Join(dir, row.made, "footnote.db")); err != nil {
				t.Error(err)
			}
			if !strings.Contains(got.stdout, row.made) {
				t.Errorf("output lacks %q:\n%s", row.made, got.stdout)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "from-env2")); err == nil {
		t.Error("environment overrides a flag, want the flag to win")
	}
	data := filepath.Join(dir, "served")
	s := serve(t, data)
	hosts := func(host string) int { return s.send("GET", "/readyz", nil, header{"Host", host}).status }
	if a, b, c := hosts("one.example"), hosts("two.example:80"), hosts("three.example"); fmt.Sprint(a, b,
		c) != "200 200 403" {
		t.Errorf("hosts of the file: got %d %d %d, want 200 200 403", a, b, c)
	}
}

// An invalid agent request returns a sentence and a 4xx status, and stores nothing.
func TestInvalidAgentRequestsAreRejected(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books[0])
	for _, row := range []struct{ name, path, body, says string }{
		{"an unknown toolset", "/agent/query", `{"question":"a","toolset":"axe"}`, "There is no toolset"},
		{"an unknown tool", "/agent/query", `{"question":"a","config":{"enabled_tools":["axe"]}}`, "There is no tool"},
		{"a tool that is not set up", "/agent/query", `{"question":"a","config":{"enabled_tools":["web_search"]}}`,
			"web_search"},
		{"an empty tool", "/agent/query", `{"question":"a","config":{"enabled_tools":[""]}}`, "enabled_tools"},
		{"top_k 0", "/agent/query", `{"question":"a","config":{"retrieval_top_k":0}}`, "retrieval_top_k"},
		{"top_k 51", "/agent/query", `{"question":"a","config":{"retrieval_top_k":51}}`, "retrieval_top_k"},
		{"no steps", "/agent/query", `{"question":"a","config":{"max_steps":0}}`, "max_steps"},
		{"too many calls", "/agent/query", `{"question":"a","config":{"max_retrieval_calls":51}}`,
			"max_retrieval_calls"},
		{"temperature 3", "/agent/chat", `{"message":"a","config":{"temperature":3}}`, "temperature"},
		{"temperature -1", "/agent/chat", `{"message":"a","config":{"temperature":-1}}`, "temperature"},
		{"a temperature that is too high for its toolset", "/agent/query",
			`{"question":"a","toolset":"documentation","config":{"temperature":1.5}}`, "documentation"},
		{"an empty system prompt", "/agent/chat", `{"message":"a","system_prompt":""}`, "system_prompt"},
		{"a system prompt of the caller's", "/agent/chat",
			`{"message":"a","config":{"system_prompt":"You are a pirate"}}`, "system_prompt"},
		{"a model that is not allowed", "/agent/chat", `{"message":"a","config":{"model":"huge-9"}}`, "not allowed"},
		{"a selection that does not exist", "/agent/chat", `{"message":"a","config":{"selection":"dice"}}`,
			"selection"},
		{"a session id with a slash", "/agent/chat", `{"message":"a","session_id":"a/b"}`, "128"},
		{"a session id of 10,000 characters", "/agent/chat",
			`{"message":"a","session_id":"` + strings.Repeat("x", 10_000) + `"}`, "128"},
		{"a config that is a list", "/agent/chat", `{"message":"a","config":[]}`, "config"},
		{"a config that is a text", "/agent/query", `{"question":"a","config":"warm"}`, "config"},
		{"a step count that is a text", "/agent/query", `{"question":"a","config":{"max_steps":"ten"}}`, "max_steps"},
		{"a history of single texts", "/agent/query", `{"question":"a","history":[["only a question"]]}`, "history"},
		{"a history of three", "/agent/query", `{"question":"a","history":[["q","a","q"]]}`, "history"},
		{"a history with an empty answer", "/agent/query", `{"question":"a","history":[["q"," "]]}`, "history"},
		{"a history of messages", "/agent/query", `{"question":"a","history":[{"role":"user","content":"q"}]}`,
			"history"},
		{"a threshold of 1.1", "/agent/retrieve", `{"query":"a","min_score":1.1}`, "min_score"},
		{"top_k 0 of passages", "/agent/retrieve", `{"query":"a","top_k":0}`, "top_k"},
		{"an empty query", "/agent/retrieve", `{"query":" "}`, "empty"},
	} {
		r := s.send("POST", row.path, row.body)
		p := loose[problem](t, r.body)
		if r.status != http.StatusBadRequest || !plainSentence(p.Detail) || !strings.Contains(p.Detail, row.says) {
			t.Errorf("%s: %d %s, want %d", row.name, r.status, r.body, http.StatusBadRequest)
		}
	}
	if list := s.send("GET", "/sessions", nil); list.status != http.StatusOK || strings.Contains(list.body, `"id"`) {
		t.Errorf("sessions are left: %s, want no %q in it", list.body, `"id"`)
	}
}

// Errors of a model's tool calls are returned to the model, and the run continues.
func TestToolCallErrorsAreReturnedToModel(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("(", 50_000) + "1" + strings.Repeat(")", 50_000)
	rows := []struct{ name, args, says string }{
		{"axe", `{}`, "There is no tool"},
		{"semantic_search", `{"query":"a","top_k":0}`, "do not fit"},
		{"retrieve_documentation", `{"query":"a","top_k":21}`, "do not fit"},
		{"retrieve_documentation", `{"query":"a","similarity_threshold":1.1}`, "do not fit"},
		{"semantic_search", `{"query":"a","min_score":"high"}`, "do not fit"},
		{"search_documents", `{"query":""}`, "do not fit"},
		{"search_documents", `{"words":"roof"}`, "do not fit"},
		{"read_document", `{"doc_id":"` + strings.Repeat("x", 501) + `"}`, "do not fit"},
		{"calculate", `{"expression":"9**9**9"}`, "too large"},
		{"calculate", `{"expression":"` + deep + `"}`, ""},
		{"calculate", `{"expression":"1/0"}`, ""},
		{"calculate", `{"expression":"__import__('os')"}`, ""},
	}
	const answer = "Every employee is entitled to 28 days of paid holiday a year [1]."
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		var n int
		if _, err := fmt.Sscanf(r.Question(), "Row %d", &n); err == nil && r.Turn() == 0 {
			return calling(rows[n].name, rows[n].args)
		}
		if r.Turn() == 1 && !r.NoTools {
			return calling("search_documents", `{"query":"paid holiday"}`)
		}
		return saying(answer)
	}})
	s := serve(t, newDir(t),
		append(
			m.env(),
			"FOOTNOTE_AGENT_TOOLS=search_documents,read_document,calculate,semantic_search,retrieve_documentation",
		)...)
	s.add(file{"handbook.md", holidays})
	for i, row := range rows {
		log := s.run(fmt.Sprintf("Row %d: how many days of paid holiday are there?", i))
		if log.done.Status != chat.RunCompleted || log.answer.Markdown != answer {
			t.Errorf("%s %.60s: it ended %+v with %+v; want Status %v and Markdown %v",
				row.name, row.args, log.done, log.answer, chat.RunCompleted, answer)
		}
		told := false
		for _, step := range log.steps {
			if step.ToolName == row.name && step.Status == chat.StatusError {
				told = step.Error != nil && strings.Contains(string(step.ToolOutput), "error") &&
					strings.Contains(string(step.ToolOutput), row.says)
			}
		}
		if !told {
			t.Errorf("%s %.60s: no step has the reason: %.3000v", row.name, row.args, log.raw)
		}
	}
}

// A plan with a cycle or unknown parts is replaced with the question itself.
func TestInvalidPlansFallBackToQuestion(t *testing.T) {
	t.Parallel()
	for name, plan := range map[string]string{
		"circle":    `[{"query":"paid holiday","depends_on":[1]},{"query":"notice","depends_on":[0]}]`,
		"itself":    `[{"query":"paid holiday","depends_on":[0]}]`,
		"not there": `[{"query":"paid holiday","depends_on":[7]}]`,
		"nothing":   `I would rather not.`,
	} {
		m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
			if len(r.Tools) == 0 {
				return saying(plan)
			}
			return saying("Every employee is entitled to 28 days of paid holiday a year [1][2].")
		}})
		s := serve(t, newDir(t), m.env()...)
		s.add(file{"handbook.md", holidays})
		r := s.send(
			"POST", "/agent/query",
			`{"question":"How many days of paid holiday are there, and how long is the notice period?",`+
				`"config":{"enable_query_decomposition":true}}`,
		)
		got := loose[struct {
			Status string      `json:"status"`
			Steps  []chat.Step `json:"steps"`
		}](t, r.body)
		note := ""
		for _, step := range got.Steps {
			if step.Step == "plan" {
				note, _ = step.Details["note"].(string)
			}
		}
		if got.Status != "success" || !plainSentence(note) {
			t.Errorf("%s: status %s, plan %q, want status %q and one sentence", name, got.Status, note, "success")
		}
	}
}

func TestBadFilesFailIndividually(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t), "FOOTNOTE_MAX_UPLOAD_MIB=1")
	many := make([]string, 6000)
	for i := range many {
		many[i] = "p"
	}
	thousands := pdfOf(many...)
	big := serve(t, newDir(t))
	rows := []struct {
		name   string
		file   file
		server *server
		code   string
		says   string
		late   bool // accepted, but parsing fails
	}{
		{"an empty file", file{"empty.md", ""}, s, "invalid", "empty", false},
		{"a file over the limit", file{"big.txt", strings.Repeat("many words ", 1<<20/11+1)}, s, "too_large",
			"Split it", false},
		{"a ZIP named .pdf", file{"zip.pdf", "PK\x03\x04" + strings.Repeat("x", 100)}, s, "unsupported",
			"not a PDF", false},
		{"a picture of another kind", file{"a.gif", "GIF89a" + strings.Repeat("\x00", 100)}, s, "unsupported",
			"Save it as PNG", false},
		{"a broken picture", file{"a.png", "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", 100)}, s, "broken",
			"save it again", true},
		{"a program named .md", file{"a.md", "\x7fELF\x02\x01\x01\x00" + strings.Repeat("\x00\x01\xff", 100)}, s,
			"unsupported", "is a program, which is not supported", false},
		{"a file without a name", file{"..", "words"}, s, "invalid", "name", false},
		{"a broken PDF", file{"broken.pdf", pdfOf("hello")[:60]}, s, "broken", "save it again", true},
		{"an encrypted PDF", file{"locked.pdf", lockedPDF()}, s, "encrypted", "password", true},
		{"a scanned PDF", file{"scan.pdf", scannedPDF()}, s, "no_text", "OCR", true},
		{"a PDF of 6,000 pages", file{"long.pdf", thousands}, big, "too_many_pages", "5,000", true},
		{"white space alone", file{"blank.txt", " \n\t\n"}, s, "no_text", "No text found", true},
	}
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			word := fmt.Sprintf("goodword%c", 'a'+i)
			r := row.server.upload(row.file, file{word + ".md", "# Good\n\nThis good file says " + word + " once.\n"})
			if r.status != http.StatusAccepted {
				t.Fatalf("upload: %d %s, want %d", r.status, r.body, http.StatusAccepted)
			}
			answer := decode[uploadAnswer](t, r.body)
			good := answer.Documents[len(answer.Documents)-1]
			var code, detail string
			if row.late {
				if len(answer.Documents) != 2 {
					t.Fatalf("upload: %s", r.body)
				}
				d := row.server.settled(answer.Documents[0].ID)
				if d.State != "failed" || d.Error == nil {
					t.Fatalf("it became %+v, want State %q", d, "failed")
				}
				code, detail = d.Error.Code, d.Error.Detail
			} else {
				if len(answer.Rejected) != 1 || len(answer.Documents) != 1 {
					t.Fatalf("upload: %s", r.body)
				}
				code, detail = answer.Rejected[0].Code, answer.Rejected[0].Detail
			}
			if code != row.code || !strings.Contains(detail, row.says) || !plainSentence(detail) {
				t.Errorf("%s: %q, want %s with %q", code, detail, row.code, row.says)
			}
			if d := row.server.settled(good.ID); d.State != "ready" || !row.server.holds(good.ID, word) {
				t.Errorf("the good file beside it: %+v, want State %q", d, "ready")
			}
		})
	}
	left, err := filepath.Glob(filepath.Join(s.dir, "blobs", "incoming", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("refused files left %v, %v; want none", left, err)
	}
}

func utf16Text(text string, bigEndian, mark bool) string {
	var b strings.Builder
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xfeff}, units...)
	}
	for _, u := range units {
		low, high := byte(u), byte(u>>8)
		if bigEndian {
			low, high = high, low
		}
		b.WriteByte(low)
		b.WriteByte(high)
	}
	return b.String()
}

func latin1(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteByte(byte(r))
	}
	return b.String()
}

func TestOtherEncodingsAreDecoded(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	const german = "Das Mühlenwehr wurde im Frühjahr gründlich überprüft. Die Prüfer fanden größere Schäden an der " +
		"Böschung.\n"
	const japaneseText = "水車小屋の屋根は状態が悪い。北側の瓦が数枚なくなっている。修理には三千四百ポンドかかる見込みである。\n"
	shiftJIS, err := japanese.ShiftJIS.NewEncoder().String(japaneseText)
	if err != nil {
		t.Fatal(err)
	}
	eucJP, err := japanese.EUCJP.NewEncoder().String(japaneseText)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range []struct{ name, body, word, text string }{
		{"UTF-8 with a byte order mark", "\ufeff" + german, "Böschung", german},
		{"UTF-16 little endian", utf16Text(german, false, true), "Böschung", german},
		{"UTF-16 big endian", utf16Text(german, true, true), "Böschung", german},
		{"UTF-16 without a byte order mark", utf16Text(german, false, false), "Böschung", german},
		{"Latin-1", latin1(german), "Böschung", german},
		{"Windows-1252", latin1(strings.TrimSpace(german)) + " Sie sagten: \x84Schlimm\x93.\n", "Schlimm",
			strings.TrimSpace(german) + " Sie sagten: „Schlimm“.\n"},
		{"Shift-JIS", shiftJIS, "屋根", japaneseText},
		{"EUC-JP", eucJP, "修理", japaneseText},
		{"Windows line ends", "The mill\r\nstands by the tarn, where the water is deep enough for a boat.\r\n",
			"tarn", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			id := s.add(file{row.name + ".txt", row.body})[0]
			text := s.send("GET", "/documents/"+id+"/text", nil).body
			if row.text != "" && strings.TrimSpace(text) != strings.TrimSpace(row.text) {
				t.Errorf("text %q", text)
			}
			if strings.ContainsAny(text, "\r\x00\ufeff\ufffd") {
				t.Errorf("text %q", text)
			}
			if !s.holds(id, row.word) {
				t.Errorf("search does not find %q", row.word)
			}
			// The next one has the same text.
			if r := s.send("DELETE", "/documents/"+id, nil); r.status != http.StatusNoContent {
				t.Errorf("deleting number %d: %d %s, want %d", i, r.status, r.body, http.StatusNoContent)
			}
		})
	}
}

// hostileNames are file names with path traversal.
func hostileNames() []string {
	names := []string{
		"../up.md", "../../up.md", "../../../../../../etc/passwd", "..\\..\\up.md", "..\\up.md", "/etc/passwd",
		"/absolute.md", "//server/share/a.md",
		"\\\\server\\share\\a.md", "C:\\Windows\\system.ini", "C:/Windows/a.md", "c:a.md", "a/../../b.md", "a/./b.md",
		"./a.md", "a//b.md", ".../a.md", ". ./a.md",
		"..", ".", "...", "/", "\\", "", " ", "~", "~/a.md", "$HOME/a.md", "%2e%2e%2fa.md", "..%2f..%2fa.md", "%00.md",
		"a\x00b.md", "a\x00../b.md", "\x00",
		"a\nb.md", "a\r\nX-Evil: 1.md", "a\tb.md", "a\x1b[31mred.md", "a\x7fb.md", "\u202ecod.md", "a\u202efdp.md",
		"a\u2066b\u2069.md", "a\u200bb.md", "\ufeffa.md",
		"a\u2028b.md", "CON", "con.md", "NUL.txt", "COM1.md", "LPT1", "AUX.md", "a.md.", "a.md ", " a.md", "a:b.md",
		"a:stream:$DATA", "a*b?.md", "<script>alert(1)</script>.md",
		"\"><img src=x onerror=alert(1)>.md", "a'b\"c.md", "a;b&c|d.md", "`id`.md", "$(id).md", "-rf.md", "--help",
		"\xff\xfe.md", "a\xc0\xaeb.md", "\xc0\xae\xc0\xae/a.md",
		strings.Repeat("x", 5000) + ".md", strings.Repeat("d/", 2000) + "a.md", strings.Repeat("ä", 300) + ".md",
		strings.Repeat("../", 500) + "a.md",
	}
	return names
}

func TestHostileFileNamesAreOnlyNames(t *testing.T) {
	t.Parallel()
	names := hostileNames()
	if len(names) < 60 {
		t.Fatalf("%d names, want 60", len(names))
	}
	dir := newDir(t)
	s := serve(t, dir)
	for i, name := range names {
		word := fmt.Sprintf("hostile%c%c", 'a'+i/26, 'a'+i%26)
		r := s.upload(file{name, "This file has the word " + word + " in it.\n"})
		if p := loose[problem](t, r.body); r.status == http.StatusBadRequest &&
			strings.ContainsFunc(name, unicode.IsControl) && plainSentence(p.Detail) {
			continue // a form can't encode such a name
		}
		if r.status != http.StatusAccepted && r.status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", name, r.status, r.body)
			continue
		}
		answer := decode[uploadAnswer](t, r.body)
		if len(answer.Rejected) == 1 {
			if rejected := answer.Rejected[0]; rejected.Code != "invalid" || !plainSentence(rejected.Detail) ||
				r.status != http.StatusBadRequest {
				t.Errorf("%q was refused as %+v, want Code %q", name, rejected, "invalid")
			}
			continue
		}
		d := s.settled(answer.Documents[0].ID)
		if d.State != "ready" || !s.holds(d.ID, word) {
			t.Errorf("%q became %+v, want State %q", name, d, "ready")
		}
		checkName(t, name, d.Filename, false)
		checkName(t, name, d.Path, true)
		got := s.send("GET", "/documents/"+d.ID+"/file", nil)
		if disposition := got.header.Get("Content-Disposition"); !strings.HasPrefix(disposition, "attachment") ||
			strings.ContainsAny(disposition, "\r\n\x00") {
			t.Errorf("%q is offered as %q, want %q at its beginning", name, disposition, "attachment")
		}
		page := s.send("GET", "/d/"+d.ID, nil, header{"Accept", "text/html"})
		if page.status != http.StatusOK || strings.Contains(page.body, "<script>alert(1)") ||
			strings.Contains(page.body, "<img src=x") {
			t.Errorf("%q on its page: %d, want %d", name, page.status, http.StatusOK)
		}
	}
	list := s.send("GET", "/documents?limit=1000", nil, header{"Accept", "text/html"})
	if list.status != http.StatusOK || strings.Contains(list.body, "<script>alert(1)") ||
		strings.Contains(list.body, "<img src=x") {
		t.Errorf("the list: %d, or it holds a file's name as markup, want %d", list.status, http.StatusOK)
	}
	if err := filepath.WalkDir(filepath.Dir(dir), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == filepath.Dir(dir) {
			return err
		}
		inside, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		top, _, _ := strings.Cut(inside, string(os.PathSeparator))
		switch top {
		case ".", "blobs", "cache", "lock", "server.json", "footnote.db", "footnote.db-wal", "footnote.db-shm":
			return nil
		}
		t.Errorf("got an unexpected file %s", name)
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func checkName(t *testing.T, given, name string, path bool) {
	t.Helper()
	bad := func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError
	}
	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, bad) || strings.Contains(name, "\\") ||
		utf8.RuneCountInString(name) > 1000 {
		t.Errorf("%q became %q; want something and no %q in it", given, name, "\\")
	}
	if !path && strings.Contains(name, "/") || strings.HasPrefix(name, "/") {
		t.Errorf("%q became %q", given, name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." || part == "." || part == "" {
			t.Errorf("%q became %q", given, name)
		}
	}
}
