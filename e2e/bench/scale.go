package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// The number of sections of a document in the scene scale, which make about as many passages. figures.passages is
// the exact count.
const (
	sectionsEach = 54
	passagesEach = 100
)

// The limits of the scene scale: search time at p95, and the private memory of the embedded mode. The first applies
// to lexical search of both shapes and to the servers with embeddings; the second to the embedded mode, whose
// embeddings are in the same process. They are targets of this project; docs/scale.md has the results.
const (
	searchMost = time.Second
	hybridMost = 80 * time.Millisecond
	anonMost   = 600 << 20
)

// scale compares the same library in the embedded mode, and on PostgreSQL with Milvus.
//
// Sizes are in ascending order, and each size and shape starts with an empty directory. The flags -passages and
// -shapes select them. An unknown shape is an error. The timeout of make bench-scale is 30 minutes.
func benchScale(ctx context.Context, b *bench) (rows []row, err error) {
	sizes, wanted := b.passages, b.shapes
	if sizes == nil {
		sizes = []int{10_000, 100_000}
	}
	if wanted == nil {
		wanted = []string{"embedded", "servers"}
	}
	for _, size := range sizes {
		for _, name := range wanted {
			found := false
			for _, s := range shapes {
				if s.name != name {
					continue
				}
				found = true
				f, err := b.atScale(ctx, s, size)
				if err != nil {
					return rows, fmt.Errorf("%s, %d passages: %w", name, size, err)
				}
				rows = append(rows, f.figureRows(name)...)
			}
			if !found {
				return rows, fmt.Errorf("there is no shape %q: embedded, servers", name)
			}
		}
	}
	return rows, nil
}

// atScale fills one library and measures all operations: ingestion, start, search, runs, search during ingestion,
// and then memory and disk usage. Each step uses the state of the one before, so the order matters: memory is read
// after all have run.
func (b *bench) atScale(ctx context.Context, s shape, size int) (f figures, err error) {
	dir, err := os.MkdirTemp("", "footnote-bench-")
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	l, err := s.open(ctx, b, dir)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	server, err := b.startFootnote(ctx, dir, l.model, l.env...)
	if err != nil {
		return f, err
	}
	defer func() {
		if server != nil {
			err = errors.Join(err, server.stop())
		}
	}()
	if err := f.fillLibrary(ctx, l, server, size); err != nil {
		return f, err
	}
	// A large library takes minutes; this line shows the progress.
	fmt.Fprintf(
		os.Stderr, "%s: %d passages after %.0f s, their vectors after %.0f s\n", s.name, f.passages, f.ingest.Seconds(),
		f.vectors.Seconds(),
	)
	f.peak = server.memoryField("VmHWM")
	var starts []time.Duration
	// Three starts; the median counts. The server of the last one is used afterwards.
	for range 3 {
		if err := server.stop(); err != nil {
			server = nil
			return f, err
		}
		began := time.Now()
		if server, err = b.startFootnote(ctx, dir, l.model, l.env...); err != nil {
			return f, err
		}
		starts = append(starts, time.Since(began))
	}
	f.start = quantileOf(starts, .5)
	if err := f.useLibrary(ctx, b, l, server); err != nil {
		return f, err
	}
	f.anon = server.memoryField("RssAnon")
	if err := f.searchBusy(ctx, b, server, size); err != nil {
		return f, err
	}
	// Milvus searches new vectors without an index at first. The searches before are what users get right after
	// adding documents, these what they get later.
	if l.servers != nil {
		if f.indexTime, err = l.servers.milvus.Seal(ctx); err != nil {
			return f, err
		}
		if f.atRest, err = runQueries(ctx, server, "hybrid", 7, b.scaleTimes(400)); err != nil {
			return f, err
		}
	}
	f.memory = l.memoryHeld(server)
	f.disk, err = l.diskUsed()
	return f, err
}

