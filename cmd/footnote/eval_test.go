package main_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/cmd/footnote/eval/judge"
	"github.com/footnote/footnote/e2e/scripted"
)

// A sample of questions over a folder of one's own: what is expected wrongly is counted wrong, in both ways of
// answering.
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

func TestEvalRetrievalOverAFolderFindsTheExpectedPassages(t *testing.T) {
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
		t.Errorf("without a folder: %+v; want a failure that says what is missing", got)
	}
	if got := command(t, "", nil, "eval", "retrieval"); got.code == 0 ||
		!strings.Contains(got.stderr, "name a collection") {
		t.Errorf("without anything: %+v; want a failure that says what to name", got)
	}
}
