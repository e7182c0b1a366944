package main_test

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"crypto/rc4"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
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
				t.Errorf("%v: output lacks %q:\n%s", row.args, word, got.stdout)
			}
		}
		if strings.Contains(got.stdout, "extract-worker") || strings.Contains(got.stdout, "LEASE") {
			t.Errorf("%v lists hidden commands or settings", row.args)
		}
	}
	if got := command(t, "", nil, "--version"); got.code != 0 || strings.TrimSpace(got.stdout) == "" {
		t.Errorf("--version: %+v; want code 0 and something", got)
	}
}

// folder creates a folder with files to ingest.
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

// The commands behave the same with and without a server on the directory.
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
			if first.code != 0 || !strings.Contains(first.stderr, "4 added, 0 already present, 0 failed") ||
				!strings.Contains(first.stderr, "/4 ") {
				t.Errorf("first time: %+v; want code 0, %q in it, %q in it",
					first, "4 added, 0 already present, 0 failed", "/4 ")
			}
			if !strings.Contains(first.stderr, "\n1 skipped, with unsupported formats: 1 .mov\n") {
				t.Errorf("output lacks the skipped file: %s", first.stderr)
			}
			last := 0
			for _, line := range strings.Split(first.stderr, "\n") {
				var done, all int
				if n, _ := fmt.Sscanf(line, "%d/%d", &done, &all); n == 2 && (done < last || all != 4) {
					t.Errorf("progress decreases: %s", first.stderr)
				}
				last = max(last, done)
			}
			if second := run("ingest", dir); second.code != 0 ||
				!strings.Contains(second.stderr, "0 added, 4 already present, 0 failed") {
				t.Errorf("second time: %+v; want code 0 and %q in it", second, "0 added, 4 already present, 0 failed")
			}
			if err := os.WriteFile(filepath.Join(dir, "lease.md"),
				[]byte("# Lease\n\nThe rent of the mill is 1200 pounds a month.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if third := run("ingest", dir); third.code != 0 ||
				!strings.Contains(third.stderr, "1 added, 3 already present, 0 failed") {
				t.Errorf("with a changed file: %+v; want code 0 and %q in it",
					third, "1 added, 3 already present, 0 failed")
			}
			bad := run(
				"ingest",
				folder(t, file{"zip.pdf", "PK\x03\x04xxxx"}, file{"locked.pdf", lockedPDF()},
					file{"good.md", "# Mill\n\nThe mill has three floors.\n"}),
			)
			for _, says := range []string{
				"1 added, 0 already present, 2 failed", "zip.pdf: ", "locked.pdf: This PDF is password-protected",
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
				t.Errorf("answer has the old text:\n%s", asked.stdout)
			}
			for _, says := range []string{"… Searching for", "✓ Found", "✓ Read lease.md"} {
				if !strings.Contains(asked.stderr, says) {
					t.Errorf("steps lack %q:\n%s", says, asked.stderr)
				}
				if strings.Contains(asked.stdout, says) {
					t.Errorf("stdout has a step:\n%s", asked.stdout)
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
				t.Errorf("server.json is left: %s", left)
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

func TestDoctorReportsStatus(t *testing.T) {
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
			"qwen (served instead of scripted) answers", "✓ model's size", "a context of 8192 tokens",
			"profile: small",
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
					t.Errorf("output lacks %q:\n%s", says, got.stdout)
				}
			}
			if row.code != 0 && !strings.Contains(got.stderr, "checks failed") {
				t.Errorf("stderr = %s", got.stderr)
			}
		})
	}
}

// callsThenAnswers calls its tool, if it may, and then answers from the result.
func callsThenAnswers(r scripted.Request) scripted.Reply {
	if len(r.Tools) > 0 && !r.NoTools && r.Turn() == 0 {
		return scripted.Reply{Calls: []llm.Call{{Name: "search_documents", Arguments: []byte(`{"query":"holiday"}`)}}}
	}
	return scripted.Reply{Text: "Every employee is entitled to 28 days of paid holiday a year [1]."}
}

