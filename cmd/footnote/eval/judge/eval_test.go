package judge_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/eval/judge"
)

// The built-in questions are of every kind, and their expected words are in the documents that they name.
func TestEmbeddedQuestionsAreAnswerable(t *testing.T) {
	t.Parallel()
	questions, err := judge.Parse(strings.NewReader(judge.Embedded))
	if err != nil {
		t.Fatal(err)
	}
	documents := filepath.Join("../../../..", "cmd", "footnote", "eval", "testdata")
	kinds := map[string]int{}
	for _, q := range questions {
		kinds[q.Kind]++
		if (q.Kind == "unanswerable") != q.Refuse() {
			t.Errorf("%q of kind %s expects %v, %v", q.Text, q.Kind, q.Passages, q.Words)
		}
		if (q.Kind == "follow-up") && len(q.Before) == 0 {
			t.Errorf("%q has no earlier question", q.Text)
		}
		for _, p := range q.Passages {
			text, err := os.ReadFile(filepath.Join(documents, "library", p.Document))
			if err != nil {
				text, err = os.ReadFile(filepath.Join(documents, "handbook", p.Document))
			}
			if err != nil {
				t.Errorf("%q: document %s does not exist", q.Text, p.Document)
			} else if !strings.Contains(strings.ToLower(strings.Join(strings.Fields(string(text)), " ")),
				strings.ToLower(p.Words)) {
				t.Errorf("%q: %s lacks %q", q.Text, p.Document, p.Words)
			}
		}
	}
	for _, kind := range []string{
		"simple", "comparison", "multi-hop", "follow-up", "named document", "metadata", "arithmetic", "unanswerable",
	} {
		if kinds[kind] < 6 {
			t.Errorf("there are %d questions of the kind %s, want at least 6", kinds[kind], kind)
		}
	}
	if len(questions) < 60 {
		t.Errorf("there are %d questions, want at least 60 questions", len(questions))
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := judge.Parse(
		strings.NewReader(
			"# a note\n\nhop\ta.md + b/c.md\tred + blue sky\t12 | twelve\tFirst? → Second?\r\nno\t-\t-\t-\tWho?\n",
		),
	)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v; want 2", got, err)
	}
	q := got[0]
	if q.Kind != "hop" || !slices.Equal(q.Before, []string{"First?"}) || q.Text != "Second?" ||
		!slices.Equal(q.Words, []string{"12 | twelve"}) ||
		!slices.Equal(q.Passages, []judge.Passage{
			{Document: "a.md", Words: "red"}, {Document: "b/c.md", Words: "blue sky"},
		}) || q.Refuse() {
		t.Errorf("first: %+v; want Kind %q and Text %q", q, "hop", "Second?")
	}
	if !got[1].Refuse() {
		t.Errorf("second: %+v", got[1])
	}
	for text, says := range map[string]string{
		"":                                 "no questions",
		"# only a note\n":                  "no questions",
		"\na\tb\tc\td\n":                   "line 2 of the questions: it has 4 fields",
		"a\tx.md + y.md\tone\t-\tWhy?\n":   "2 documents and 1 quotes",
		"\t-\t-\t-\tWhy?\n":                "no kind",
		"a\t-\t-\t-\t-\n":                  "no question",
		strings.Repeat("#", 1<<20) + "#\n": "larger than 1 MiB",
		strings.Repeat("a\t-\t-\t-\tWhy?\n", 2001): "more than 2000",
	} {
		if _, err := judge.Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.40q: %v, want %q", text, err, says)
		}
	}
}

