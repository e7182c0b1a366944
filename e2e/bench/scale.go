package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// A document of the scene scale has so many sections, which make about so many passages. That number is not exact:
// figures.passages has the one that was counted.
const (
	sectionsEach = 54
	passagesEach = 100
)

// What searches of the scene scale may take, p95, and how much memory of its own the embedded mode. The first holds
// for both shapes by words and for the servers with vectors too; the second for the embedded mode, whose vectors are
// in the same process. They are targets of this project; docs/scale.md has what was measured.
const (
	searchMost = time.Second
	hybridMost = 80 * time.Millisecond
	anonMost   = 600 << 20
)

// scale: the same library in the embedded mode, and on PostgreSQL with Milvus.
//
// Sizes go from the least to the greatest, and each size and shape begins with an empty directory. The flags -passages
// and -shapes choose them. A name that is no shape is an error.
// make bench-scale gives it 30 minutes.
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

// atScale fills one library and measures everything with it: reading in, starting, searching, runs, searching while
// documents come in, and then memory and disk. Each step finds what the one before left, so the order matters: memory
// is read when all has been used.
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
	// A large library takes minutes; this line says that it goes on.
	fmt.Fprintf(
		os.Stderr, "%s: %d passages after %.0f s, their vectors after %.0f s\n", s.name, f.passages, f.ingest.Seconds(),
		f.vectors.Seconds(),
	)
	f.peak = server.memoryField("VmHWM")
	var starts []time.Duration
	// Three starts, of which the median counts. The last of them is the server of all that follows.
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
	// Milvus searches new vectors without an index at first. The searches before are what users see right after adding
	// documents, these what they see later.
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
// It sends fifty at a time. f.ingest is until the last is found by its words, f.vectors until the last has its
// vectors, both from the beginning. How busy the fake model was is noted, since it takes processor time from the same
// machine.
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

// useLibrary measures searches and runs on a server that just started.
//
// The very first search is a figure of its own. For each mode, 200 searches that are not counted come before 400 that
// are. Runs are one at a time, and for servers eight at a time as well, to see what a run costs PostgreSQL.
func (f *figures) useLibrary(ctx context.Context, b *bench, l *library, server *process) error {
	first, err := timeQuery(ctx, server)
	if err != nil {
		return err
	}
	f.first, f.searches = first, map[string][]time.Duration{}
	for i, mode := range []string{"lexical", "hybrid"} {
		// what is read of the index is kept
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

// timeQuery asks one hybrid search. Its two words are neither frequent nor rare: ranks 1,501 and 3,001 of the
// vocabulary.
func timeQuery(ctx context.Context, server *process) (time.Duration, error) {
	began := time.Now()
	err := searchOnce(ctx, server, "hybrid", vocabulary[1500]+" "+vocabulary[3000])
	return time.Since(began), err
}

// searchBusy measures searches while more documents come in, and the first one after that.
//
// Documents come in without a pause, twenty in a request, for as long as the searches take. Their seeds begin behind
// all those of the library, so none is known already. It waits until they have their vectors before it asks once more:
// that search finds the index changed.
func (f *figures) searchBusy(ctx context.Context, b *bench, server *process, size int) (err error) {
	reading, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { // ends with reading
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