// A local model is measured once, at its first use, unless a setting selects its profile.
func TestLocalModelIsMeasuredAtFirstUse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, owner, profile string
		measured, small      bool
	}{
		{"little context", "llamacpp", "auto", true, true},
		{"the setting says small", "llamacpp", "small", false, true},
		{"the setting says full", "llamacpp", "full", false, false},
		{"another kind of server", "openai", "auto", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newModel(t, scripted.Config{Owner: tt.owner, Room: 4096, Record: 20, Script: callsThenAnswers})
			s := serve(t, newDir(t), append(m.env(), "FOOTNOTE_AGENT_PROFILE="+tt.profile,
				"FOOTNOTE_AGENT_CHECK_PASSAGES=off")...)
			s.add(file{"handbook.md", holidays})
			for n, measured := range []bool{tt.measured, false} {
				log := s.run("How many days of paid holiday are there?")
				if log.answer == nil || len(log.answer.Citations) != 1 {
					t.Fatalf("answer %+v after %+v, want one with a citation", log.answer, log.done)
				}
				if got := slices.ContainsFunc(log.steps, func(s chat.Step) bool {
					return s.Step == "measure" && strings.Contains(s.Message, "4096")
				}); got != measured {
					t.Errorf("run %d measured %v, want %v", n, got, measured)
				}
			}
			asked := m.inner.Requests()
			if last := asked[len(asked)-1]; (len(last.Tools) == 0) != tt.small {
				t.Errorf("the answer's request has %d tools; want none %v", len(last.Tools), tt.small)
			}
		})
	}
}

// pdfMaker encodes a PDF object by object.
type pdfMaker struct {
	objects []string
	trailer string
}

func (m *pdfMaker) add(format string, args ...any) int {
	m.objects = append(m.objects, fmt.Sprintf(format, args...))
	return len(m.objects)
}