// fillLibrary adds the documents: the same for every shape.
//
// It sends batches of fifty. f.ingest is the time until the last is in the text index, f.vectors until the last is
// embedded, both from the start. The fake model's CPU load is recorded, since it shares the machine.
func (f *figures) fillLibrary(ctx context.Context, l *library, server *process, size int) error {
	began, modelBefore := time.Now(), l.model.cpuTime()
	files := map[string][]byte{"survey.md": []byte(
		"# Survey\n\n## Roof\n\nThe roof is in fair condition. The survey found four slipped slates.\n",
	)}
	documents := size / passagesEach
	for i := range documents {
		files[fmt.Sprintf("doc-%d.md", i)] = makeMarkdown(uint64(i), sectionsEach)
		if len(files) < 50 && i < documents-1 {
			continue
		}
		if _, err := uploadFiles(ctx, server, files); err != nil {
			return err
		}
		files = map[string][]byte{}
	}
	f.ingest = time.Since(began)
	if err := waitEmbedded(ctx, server); err != nil {
		return err
	}
	f.vectors = time.Since(began)
	f.model = (l.model.cpuTime() - modelBefore).Seconds() / f.vectors.Seconds()
	var err error
	f.passages, _, err = tallyPassages(ctx, server)
	return err
}

// useLibrary measures searches and runs on a freshly started server.
//
// The very first search is a separate figure. For each mode, 200 warm-up searches precede 400 measured ones. Runs
// are sequential, and for servers also eight concurrent ones, to measure the cost of a run for PostgreSQL.
func (f *figures) useLibrary(ctx context.Context, b *bench, l *library, server *process) error {
	first, err := timeQuery(ctx, server)
	if err != nil {
		return err
	}
	f.first, f.searches = first, map[string][]time.Duration{}
	for i, mode := range []string{"lexical", "hybrid"} {
		// This warms the cache of the index.
		if _, err := runQueries(ctx, server, mode, uint64(10+i), b.scaleTimes(200)); err != nil {
			return err
		}
		if f.searches[mode], err = runQueries(ctx, server, mode, uint64(20+i), b.scaleTimes(400)); err != nil {
			return err
		}
	}
	runs, _, err := runLoad(ctx, max(5, b.scaleTimes(100)), 1, server)
	f.runs = totalTimes(runs)
	if err != nil || l.servers == nil {
		return err
	}
	before, err := l.servers.chatCosts(ctx)
	if err != nil {
		return err
	}
	n := max(8, b.scaleTimes(400))
	_, took, err := runLoad(ctx, n, 8, server)
	if err != nil {
		return err
	}
	after, err := l.servers.chatCosts(ctx)
	f.database = fmt.Sprintf("%.1f transactions, %.1f KiB with indexes, %.0f runs/s with 8 at once", float64(
		after.transactions-before.transactions,
	)/float64(n),
		float64(after.bytes-before.bytes)/float64(n)/1024, float64(n)/took.Seconds())
	return err
}

// timeQuery runs one hybrid search. Its two words are of medium frequency: ranks 1,501 and 3,001 of the vocabulary.
func timeQuery(ctx context.Context, server *process) (time.Duration, error) {
	began := time.Now()
	err := searchOnce(ctx, server, "hybrid", vocabulary[1500]+" "+vocabulary[3000])
	return time.Since(began), err
}

// searchBusy measures searches during ingestion, and the first one after it.
//
// Documents are added without a pause, in batches of twenty, for as long as the searches take. Their seeds start
// after all those of the library, so none is a duplicate. It waits until their embeddings are computed before the
// final search, which uses a changed index.
func (f *figures) searchBusy(ctx context.Context, b *bench, server *process, size int) (err error) {
	reading, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { // ends with the reader
		for i := 0; ; i += 20 {
			files := map[string][]byte{}
			for j := i; j < i+20; j++ {
				files[fmt.Sprintf("more-%d.md", j)] = makeMarkdown(uint64(size+j), sectionsEach)
			}
			if _, err := uploadFiles(reading, server, files); err != nil {
				if reading.Err() != nil {
					err = nil
				}
				ended <- err
				return
			}
		}
	}()
	f.busy, err = runQueries(ctx, server, "hybrid", 30, b.scaleTimes(400))
	stop()
	if err = errors.Join(err, <-ended); err != nil {
		return err
	}
	if err := waitEmbedded(ctx, server); err != nil {
		return err
	}
	f.changed, err = timeQuery(ctx, server)
	return err
}
