package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/eval/judge"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// asking is a running "footnote ask" of the server at an address.
type asking struct {
	out, steps *output
	cmd        *exec.Cmd
	ended      chan struct{}
}

func startAsking(t *testing.T, url, question string, more ...string) *asking {
	t.Helper()
	a := &asking{out: &output{}, steps: &output{}, ended: make(chan struct{})}
	a.cmd = exec.Command(binary, append([]string{"ask", question}, more...)...)
	a.cmd.Env, a.cmd.Dir, a.cmd.Stdout, a.cmd.Stderr = environment([]string{"FOOTNOTE_SERVER=" + url}), t.TempDir(),
		a.out, a.steps
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(a.ended)
		_ = a.cmd.Wait() // its exit status is in ProcessState
	}()
	t.Cleanup(func() {
		_ = a.cmd.Process.Kill() // it may have ended
		<-a.ended
	})
	return a
}

func (a *asking) end(t *testing.T) {
	t.Helper()
	select {
	case <-a.ended:
	case <-time.After(patience):
		t.Fatalf("ask did not exit:\n%s%s", a.out, a.steps)
	}
	if code := a.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code = %d, want 0:\n%s%s", code, a.out, a.steps)
	}
}

// printed returns the events that were printed as JSON.
func (a *asking) printed(t *testing.T) (raw []string, run string) {
	t.Helper()
	for lines := bufio.NewScanner(strings.NewReader(a.out.String())); lines.Scan(); {
		var head struct {
			RunID string `json:"run_id"`
		}
		if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
			t.Errorf("it printed %q: %v, want no error", lines.Text(), err)
		}
		raw, run = append(raw, lines.Text()), head.RunID
	}
	return raw, run
}

// logged returns the events of a run in the server's log.
func (s *server) logged(run string) (raw []string) {
	s.t.Helper()
	for _, ev := range s.follow(run).raw {
		raw = append(raw, ev.data)
	}
	return raw
}