// document adds a page for each content stream and returns the file.
func (m *pdfMaker) document(contents ...string) string {
	const font = "<</Font <</F <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>> >> >>"
	parent := len(m.objects) + 2*len(contents) + 1
	var kids strings.Builder
	for _, content := range contents {
		stream := m.add("<</Length %d>>\nstream\n%s\nendstream", len(content), content)
		page := m.add("<</Type /Page /Parent %d 0 R /MediaBox [0 0 600 800] /Resources %s /Contents %d 0 R>>", parent,
			font, stream)
		fmt.Fprintf(&kids, "%d 0 R ", page)
	}
	m.add("<</Type /Pages /Count %d /Kids [%s]>>", len(contents), kids.String())
	root := m.add("<</Type /Catalog /Pages %d 0 R>>", parent)
	var b bytes.Buffer
	b.WriteString("%PDF-1.6\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(m.objects))
	for i, object := range m.objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(m.objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d /Root %d 0 R %s>>\nstartxref\n%d\n%%%%EOF\n", len(m.objects)+1, root,
		m.trailer, at)
	return b.String()
}

// pdfOf returns a PDF with a page for each line of text.
func pdfOf(lines ...string) string {
	pages := make([]string, len(lines))
	for i, line := range lines {
		pages[i] = "BT /F 12 Tf 1 0 0 1 50 700 Tm (" + line + ") Tj ET\n"
	}
	return new(pdfMaker).document(pages...)
}

// scannedPDF returns a PDF with an image and no text.
func scannedPDF() string {
	return new(pdfMaker).document("q 500 0 0 700 50 50 cm BI /W 2 /H 2 /BPC 8 /CS /G ID \x00\xff\xff\x00 EI Q")
}

// lockedPDF returns a PDF with the password "secret", encrypted with the standard handler's revision 2.
func lockedPDF() string {
	pad, _ := hex.DecodeString("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A") // a constant
	padded := append([]byte("secret"), pad[:26]...)
	lock := func(key, data []byte) []byte {
		out := make([]byte, len(data))
		c, _ := rc4.NewCipher(key) // a key of 5 bytes is valid
		c.XORKeyStream(out, data)
		return out
	}
	sum := md5.Sum(padded)
	owner := lock(sum[:5], padded)
	id := []byte("0123456789abcdef")
	sum = md5.Sum(bytes.Join([][]byte{padded, owner, {0xfc, 0xff, 0xff, 0xff}, id}, nil))
	m := pdfMaker{
		trailer: fmt.Sprintf("/ID [<%x> <%x>] /Encrypt <</Filter /Standard /V 1 /R 2 /P -4 /O <%x> /U <%x>>>", id, id,
			owner, lock(sum[:5], pad)),
	}
	return m.document("BT /F 12 Tf 1 0 0 1 50 700 Tm (hidden words) Tj ET\n")
}

// An answer is exported in each format, and verified against the library and the originals; every modification is
// detected.
func TestExportAndVerify(t *testing.T) {
	t.Parallel()
	data := newDir(t)
	originals := folder(t, books[0], books[1], file{"plan.pdf", pdfOf("The plan of the weir is drawn by Ada Brown.")})
	run := func(args ...string) result { return command(t, "", nil, append(args, "--data="+data)...) }
	if got := run("ingest", originals); got.code != 0 {
		t.Fatalf("ingest: %+v, want code 0", got)
	}
	asked := run("ask", "--json", "Who drew the plan of the weir?")
	id := regexp.MustCompile(`"run_id":"([0-9a-f-]{36})"`).FindStringSubmatch(asked.stdout)
	if asked.code != 0 || id == nil {
		t.Fatalf("ask: %+v, want code 0", asked)
	}
	out := t.TempDir()
	for _, format := range []string{"md", "html", "json"} {
		name := filepath.Join(out, "answer."+format)
		if got := run("export", id[1], "--format", format, "-o", name); got.code != 0 {
			t.Fatalf("export: %+v, want code 0", got)
		}
		for _, how := range [][]string{{"verify", name}, {"verify", name, "--documents", originals}} {
			if got := run(how...); got.code != 0 || !strings.Contains(got.stdout, "verified") {
				t.Errorf("%v: %+v; want code 0 and %q in it", how, got, "verified")
			}
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		altered := filepath.Join(out, "altered."+format)
		changed := strings.Replace(string(raw), "Ada Brown", "Eve Brown", 1)
		if changed == string(raw) {
			t.Fatalf("%s has no words to change", format)
		}
		if err := os.WriteFile(altered, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := run("verify", altered, "--documents", originals); got.code != 1 ||
			!strings.Contains(got.stdout, "✕") {
			t.Errorf("%s, altered: %+v; want code 1 and %q in it", format, got, "✕")
		}
	}
	name := filepath.Join(out, "answer.json")
	s := serve(t, data)
	// Unmodified.
	for file, ok := range map[string]bool{name: true, filepath.Join(out, "altered.json"): false} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := s.send("POST", "/evidence/verify", string(raw))
		if got.status != 200 || loose[struct{ OK bool }](t, got.body).OK != ok {
			t.Errorf("%s as a body: %d %s, want 200", file, got.status, got.body)
		}
	}
	s.end(os.Interrupt)
	none := folder(t, books[0])
	missing := run("verify", name, "--documents", none, "--json")
	var report struct {
		OK        bool
		Citations []struct{ State string }
	}
	if err := json.Unmarshal([]byte(missing.stdout), &report); err != nil || missing.code != 1 || report.OK ||
		report.Citations[0].State != "missing" {
		t.Errorf("without the document: %+v, %v; want code 1", missing, err)
	}
	if err := os.WriteFile(filepath.Join(none, "plan.pdf"),
		[]byte(pdfOf("The plan of the weir is drawn by Eve Brown.")), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run("verify", name, "--documents", none); got.code != 1 || !strings.Contains(got.stdout, "changed") {
		t.Errorf("with another version: %+v; want code 1 and %q in it", got, "changed")
	}
	if got := run("verify", filepath.Join(originals, books[0].name)); got.code != 1 ||
		!strings.Contains(got.stderr, "no evidence") {
		t.Errorf("a file without evidence: %+v; want code 1 and %q in it", got, "no evidence")
	}
	if got := run("export", "feedback"); got.code != 0 || !strings.HasPrefix(got.stdout, "run_id,") {
		t.Errorf("export feedback: %+v; want code 0 and %q at its beginning", got, "run_id,")
	}
}

// Keys appear only in the environment and in requests to the model: not in the debug log, events, answers, or
// files.
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
		t.Errorf("log is not at debug level:\n%s", s.log)
	}
	if strings.Contains(s.log.String(), canary) {
		t.Errorf("log has the key:\n%s", s.log)
	}
	if strings.Contains(seen.String(), canary) {
		at := strings.Index(seen.String(), canary)
		t.Errorf("request has the key: …%s", seen.String()[max(0, at-200):at])
	}
	if err := filepath.WalkDir(data, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(raw), canary) {
			t.Errorf("file %s has the key", name)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
