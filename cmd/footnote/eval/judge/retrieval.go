package judge

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Collection is a set of documents with queries and relevance judgements, in the format of BEIR.
type Collection struct {
	Name      string
	Documents []CollectionDocument
	Queries   []CollectionQuery // those with judgements
}

// CollectionDocument is a line of corpus.jsonl.
type CollectionDocument struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// CollectionQuery is a line of queries.jsonl with its judgements.
type CollectionQuery struct {
	ID       string         `json:"_id"`
	Text     string         `json:"text"`
	Relevant map[string]int // grade by document, above 0
}

// OpenCollection reads a collection from a directory: corpus.jsonl, queries.jsonl and qrels/test.tsv (query,
// document, grade), or the only file in qrels. The format is that of BEIR (Thakur et al. 2021). Queries without a
// judgement are skipped, since they can't be scored.
func OpenCollection(dir string) (c Collection, err error) {
	c.Name = filepath.Base(dir)
	if c.Documents, err = readLines[CollectionDocument](filepath.Join(dir, "corpus.jsonl")); err != nil {
		return c, err
	}
	queries, err := readLines[CollectionQuery](filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		return c, err
	}
	judgements, err := readJudgements(dir)
	if err != nil {
		return c, err
	}
	for _, q := range queries {
		if q.Relevant = judgements[q.ID]; len(q.Relevant) > 0 {
			c.Queries = append(c.Queries, q)
		}
	}
	if len(c.Documents) == 0 || len(c.Queries) == 0 {
		return c, fmt.Errorf("%s has %d documents and %d judged queries: there is nothing to measure", dir,
			len(c.Documents), len(c.Queries))
	}
	return c, nil
}

// readLines decodes a file of consecutive JSON values.
func readLines[T any](path string) (out []T, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := json.NewDecoder(bufio.NewReader(file))
	for {
		var v T
		if err := lines.Decode(&v); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s, entry %d: %w", path, len(out)+1, err)
		}
		out = append(out, v)
	}
}

// readJudgements reads the relevant documents of each query.
func readJudgements(dir string) (map[string]map[string]int, error) {
	path := filepath.Join(dir, "qrels", "test.tsv")
	// Collections without a test split have one other file.
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		others, err := filepath.Glob(filepath.Join(dir, "qrels", "*.tsv"))
		if err != nil || len(others) != 1 {
			return nil, fmt.Errorf("%s is missing, and %d other files are in its place: want one", path, len(others))
		}
		path = others[0]
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := map[string]map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		fields := strings.Fields(line)
		if i == 0 && strings.HasPrefix(line, "query") {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s, line %d: want a query, a document and a grade", path, i+1)
		}
		grade, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: the grade is no whole number", path, i+1)
		}
		if grade > 0 {
			if out[fields[0]] == nil {
				out[fields[0]] = map[string]int{}
			}
			out[fields[0]][fields[1]] = grade
		}
	}
	return out, nil
}

// Ranked is a retrieved document with its score.
type Ranked struct {
	Document string
	Score    float64
}

// Ranking holds the retrieved documents of each query of a collection.
type Ranking map[string][]Ranked

// Retrieval holds the quality of a ranking: means over all queries of a collection, each 0–1.
type Retrieval struct {
	Mode      string  `json:"mode"`
	Queries   int     `json:"queries"`
	NDCG10    float64 `json:"ndcg_at_10"`
	Recall5   float64 `json:"recall_at_5"`
	Recall10  float64 `json:"recall_at_10"`
	Recall100 float64 `json:"recall_at_100"`
	MRR       float64 `json:"mrr"`
	AllIn5    float64 `json:"all_in_5"`  // share of queries with all relevant documents among the first 5
	AllIn10   float64 `json:"all_in_10"` // among the first 10
	Median    float64 `json:"ms_p50"`
	P95       float64 `json:"ms_p95"`
}

// Measure scores a ranking like trec_eval (ndcg_cut, recall, recip_rank): documents by descending score, ties by
// descending id, a document's gain is its grade. A query without results scores 0. Measure does not set Mode and
// the times.
func Measure(c Collection, found Ranking) (r Retrieval) {
	r.Queries = len(c.Queries)
	each := 1 / float64(r.Queries)
	for _, q := range c.Queries {
		list := slices.Clone(found[q.ID])
		// trec_eval sorts by score and ignores the order of the file.
		slices.SortStableFunc(list, func(a, b Ranked) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Document, a.Document))
		})
		r.NDCG10 += each * normalisedGain(list, q.Relevant, 10)
		r.Recall5 += each * recallAt(list, q.Relevant, 5)
		r.Recall10 += each * recallAt(list, q.Relevant, 10)
		r.Recall100 += each * recallAt(list, q.Relevant, 100)
		if i := slices.IndexFunc(list, func(d Ranked) bool { return q.Relevant[d.Document] > 0 }); i >= 0 {
			r.MRR += each / float64(i+1)
		}
		if recallAt(list, q.Relevant, 5) == 1 {
			r.AllIn5 += each
		}
		if recallAt(list, q.Relevant, 10) == 1 {
			r.AllIn10 += each
		}
	}
	return r
}

// normalisedGain returns nDCG@k: the discounted cumulative gain of the first k documents, divided by the ideal one
// (Järvelin and Kekäläinen, 2002, with the logarithm of the rank + 1). DCG is the sum of grade/log2(rank+1) over
// the first k.
func normalisedGain(list []Ranked, relevant map[string]int, k int) float64 {
	gain, best := 0.0, 0.0
	for i, d := range list[:min(k, len(list))] {
		gain += float64(relevant[d.Document]) / math.Log2(float64(i)+2)
	}
	var grades []int
	for _, grade := range relevant {
		grades = append(grades, grade)
	}
	slices.Sort(grades)
	slices.Reverse(grades)
	for i, grade := range grades[:min(k, len(grades))] {
		best += float64(grade) / math.Log2(float64(i)+2)
	}
	return gain / best
}

// recallAt returns recall@k: the share of the relevant documents among the first k.
func recallAt(list []Ranked, relevant map[string]int, k int) float64 {
	hits := 0
	for _, d := range list[:min(k, len(list))] {
		if relevant[d.Document] > 0 {
			hits++
		}
	}
	return float64(hits) / float64(len(relevant))
}

// WriteRun writes a ranking in TREC's run file format, for trec_eval, ranx and others.
func (c Collection) WriteRun(w io.Writer, found Ranking, name string) error {
	out := bufio.NewWriter(w)
	for _, q := range c.Queries {
		for i, d := range found[q.ID] {
			fmt.Fprintf(out, "%s Q0 %s %d %g %s\n", q.ID, d.Document, i+1, d.Score, name)
		}
	}
	return out.Flush()
}

// PrintRetrieval writes a table with a row for each mode, as Markdown.
func PrintRetrieval(w io.Writer, modes []Retrieval) {
	rows := [][]string{{
		"mode", "nDCG@10", "recall@5", "recall@10", "recall@100", "MRR", "all in 5", "all in 10", "ms p50", "ms p95",
	}}
	for _, r := range modes {
		row := []string{r.Mode}
		for _, share := range []float64{
			r.NDCG10, r.Recall5, r.Recall10, r.Recall100, r.MRR, r.AllIn5, r.AllIn10,
		} {
			row = append(row, fmt.Sprintf("%.3f", share))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.1f", r.Median), fmt.Sprintf("%.1f", r.P95)))
	}
	printRows(w, rows)
}