func TestAskResumesAtOtherReplicaWithoutDuplicates(t *testing.T) {
	t.Parallel()
	model := steadyModel(t, 2*time.Millisecond, 60)
	gate := make(chan struct{}) // no answer ends before both replicas are replaced
	release := sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	model.onBytes = func(n int) {
		if n > 2000 {
			<-gate
		}
	}
	env := append(model.env(), "DATABASE_URL="+postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://"+t.TempDir())
	addrs := []string{freeAddr(t), freeAddr(t)}
	at := func(i int) *server { return serveAt(t, addrs[i], newDir(t), env...) }
	both := []*server{at(0), at(1)}
	proxy := proxied(t, both...)
	asJSON, asText := startAsking(t, proxy.url, "Tell me about the roof.", "--json"), startAsking(t, proxy.url,
		"Tell me about the gutter.")
	eventually(t, "both are being answered", func() bool {
		return strings.Contains(asJSON.out.String(), `"run_started"`) && len(model.asked()) >= 2
	})
	for i := range both { // so that each stream breaks at least once
		if code := both[i].end(syscall.SIGTERM); code != 0 {
			t.Errorf("exit code of replica %d = %d, want 0:\n%s", i, code, both[i].log)
		}
		both[i] = at(i)
	}
	release()
	asJSON.end(t)
	asText.end(t)
	printed, run := asJSON.printed(t)
	if want := both[1].logged(run); !slices.Equal(printed, want) {
		t.Errorf("printed %d events of run %s, want %d:\n%s", len(printed), run, len(want), strings.Join(printed, "\n"))
	}
	// There are no documents.
	if n := strings.Count(asText.out.String(), "I couldn't find relevant information"); n != 1 || len(printed) == 0 {
		t.Errorf("answer was printed %d times, want once:\n%s", n, asText.out)
	}
	for _, a := range []*asking{asJSON, asText} {
		if !strings.Contains(a.steps.String(), "reconnecting") {
			t.Errorf("no stream was interrupted:\n%s", a.steps)
		}
	}
}

// cuts returns a proxy that breaks each connection after a number of response bytes, at any position; the number
// grows each time.
func cuts(t *testing.T, url string, first, more int64) (address string, broken *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	broken = &atomic.Int64{}
	var open sync.WaitGroup
	open.Go(func() {
		for n := first; ; n += more {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				_ = from.Close() // the other side is closed
				return
			}
			open.Go(func() {
				_, _ = io.Copy(to, from) // until either side closes
				_ = to.Close()
			})
			open.Go(func() {
				if _, err := io.CopyN(from, to, n); err == nil {
					broken.Add(1)
				}
				_ = from.Close()
				_ = to.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Wait()
	})
	return "http://" + l.Addr().String(), broken
}

func TestAskReadsEachEventOnceDespiteReconnects(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books...)
	address, broken := cuts(t, s.url, 500, 1021)
	asked := startAsking(t, address, "What is the condition of the roof?", "--json")
	asked.end(t)
	printed, run := asked.printed(t)
	if want := s.logged(run); !slices.Equal(printed, want) || broken.Load() < 3 {
		t.Errorf("after %d interruptions printed %d events of run %s, want %d:\n%s\n%s", broken.Load(), len(printed),
			run, len(want), strings.Join(printed, "\n"), asked.steps)
	}
	r := s.send("GET", "/sessions", nil)
	if n := strings.Count(r.body, `"running"`); r.status != http.StatusOK || n != 1 {
		t.Errorf("the question made %d sessions: %s, want 1", n, r.body)
	}
}

func TestAskRetriesBeforeFirstEvent(t *testing.T) {
	t.Parallel()
	addr := freeAddr(t)
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	asked := startAsking(t, "http://"+addr, "What is the condition of the roof?", "--json")
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
		t.Errorf("it asked: %v, want no error", err)
	}
	for _, end := range []io.Closer{l, conn} { // connections are refused from here on
		if err := end.Close(); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "it tries again and finds nobody", func() bool {
		return strings.Count(asked.steps.String(), "before the answer began; retrying") > 1
	})
	s := serveAt(t, addr, newDir(t))
	asked.end(t)
	printed, run := asked.printed(t)
	if want := s.logged(run); !slices.Equal(printed, want) {
		t.Errorf("printed %d events of run %s, want %d:\n%s\n%s", len(printed), run, len(want),
			strings.Join(printed, "\n"), asked.steps)
	}
}

func TestAskFailsWithoutServer(t *testing.T) {
	t.Parallel()
	nobody := "http://" + freeAddr(t)
	if got := command(t, "", []string{"FOOTNOTE_SERVER=" + nobody}, "ask", "Hello?"); got.code != 1 ||
		!strings.Contains(got.stderr, nobody+" does not answer") || strings.Contains(got.stderr, "going on") {
		t.Errorf("without a server: %d %s%s; want 1, %q in it, no %q in it",
			got.code, got.stdout, got.stderr, nobody+" does not answer", "going on")
	}
	if got := command(t, "", []string{"FOOTNOTE_SERVER=footnote"}, "ask", "Hello?"); got.code != 2 ||
		!strings.Contains(got.stderr, "FOOTNOTE_SERVER") {
		t.Errorf("no URL: %d %s; want 2 and %q in it", got.code, got.stderr, "FOOTNOTE_SERVER")
	}
	model := slow(t)
	s := serve(t, newDir(t), model.env()...)
	asked := startAsking(t, s.url, "Tell me about the roof.")
	eventually(t, "the model is asked", func() bool { return len(model.asked()) > 0 })
	s.kill()
	select {
	case <-asked.ended:
	case <-time.After(patience):
		t.Fatalf("ask continues without a server:\n%s", asked.steps)
	}
	if n := strings.Count(asked.steps.String(), "reconnecting"); asked.cmd.ProcessState.ExitCode() != 1 || n < 2 ||
		!strings.Contains(asked.steps.String(), "does not answer") {
		t.Errorf("exit code after the server was killed = %d, want 1\n%s",
			asked.cmd.ProcessState.ExitCode(), asked.steps)
	}
}

// followUps are conversations over e2e/eval/everyday/open and two more files, each with the expected words of the
// last answer's first quote.
var followUps = []struct{ conversation, says string }{
	// The last question names its own subject.
	{"What did the new roof cost? → What about balance control?", "The zero moment point"},
	{"How much is the rent of the flat? → What about the deposit?", "deposit of £1,315"},
	{"When did the tenancy at Alder Street begin? → What about repairs?", "report faults promptly"},
	{"Can we get a dog in the flat? → What about smoking?", "Smoking, including e-cigarettes"},
	{"What does the workshop charge for a new chain? → What about bonfires?", "Bonfires are allowed from"},
	{"bonfires - when? → And hens?", "Up to six hens"},
	{"Am I allowed to water the vegetables with a hosepipe? → And greenhouses?", "greenhouses not higher"},
	{"How do I take the back wheel off? → What about the lights?", "The hub dynamo"},
	{"lemon drizzle how many days keep → What about the freezer?", "up to 3 months"},
	{"What is the new total Tom Brandt wants for our kitchen? → And the guarantee?", "five years on the cabinets"},
	{"What did I pay for the seed from Tamar? → What about blight?", "Blight"},
	{"On what date did I put the garlic in? → And the chillies?", "Sowed chillies"},
	{"What does the plan cost a month? → What about complaints?", "Write to us first"},
	{"Is my bicycle insured when I'm out with it? → What about moving house?", "If you move house"},
	{"ペットボトルは何曜日に出せばいいですか → 自転車は？", "自転車は500円"},
	{"¿Cuánto rato están las lentejas en la olla exprés? → ¿Y la sal?", "La sal se pone al final"},
	// The missing subject is in the question before.
	{"What does the gold service cost? → And the silver service?", "Silver service"},
	{"What does a town bike cost per week? → And the cargo e-bike?", "Cargo e-bike"},
	{"How much does a replacement SIM cost? → And a paper bill?", "paper bill"},
	{"Was heißt Fehler E05 an der Kaffeemaschine? → Und E07?", "Tresterbehälter voll"},
	{"How much is the plot's rent? → And for a half plot?", "£21 for a half plot"},
	{"What are the rules for bonfires? → And on a Sunday?", "never on a Sunday"},
	{"What is the tyre pressure of the Trekker? → And over 85 kg?", "over 85 kg"},
	{"What happened on 2 april in the garden? → And in june?", "june"},
	{"When were the tomatoes hardened off? → How many of them?", "6 plants"},
	{"Is my bicycle insured when I'm out with it? → and does it matter what kind of lock I use?", "Sold Secure Silver"},
	// It has no subject, or another one came in between.
	{"Can we get a dog in the flat? → What about smoking? → Tell me more", "The flat is to be used"},
	{"How much is the rent of the flat? → What about the deposit? → why?", "deposit of £1,315"},
	{"How much is the rent of the flat? → thanks! → What about the deposit?", "deposit of £1,315"},
}

// A follow-up question uses the subject that it names itself. Only a missing subject is taken from the question
// before.
func TestFollowUpUsesItsOwnSubject(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(file{"house.md", "# House diary\n\n## The new roof\n\nThe new roof cost £14,300. The control of the work " +
		"cost £600 more.\n\n## Scaffolding\n\nIt stood for six weeks.\n"}, file{"robot.md", "# The walking robot\n\n" +
		"## Balance control\n\nThe zero moment point is kept inside the foot by moving the hips.\n\n## Cost\n\n" +
		"The robot cost £90,000; its new legs cost £4,000.\n"})
	s.addAll(filepath.Join("..", "..", "e2e", "eval", "everyday", "open", "*"))
	for _, tt := range followUps {
		session, first := "", ""
		for ask := range strings.SplitSeq(tt.conversation, " → ") {
			log := s.runIn(session, ask)
			session, first = log.start.SessionID, ""
			if log.answer != nil && len(log.answer.Citations) > 0 {
				first = log.answer.Citations[0].Quote
			}
		}
		if !strings.Contains(first, tt.says) {
			t.Errorf("%s: the first quote is %q, want %q in it", tt.conversation, first, tt.says)
		}
	}
}

// requests are the questions asked about each document, by file name.
var requests = []string{
	"Summarise %s in three sentences", "What does %s say?", "List the points of %s", "Compare %s with the lease",
	"What does %s say about the costs? → Tell me more → What else?", "Give me an overview of %s → Explain that",
	"List what is in %s", "What is %s about? → What does [1] say?",
}

// Quotes of the offline mode are in the documents: no quoted sentence is marked as unsupported, each quote is shown
// as it is cited, and no number is quoted alone. FOOTNOTE_TEST_QUOTES=all asks all questions about all documents
// here; otherwise a sample.
func TestQuotesAlwaysHaveSource(t *testing.T) {
	t.Parallel()
	all := os.Getenv("FOOTNOTE_TEST_QUOTES") == "all"
	libraries := []struct{ documents, questions string }{
		{filepath.Join(root, "e2e", "eval", "everyday", "open", "*"), filepath.Join(root, "e2e", "eval", "everyday",
			"open.tsv")},
		{filepath.Join("testdata", "signs", "*"), ""},
		{filepath.Join(root, "docs", "handbook", "*.md"), ""},
	}
	if all {
		libraries = append(libraries, []struct{ documents, questions string }{
			{filepath.Join("eval", "testdata", "library", "*"), filepath.Join("eval", "judge", "questions.tsv")},
			{filepath.Join(root, ".cache", "documents", "*.*"), ""},
			{filepath.Join(root, ".cache", "real", "documents", "*"), filepath.Join(root, "e2e", "eval", "real",
				"open.tsv")},
		}...)
	}
	for i, l := range libraries {
		t.Run(filepath.Base(filepath.Dir(l.documents)), func(t *testing.T) {
			t.Parallel()
			s := serve(t, newDir(t))
			questions := append(lastColumns(t, l.questions), "Which documents do I have?")
			names := s.addAll(l.documents)
			for k, name := range names {
				for n, request := range requests {
					if all || i == 1 || n == k%len(requests) {
						questions = append(questions, strings.ReplaceAll(request, "%s", name))
					}
				}
			}
			asked, cited := 0, 0
			for _, question := range questions {
				session := ""
				for ask := range strings.SplitSeq(question, " → ") {
					log := s.runIn(session, ask)
					session = log.start.SessionID
					asked++
					if log.answer == nil {
						t.Errorf("%s: %+v", ask, log.done)
						continue
					}
					cited += len(log.answer.Citations)
					for _, wrong := range wrongQuotes(log.answer) {
						t.Errorf("%s\n%s\n%s", ask, wrong, log.answer.Markdown)
					}
				}
			}
			t.Logf("%d documents, %d questions, %d quotes", len(names), asked, cited)
			if len(names) > 0 && cited < asked {
				t.Errorf("%d quotes in %d answers, want as many at least", cited, asked)
			}
		})
	}
}

// wrongQuotes returns the false claims of an answer of quotes about itself.
func wrongQuotes(a *chat.Answer) (wrong []string) {
	if len(a.Unsupported) > 0 {
		wrong = append(wrong, fmt.Sprintf("has sentences without a source: %q, want none", a.Unsupported))
	}
	for _, c := range a.Citations {
		shown := strings.Contains(bareText(a.Markdown), bareText(c.Quote)+fmt.Sprintf("[%d]", c.Number))
		if c.Check != chat.CheckVerified || !strings.ContainsFunc(c.Quote, unicode.IsLetter) || !shown {
			wrong = append(wrong, fmt.Sprintf("footnote %d is %s, is shown %v: %q; want %s, true and a letter in it",
				c.Number, c.Check, shown, c.Quote, chat.CheckVerified))
		}
	}
	return wrong
}

// bareText removes white space and the marks of quotations, tables and escapes.
func bareText(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer(`\`, "", "|", "", ">", "").Replace(s)), "")
}

// runIn sends a question in a session, a new one if session is empty, and streams the run to its end.
func (s *server) runIn(session, question string) transcript {
	s.t.Helper()
	body := map[string]string{"message": question}
	if session != "" {
		body["session_id"] = session
	}
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	r := s.send("POST", "/chat", string(raw))
	if r.status != http.StatusAccepted {
		s.t.Fatalf("POST /chat: %d %s", r.status, r.body)
	}
	return s.follow(decode[started](s.t, r.body).RunID)
}

// addAll adds the files that match a pattern, and returns their names.
func (s *server) addAll(pattern string) (names []string) {
	s.t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		s.t.Fatal(err)
	}
	var files []file
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		files, names = append(files, file{filepath.Base(path), string(raw)}), append(names, filepath.Base(path))
	}
	for part := range slices.Chunk(files, 20) {
		s.add(part...)
	}
	return names
}

// lastColumns returns the questions of an eval file, or nil without one.
func lastColumns(t *testing.T, path string) (questions []string) {
	t.Helper()
	if path == "" {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if line[0] != '#' && len(fields) > 1 {
			questions = append(questions, fields[len(fields)-1])
		}
	}
	return questions
}

// Questions over a custom folder: rows with wrong expectations are counted as wrong, in both answer modes.
func TestEvalAgentCountsRightAndWrong(t *testing.T) {
	t.Parallel()
	documents := folder(t, file{"weir.md", "# The weir\n\nThe weir was built in 1911 by Ada Brown.\n"},
		file{"sub/lock.txt", "The lock has four oak gates and a keeper, Tom Reed.\n"})
	rows := []struct {
		line  string
		right bool
	}{
		{"right\tweir.md\t1911\t1911\tWhen was the weir built?", true},
		{"right\tsub/lock.txt\tTom Reed\t-\tHow many gates has the lock? → Who is the keeper of the lock?", true},
		{"right\t-\t-\t-\tWho painted the Mona Lisa?", true},
		{"wrong\tsub/lock.txt\t1911\t-\tWhen was the weir built?", false},
		{"wrong\tweir.md\t1912\t-\tWhen was the weir built?", false},
		{"wrong\tweir.md\t1911\t1912\tWhen was the weir built?", false},
		{"wrong\t-\t-\t-\tWhen was the weir built?", false},
		{"wrong\tweir.md\tMona Lisa\t-\tWho painted the Mona Lisa?", false},
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, row.line)
	}
	questions := filepath.Join(t.TempDir(), "questions.tsv")
	if err := os.WriteFile(questions, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	data := newDir(t)
	model := newModel(t, scripted.Config{})
	run := func(args ...string) result { return command(t, "", model.env(), append(args, "--data="+data)...) }
	got := run("eval", "agent", "--questions", questions, "--documents", documents, "--with",
		"offline,settings", "--json")
	var out struct{ Reports []judge.Report }
	if err := json.Unmarshal([]byte(got.stdout), &out); err != nil || got.code != 0 || len(out.Reports) != 2 {
		t.Fatalf("%v: %+v, want code 0", err, got)
	}
	for i, model := range []string{"offline", "settings"} {
		report := out.Reports[i]
		if report.Model != model || report.Documents != 2 || len(report.Questions) != len(rows) ||
			report.Kinds[0].Right != 3 || report.Kinds[1].Right != 0 {
			t.Fatalf("%s: %+v; want Model %v, Documents 2, %v questions, Kinds[0].Right 3, Kinds[1].Right 0",
				model, report, model, len(rows))
		}
		for n, v := range report.Questions {
			if v.Right != rows[n].right || v.Failed != "" || v.Steps == 0 {
				t.Errorf("%s, %q: %+v; want Right %v, Failed nothing, other than 0",
					model, rows[n].line, v, rows[n].right)
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(data, "*.db")); err != nil || len(left) > 0 {
		t.Errorf("the user's data directory was used: %v, %v; want none", left, err)
	}
	table := run("eval", "agent", "--questions", questions, "--documents", documents)
	if table.code != 0 || !strings.Contains(table.stdout, "| wrong | 5 ") ||
		!strings.Contains(table.stdout, "✕ wrong: When was the weir built? (an expected document is not cited)") {
		t.Errorf("the table: %+v; want code 0 and %q in it", table, "| wrong | 5 ")
	}
	if printed := run("eval", "agent", "--print-questions"); printed.code != 0 || printed.stdout != judge.Embedded {
		t.Errorf("--print-questions: %+v; want code 0 and stdout %v", printed, judge.Embedded)
	}
	if got := run("eval", "agent", "--documents", documents); got.code != 1 ||
		!strings.Contains(got.stderr, "needs --questions") {
		t.Errorf("without questions: %+v; want code 1 and %q in it", got, "needs --questions")
	}
	if got := run("eval", "agent", "--questions", filepath.Join(documents, "weir.md"), "--documents",
		documents); got.code != 1 || !strings.Contains(got.stderr, "line 3 of the questions") {
		t.Errorf("a file that has no questions: %+v; want code 1 and %q in it", got, "line 3 of the questions")
	}
}

func TestEvalRetrievalMeasuresEachMode(t *testing.T) {
	t.Parallel()
	dir := folder(t,
		file{"corpus.jsonl", `{"_id":"weir","title":"The weir","text":"It was built in 1911 by Ada Brown."}
{"_id":"lock","title":"","text":"The lock has four oak gates."}
{"_id":"copy","title":"","text":"The lock has four oak gates."}
{"_id":"empty","title":"","text":""}
`},
		file{"queries.jsonl", `{"_id":"q1","text":"Who built the weir?"}
{"_id":"q2","text":"gates of the lock"}
`},
		file{"qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\tweir\t2\nq2\tlock\t1\nq2\tcopy\t1\n"})
	model := newModel(t, scripted.Config{})
	runs := filepath.Join(t.TempDir(), "runs")
	got := command(t, "", append(model.env(), "OPENAI_EMBEDDING_MODEL=scripted"), "eval", "retrieval", dir, "--json",
		"--runs", runs, "--data="+newDir(t))
	var out struct {
		Collections []struct {
			Documents int
			IndexMiB  float64 `json:"index_mib"`
			Modes     []judge.Retrieval
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &out); err != nil || got.code != 0 || len(out.Collections) != 1 ||
		len(out.Collections[0].Modes) != 3 {
		t.Fatalf("%v: %+v, want code 0 and three modes", err, got)
	}
	c := out.Collections[0]
	words := c.Modes[0]
	if c.Documents != 4 || c.IndexMiB <= 0 || words.Mode != "lexical" || words.Queries != 2 || words.MRR != 1 ||
		words.Recall5 != 1 || words.AllIn5 != 1 || words.P95 < words.Median {
		t.Errorf("%+v; want 4 documents and everything found by words", c)
	}
	raw, err := os.ReadFile(filepath.Join(runs, filepath.Base(dir)+".hybrid.run"))
	if err != nil || !strings.HasPrefix(string(raw), "q1 Q0 weir 1 1 footnote-hybrid\n") {
		t.Errorf("run file %q, %v; want the weir first", raw, err)
	}
	if got := command(t, "", nil, "eval", "retrieval", dir, "--data="+newDir(t)); got.code != 0 ||
		!strings.Contains(got.stdout, "4 documents, 2 queries") || !strings.Contains(got.stdout, "| lexical | 1.000") {
		t.Errorf("%+v; want code 0 and a table", got)
	}
}

func TestEvalRetrievalFindsExpectedPassagesInFolder(t *testing.T) {
	t.Parallel()
	dir := folder(t, file{"docs/weir.md", "# The weir\n\nIt was built in 1911 by Ada Brown.\n"},
		file{"docs/lock.md", "# The lock\n\nThe lock has four oak gates.\n"},
		file{"questions.tsv", "simple\tweir.md\tAda Brown\t-\tWho built the weir?\n" +
			"hop\tweir.md + lock.md\tin 1911 + four oak gates\t-\tWhen was the weir built, and what gates has the " +
			"lock?\n" +
			"wrong\tlock.md\tAda Brown\t-\tWho built the weir of the lock?\nnone\t-\t-\t-\tWhat does it cost?\n"})
	ask := []string{"eval", "retrieval", "--questions=" + filepath.Join(dir, "questions.tsv"), "--data=" + newDir(t)}
	got := command(t, "", nil, append(ask, "--documents="+filepath.Join(dir, "docs"), "--json")...)
	var out struct {
		Collections []struct {
			Documents int
			Modes     []judge.Retrieval
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &out); err != nil || got.code != 0 || len(out.Collections) != 1 {
		t.Fatalf("%v: %+v, want code 0 and one collection", err, got)
	}
	c := out.Collections[0]
	const want = 2.0 / 3
	if m := c.Modes[0]; c.Documents != 2 || m.Queries != 3 || math.Abs(m.MRR-want) > 1e-9 ||
		math.Abs(m.AllIn5-want) > 1e-9 {
		t.Errorf("%+v; want 2 documents, 3 queries, and MRR and all in 5 of %v", c, want)
	}
	if got := command(t, "", nil, ask...); got.code == 0 || !strings.Contains(got.stderr, "go together") {
		t.Errorf("without a folder: %+v; want a failure that names the missing option", got)
	}
	if got := command(t, "", nil, "eval", "retrieval"); got.code == 0 ||
		!strings.Contains(got.stderr, "name a collection") {
		t.Errorf("without arguments: %+v; want a failure that names the missing option", got)
	}
}
