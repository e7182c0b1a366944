package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/bert"
	"github.com/footnote/footnote/sql/sqlite"
	"github.com/footnote/footnote/text"
)

// The scene recall: the number of embedded sentences and of queries. The values are arbitrary. The limit is for
// recall@k, the share of the exact nearest neighbours that are found, from 0 to 1.
const (
	recallSentences = 20_000
	recallQueries   = 300
	recallLeast     = 0.98
)

// recall measures recall@k of semantic search against the exact nearest neighbours, with a real model and real
// sentences, the comments of Go's library. FOOTNOTE_EMBEDDING_DIR is the model's folder.
//
// SQLite's semantic search does not compare the query with all full vectors, so its recall may be below 1. Random
// vectors would be unrealistic, since embeddings of texts form clusters. This scene does not start the program: it
// calls the store, and compares with all exact cosines. The query sentences are not among the stored ones.
func benchRecall(ctx context.Context, b *bench) (rows []row, err error) {
	embedder, err := bert.Open(bert.Config{Dir: os.Getenv("FOOTNOTE_EMBEDDING_DIR"), Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, embedder.Close()) }()
	said, err := commentSentences(ctx, b.scaleTimes(recallSentences)+recallQueries)
	if err != nil {
		return nil, err
	}
	var units [][]float32
	// In batches of 64, to limit memory.
	for part := range slices.Chunk(said, 64) {
		some, err := embedder.Embed(ctx, part)
		if err != nil {
			return nil, err
		}
		units = append(units, some...)
	}
	dir, err := os.MkdirTemp("", "footnote-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := sqlite.Open(ctx, filepath.Join(dir, "footnote.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	vectors, queries := db.Vectors(embedder.Model()), units[:recallQueries]
	units = units[recallQueries:]
	stored := make([]corpus.Vector, len(units))
	for i, unit := range units {
		stored[i] = corpus.Vector{
			// About a hundred sentences are a document, like passages in a library.
			PassageID: fmt.Sprint(i), DocumentID: fmt.Sprint("d", i/100), User: chat.LocalUser,
			Namespace: chat.DefaultNamespace, Values: unit,
		}
	}
	if err := vectors.Upsert(ctx, stored); err != nil {
		return nil, err
	}
	// Ten is the number of displayed results, fifty the number fused with lexical results.
	for _, k := range []int{10, 50} {
		found := 0
		for _, query := range queries {
			hits, err := vectors.SearchVectors(ctx, chat.Local, query, nil, k)
			if err != nil {
				return nil, err
			}
			nearest := nearestUnits(units, query, k)
			for _, h := range hits {
				if nearest[h.PassageID] {
					found++
				}
			}
		}
		recall := float64(found) / float64(k*len(queries))
		rows = append(rows, row{
			what:  fmt.Sprintf("recall@%d of %d sentences against the exact nearest", k, len(units)),
			bound: fmt.Sprintf("≥ %.2f", recallLeast), got: fmt.Sprintf("%.4f", recall), ok: recall >= recallLeast,
		})
	}
	return rows, nil
}

// nearestUnits returns the k exact nearest neighbours, computed with float64, by their PassageID. All vectors have
// length 1, so the scalar product is the cosine. It is the ground truth for the store.
func nearestUnits(units [][]float32, query []float32, k int) map[string]bool {
	cosines, order := make([]float64, len(units)), make([]int, len(units))
	for i, unit := range units {
		order[i] = i
		for j, value := range unit {
			cosines[i] += float64(value) * float64(query[j])
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(cosines[b], cosines[a]) })
	nearest := make(map[string]bool, k)
	for _, i := range order[:k] {
		nearest[fmt.Sprint(i)] = true
	}
	return nearest
}

// errEnough ends the walk over the library.
var errEnough = errors.New("enough sentences")

// commentSentences returns the first n distinct sentences of eight words or more from the comments of Go's library,
// so that runs are reproducible. Sentences of more than 300 bytes are skipped, since they are mostly code or
// tables. It returns fewer than n if the library has no more.
func commentSentences(ctx context.Context, n int) (said []string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find Go's library: %w", err)
	}
	seen := map[string]bool{}
	library := filepath.Join(strings.TrimSpace(string(root)), "src")
	err = filepath.WalkDir(library, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || strings.Contains(path, "testdata") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, comment := range file.Comments {
			words := []rune(strings.Join(strings.Fields(comment.Text()), " "))
			for _, span := range text.Sentences(string(words)) {
				s := string(words[span[0]:span[1]])
				if strings.Count(s, " ") < 7 || len(s) > 300 || seen[s] {
					continue
				}
				seen[s] = true
				if said = append(said, s); len(said) == n {
					return errEnough
				}
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return said, err
}