// Each expected part can be missing, and the answer is then wrong.
func TestJudge(t *testing.T) {
	t.Parallel()
	paths := map[string]string{"1": "a.md", "2": "b.md"}
	cite := func(id, quote string) chat.Citation {
		return chat.Citation{DocumentID: id, Quote: quote, Check: chat.CheckVerified}
	}
	unfound := cite("1", "The sky\n is RED")
	unfound.Check = chat.CheckNotFound
	q := judge.Question{
		Kind: "k", Text: "?", Passages: []judge.Passage{{Document: "a.md", Words: "sky is red"}},
		Words: []string{"12 | twelve"},
	}
	none := judge.Question{Kind: "k", Text: "?"}
	refusal := chat.Answer{Markdown: "Nothing.", StopReason: chat.StopRefused}
	for name, row := range map[string]struct {
		question                          judge.Question
		answer                            chat.Answer
		right                             bool
		document, passage, words, refused judge.Mark
	}{
		"all there": {q,
			chat.Answer{
				Markdown: "Twelve.", Citations: []chat.Citation{cite("2", "x"), cite("1", "The sky\n is RED.")},
			}, true, judge.Hit, judge.Hit, judge.Hit, judge.NotDue},
		"another document": {q, chat.Answer{Markdown: "12", Citations: []chat.Citation{cite("2", "The sky is red.")}},
			false, judge.Miss, judge.Miss, judge.Hit, judge.NotDue},
		"another passage": {q, chat.Answer{Markdown: "12", Citations: []chat.Citation{cite("1", "The sea is red.")}},
			false, judge.Hit, judge.Miss, judge.Hit, judge.NotDue},
		"words across two": {q,
			chat.Answer{Markdown: "12", Citations: []chat.Citation{cite("1", "The sky"), cite("1", "is red")}}, false,
			judge.Hit, judge.Miss, judge.Hit, judge.NotDue},
		"a quote not found": {q, chat.Answer{Markdown: "12", Citations: []chat.Citation{unfound}}, false, judge.Miss,
			judge.Miss, judge.Hit, judge.NotDue},
		"other words": {q, chat.Answer{Markdown: "13", Citations: []chat.Citation{cite("1", "The sky is red.")}},
			false, judge.Hit, judge.Hit, judge.Miss, judge.NotDue},
		"refused wrongly": {q, refusal, false, judge.Miss, judge.Miss, judge.Miss, judge.NotDue},
		"refused rightly": {none, refusal, true, judge.NotDue, judge.NotDue, judge.NotDue, judge.Hit},
		"only the closest": {none, chat.Answer{Markdown: "> x [1]", Finding: chat.FindingClosest}, true, judge.NotDue,
			judge.NotDue, judge.NotDue, judge.Hit},
		"called found": {none, chat.Answer{Markdown: "> x [1]", Finding: chat.FindingFound}, false, judge.NotDue,
			judge.NotDue, judge.NotDue, judge.Miss},
		"answered wrongly": {none, chat.Answer{Markdown: "12", StopReason: chat.StopAnswered}, false, judge.NotDue,
			judge.NotDue, judge.NotDue, judge.Miss},
		"one of two is left": {judge.Question{
			Passages: []judge.Passage{{Document: "a.md", Words: "x"}, {Document: "b.md", Words: "x"}},
		}, chat.Answer{Citations: []chat.Citation{cite("1", "x")}}, false, judge.Miss, judge.Miss, judge.NotDue,
			judge.NotDue},
	} {
		v := judge.Judge(row.question, row.answer, paths)
		if v.Right != row.right || v.Document != row.document || v.Passage != row.passage || v.Words != row.words ||
			v.Refusal != row.refused {
			t.Errorf("%s: %+v; want Right %v, Document %v, Passage %v, Words %v, Refusal %v",
				name, v, row.right, row.document, row.passage, row.words, row.refused)
		}
	}
	quotes := chat.Answer{
		Finding:   chat.FindingClosest,
		Citations: []chat.Citation{cite("2", "x"), cite("1", "The sky is red.")},
	}
	v := judge.Judge(judge.Question{Passages: []judge.Passage{{Document: "a.md", Words: "red"}}}, quotes, paths)
	if v.First != judge.Miss || v.Found != judge.Miss || v.Passage != judge.Hit {
		t.Errorf("the second quote answers: %+v; want First %v, Found %v, Passage %v", v, judge.Miss,
			judge.Miss, judge.Hit)
	}
	if v := judge.Lost(none, "gone"); v.Right || v.Failed != "gone" || v.Refusal != judge.Miss {
		t.Errorf("a run without an answer: %+v; want Right false, Failed %q, Refusal %v", v, "gone", judge.Miss)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	var verdicts []judge.Verdict
	for i := range 20 {
		verdicts = append(verdicts, judge.Verdict{
			Kind: "one", Right: i > 0, Document: judge.Hit, Steps: 2 + i%2, Millis: int64(100 - i), Refused: i == 0,
			Question: "First?",
		})
	}
	verdicts = append(verdicts, judge.Verdict{Kind: "two", Refusal: judge.Miss, Question: "Second?", Steps: 1},
		judge.Verdict{Kind: "two", Refusal: judge.Miss, Failed: "gone", Question: "Third?"})
	r := judge.NewReport("m", 3, verdicts)
	one := r.Kinds[0]
	if len(r.Kinds) != 2 || one.Right != 19 || one.Document != (judge.Part{Hit: 20, Due: 20}) || one.Withheld != 1 ||
		one.Steps != 2.5 || one.Median != 90 || one.P95 != 99 {
		t.Errorf("%+v; want Right 19, Withheld 1, Steps 2.5, Median 90, P95 99", one)
	}
	if r.Total.Questions != 22 || r.Total.Right != 19 || r.Total.Refusal != (judge.Part{Due: 2}) ||
		r.Kinds[1].Steps != 1 {
		t.Errorf("%+v; want Questions 22 and Right 19", r.Total)
	}
	var out strings.Builder
	r.Print(&out)
	for _, line := range []string{
		"Model m: 22 questions, 3 documents",
		"| one  | 20        | 19    | 20/20    | –       | –     | –     | –     | –       | 1        | 2.5   | 90   " +
			"  | 99     |",
		"✕ one: First? (refused, though a document answers)", "✕ two: Second? (answered, though no document does)",
		"✕ two: Third? (no answer: gone)",
	} {
		if !strings.Contains(out.String(), line+"\n") {
			t.Errorf("output lacks %q:\n%s", line, out.String())
		}
	}
}

func TestReliabilityComparesConfidenceWithAccuracy(t *testing.T) {
	t.Parallel()
	r := judge.NewReport("m", 1, []judge.Verdict{
		// Correctly called closest: its quotes do not contain the expected words.
		{Confidence: 0.1, Refusal: judge.Hit, Right: true},
		{Confidence: 0.85, Passage: judge.Hit, Right: true},
		{Confidence: 1, Passage: judge.Miss},
		{Confidence: 0.9, Refused: true},
		{Confidence: 0.9, Failed: "lost"},
	}).Reliability
	want := map[int]judge.Reliability{
		0: {From: 0, Answers: 1, Stated: 0.1}, 4: {From: 0.8, Answers: 2, Stated: 0.925, Held: 1},
	}
	if len(r) != 5 {
		t.Fatalf("%d bins", len(r))
	}
	for i, bin := range r {
		if w := want[i]; bin.Answers != w.Answers || bin.Held != w.Held || bin.Stated != w.Stated {
			t.Errorf("bin %d: %+v; want %+v", i, bin, w)
		}
	}
}

// collection writes a collection in BEIR's layout, and opens it.
func collection(t *testing.T, queries, judgements string) judge.Collection {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "qrels"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"corpus.jsonl": `{"_id":"d1","title":"Roof","text":"Slates."}`, "queries.jsonl": queries,
		"qrels/test.tsv": judgements,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := judge.OpenCollection(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// trec_eval 9, run through pytrec_eval, returns the same figures for the same run file. It includes equal scores,
// judged documents that were not retrieved, and grades above 1.
func TestRetrievalMetricsMatchTrecEval(t *testing.T) {
	judged, err := os.ReadFile("testdata/retrieval/qrels.tsv")
	if err != nil {
		t.Fatal(err)
	}
	run, err := os.ReadFile("testdata/retrieval/found.run")
	if err != nil {
		t.Fatal(err)
	}
	found, queries := judge.Ranking{}, ""
	for line := range strings.Lines(string(run)) {
		f := strings.Fields(line)
		score, err := strconv.ParseFloat(f[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		if found[f[0]] == nil {
			queries += `{"_id":"` + f[0] + `","text":"x"}` + "\n"
		}
		found[f[0]] = append(found[f[0]], judge.Ranked{Document: f[2], Score: score})
	}
	raw, err := os.ReadFile("testdata/retrieval/trec_eval.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]float64
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	raw, err = json.Marshal(judge.Measure(collection(t, queries, string(judged)), found))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range want {
		if got, ok := got[name].(float64); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
}

func TestAllRelevantInTopRanks(t *testing.T) {
	c := collection(t, `{"_id":"q1","text":"a"}`+"\n"+`{"_id":"q2","text":"b"}`+"\n"+`{"_id":"unjudged","text":"c"}`,
		"q1\td1\t1\nq1\td2\t1\nq2\td1\t1\nunjudged\td1\t0\n")
	if len(c.Queries) != 2 {
		t.Fatalf("%d queries, want the 2 that something is relevant to", len(c.Queries))
	}
	var list []judge.Ranked
	for i := range 8 {
		list = append(list, judge.Ranked{Document: "d" + strconv.Itoa(8-i), Score: 1 - float64(i)/10})
	}
	got := judge.Measure(c, judge.Ranking{"q1": list, "q2": list[:6]}) // d2 is the seventh, d1 the eighth
	if got.AllIn5 != 0 || got.AllIn10 != 0.5 || got.Recall10 != 0.5 || got.MRR != 0.5/7 {
		t.Errorf("%+v; want AllIn5 0, AllIn10 0.5, Recall10 0.5, MRR %v", got, 0.5/7)
	}
	var run bytes.Buffer
	if err := c.WriteRun(&run, judge.Ranking{"q2": list[:1]}, "words"); err != nil ||
		run.String() != "q2 Q0 d8 1 1 words\n" {
		t.Errorf("run file %q, %v; want %q", run.String(), err, "q2 Q0 d8 1 1 words\n")
	}
}

func TestIncompleteCollectionNamesMissingPart(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"corpus.jsonl": {},
		"entry 2":      {"corpus.jsonl": "{\"_id\":\"d1\"}\n{", "queries.jsonl": ""},
		"qrels":        {"corpus.jsonl": `{"_id":"d1"}`, "queries.jsonl": `{"_id":"q1"}`},
		"line 2": {"corpus.jsonl": `{"_id":"d1"}`, "queries.jsonl": `{"_id":"q1"}`,
			"qrels/dev.tsv": "query-id\tcorpus-id\tscore\nq1\td1\n"},
		"nothing to measure": {"corpus.jsonl": `{"_id":"d1"}`, "queries.jsonl": `{"_id":"q1"}`,
			"qrels/dev.tsv": "q1\td1\t0\n"},
	} {
		dir := t.TempDir()
		for file, body := range files {
			path := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := judge.OpenCollection(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: error %v, want %q in it", files, err, name)
		}
	}
}
