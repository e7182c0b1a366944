package judge_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/cmd/footnote/eval/judge"
)

// collection writes a collection as BEIR lays it out, and opens it.
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

// trec_eval 9, asked through pytrec_eval, says the same of the same run file: equal scores, judged documents that were
// not found and grades above 1 among it.
func TestRetrievalIsMeasuredAsTrecEvalDoes(t *testing.T) {
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

func TestAllRelevantAmongTheFirst(t *testing.T) {
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

func TestACollectionThatLacksSomethingSaysWhat(t *testing.T) {
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
