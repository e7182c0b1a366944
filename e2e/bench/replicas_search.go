package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// words compares lexical search over the same 50,000 passages in SQLite and in PostgreSQL.
//
// It has no limits: it reports the ratio of the search times, with the same documents, the same queries and one
// process of Footnote each. Neither has embeddings. The sides alternate with each batch of documents and of
// queries.
func benchWords(ctx context.Context, b *bench) (rows []row, err error) {
	dir, err := os.MkdirTemp("", "footnote-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	embedded, err := b.startFootnote(ctx, filepath.Join(dir, "embedded"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, embedded.stop()) }()
	postgres, err := startPostgres(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, postgres.Stop()) }()
	fleet, err := b.startFleet(ctx, postgres, dir, "words", 1, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fleet.stop()) }()

	sides := []struct {
		name          string
		server        *process
		ingest        time.Duration
		fresh, repeat []time.Duration
	}{{name: "SQLite", server: embedded}, {name: "PostgreSQL", server: fleet.replicas[0]}}
	const each, batch = 100, 50
	documents := b.scaleTimes(500)
	for first := 0; first < documents; first += batch {
		files := map[string][]byte{}
		for i := first; i < min(documents, first+batch); i++ {
			files[fmt.Sprintf("doc-%d.md", i)] = makeMarkdown(uint64(i), each)
		}
		for i := range sides {
			took, err := uploadFiles(ctx, sides[i].server, files)
			if err != nil {
				return nil, err
			}
			sides[i].ingest += took
		}
	}
	// The queries of the first seed use a cold index; they are shown separately.
	for seed := uint64(1); seed <= 4; seed++ {
		for i := range sides {
			took, err := runQueries(ctx, sides[i].server, "lexical", seed, b.scaleTimes(400))
			if err != nil {
				return nil, err
			}
			if seed == 1 {
				sides[i].fresh = took
			} else {
				sides[i].repeat = append(sides[i].repeat, took...)
			}
		}
	}
	for _, s := range sides {
		rows = append(rows,
			row{fmt.Sprintf("Markdown ingested, about %d passages, %s", documents*each, s.name), "", fmt.Sprintf(
				"%.0f passages/s", float64(documents*each)/s.ingest.Seconds(),
			), true},
			row{"lexical search over them, p95 (p50); the first after they were read in, " +
				s.name, "", fmt.Sprintf("%s (%s); %s (%s)",
				inMilliseconds(quantileOf(s.repeat, .95)), inMilliseconds(quantileOf(s.repeat, .5)),
				inMilliseconds(quantileOf(s.fresh, .95)),
				inMilliseconds(quantileOf(s.fresh, .5))), true})
	}
	// The PostgreSQL side is the second one.
	ratio := float64(quantileOf(sides[1].repeat, .95)) / float64(quantileOf(sides[0].repeat, .95))
	return append(rows, row{"lexical search, p95, PostgreSQL ÷ SQLite", "", fmt.Sprintf("%.2f", ratio), true}), nil
}
