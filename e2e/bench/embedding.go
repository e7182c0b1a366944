package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// The scene embedding. The values are arbitrary. At full size the files have embedFiles × embedSections = 600
// sections of about two passages each.
const (
	embedFiles    = 15
	embedSections = 40
	embedQuiet    = 300 // questions while idle, before and after
	// It is a ratio between two times of the same process on the same machine, so it is also valid on a slow
	// machine.
	embedSlower = 1.3 // limit of the ratio of a question's time, busy ÷ idle
)

// embedding measures how fast the embeddings of new documents are computed, and how much slower a question is
// meanwhile, without a language model. FOOTNOTE_EMBEDDING_DIR is the embedding model's folder.
//
// The offline mode answers, so a question's time is the program's own work and the CPU lost to embeddings.
// Questions are asked in three phases: idle, during the embedding of a second batch of files, and idle again. The
// idle phases surround the busy one, so that a drift of the machine's speed does not affect the ratio.
//
// It returns three kinds of rows: passages per second without questions, the share of that rate with questions, and
// the median and p95 of questions, busy ÷ idle. Only the last kind has a limit, embedSlower.
func benchEmbedding(ctx context.Context, b *bench) (rows []row, err error) {
	if os.Getenv("FOOTNOTE_EMBEDDING_DIR") == "" {
		return nil, errors.New("FOOTNOTE_EMBEDDING_DIR is not set")
	}
	data, err := os.MkdirTemp("", "footnote-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	server, err := b.startFootnote(ctx, data, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	// The small library is embedded before the measurement, so that questions have results.
	if _, err := uploadFiles(ctx, server, smallLibrary()); err != nil {
		return nil, err
	}
	if _, err := awaitVectors(ctx, server, nil); err != nil {
		return nil, err
	}
	alone, passages, err := b.embedLibrary(ctx, server, 1, func() error { return nil })
	if err != nil {
		return nil, err
	}
	rate := float64(passages) / alone.Seconds()
	rows = append(rows, row{
		what: fmt.Sprintf("vectors of %d passages, nobody asks", passages), bound: "–",
		got: fmt.Sprintf("%.0f passages/s", rate), ok: true,
	})
	// The durations of questions, by the server's load.
	var busy, quiet []time.Duration
	ask := func(into *[]time.Duration) error {
		t, err := askQuestion(ctx, server)
		*into = append(*into, t.total)
		return err
	}
	askQuiet := func() error {
		for range b.scaleTimes(embedQuiet) {
			if err := ask(&quiet); err != nil {
				return err
			}
		}
		return nil
	}
	if err := askQuiet(); err != nil {
		return nil, err
	}
	beside, passages, err := b.embedLibrary(ctx, server, 2, func() error { return ask(&busy) })
	if err != nil {
		return nil, err
	}
	rows = append(rows, row{
		what: "the same while somebody asks one question after another", bound: "–",
		got: fmt.Sprintf("%.2f of that", float64(passages)/beside.Seconds()/rate), ok: true,
	})
	if err := askQuiet(); err != nil {
		return nil, err
	}
	for _, q := range []struct {
		name  string
		share float64
	}{{"median", 0.5}, {"p95", 0.95}} {
		slower := float64(quantileOf(busy, q.share)) / float64(quantileOf(quiet, q.share))
		rows = append(rows, row{
			what:  fmt.Sprintf("%s of %d questions beside that, against nothing else to do", q.name, len(busy)),
			bound: fmt.Sprintf("≤ %.1f", embedSlower),
			got:   fmt.Sprintf("%.2f (%s)", slower, inMilliseconds(quantileOf(busy, q.share))),
			ok:    slower <= embedSlower,
		})
	}
	return rows, nil
}

// embedLibrary adds files that depend on the seed, and calls meanwhile repeatedly until their embeddings are
// computed. It returns the time after parsing, and the number of passages. The seed is part of the names and texts,
// so that no file is a duplicate of an earlier call's. Parsing is not measured, since uploadFiles returns when all
// files are in the text index.
func (b *bench) embedLibrary(
	ctx context.Context, server *process, seed uint64, meanwhile func() error,
) (took time.Duration, passages int, err error) {
	files := map[string][]byte{}
	for i := range b.scaleTimes(embedFiles) {
		files[fmt.Sprintf("new-%d-%d.md", seed, i)] = makeMarkdown(seed*1_000_000+uint64(i), embedSections)
	}
	if _, err := uploadFiles(ctx, server, files); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	passages, err = awaitVectors(ctx, server, meanwhile)
	return time.Since(began), passages, err
}

// awaitVectors waits until the embeddings of all documents are computed, and calls meanwhile until then. It returns
// the initial number of passages without embeddings. An error of meanwhile ends the wait and is returned. meanwhile
// may be nil. It checks only the first 500 documents, more than any library of this scene has.
func awaitVectors(ctx context.Context, server *process, meanwhile func() error) (passages int, err error) {
	for first := true; ; first = false {
		var list struct {
			Documents []struct {
				Semantic string `json:"semantic"`
				Passages int    `json:"passages"`
				Progress struct {
					Stage string `json:"stage"`
					Done  int    `json:"done"`
				} `json:"progress"`
			} `json:"documents"`
		}
		if err := getJSON(ctx, server, "/documents?limit=500", &list); err != nil {
			return 0, err
		}
		left := 0
		for _, d := range list.Documents {
			// A document counts with its passages without embeddings; the server reports the progress of pending
			// ones.
			if d.Semantic != "ready" {
				if left += d.Passages; d.Progress.Stage == "embedding" {
					left -= d.Progress.Done
				}
			}
		}
		if first {
			passages = left
		}
		if left == 0 {
			return passages, nil
		}
		// The poll interval is 20 ms, far below the duration of even a quick run.
		if meanwhile != nil {
			err = meanwhile()
		}
		if err != nil {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
