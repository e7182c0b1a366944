package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// A document of the scene scale has so many sections, which make about so many passages.
const (
	sectionsEach = 54
	passagesEach = 100
)

// searchMost is what a search of the scene scale may take, p95.
const searchMost = time.Second

// figures is what one shape came to with one library.
type figures struct {
	passages  int
	ingest    time.Duration // until the last document is found by its words
	vectors   time.Duration // until the last one has its vectors
	model     float64       // share of the processors' time that the fake model took meanwhile
	start     time.Duration // to the first healthy answer
	first     time.Duration // the first hybrid search after a start
	searches  map[string][]time.Duration
	runs      []time.Duration
	database  string // what a run costs PostgreSQL; empty in the embedded mode
	memory    string
	peak      int64
	disk      string
	atRest    []time.Duration // hybrid searches once Milvus has built its index; none in the embedded mode
	indexTime time.Duration
}

// shape is one way to keep a library.
type shape struct {
	name string
	open func(ctx context.Context, b *bench, dir string) (*library, error)
}

var shapes = []shape{{"embedded", openEmbeddedLibrary}, {"servers", openServersLibrary}}

// library is a data directory, and the servers beside it if there are any.
type library struct {
	dir     string
	model   *process
	servers *servers // nil in the embedded mode
	env     []string
}

func openEmbeddedLibrary(ctx context.Context, _ *bench, dir string) (l *library, err error) {
	l = &library{dir: dir, env: []string{"OPENAI_EMBEDDING_MODEL=bench"}}
	l.model, err = startModel(ctx, 0)
	return l, err
}

func openServersLibrary(ctx context.Context, b *bench, dir string) (*library, error) {
	l, err := openEmbeddedLibrary(ctx, b, dir)
	if err != nil {
		return nil, err
	}
	if l.servers, err = startServers(ctx); err != nil {
		return nil, errors.Join(err, l.model.stop())
	}
	l.env = append(l.env, l.servers.env(filepath.Join(dir, "originals"))...)
	return l, nil
}

func (l *library) close() error {
	err := l.model.stop()
	if l.servers != nil {
		err = errors.Join(err, l.servers.stop())
	}
	return err
}

// memory says how much the server and what it needs hold now.
func (l *library) memory(server *process) string {
	own := server.memory("VmRSS")
	if l.servers == nil {
		return mib(own)
	}
	postgres, milvus := treeMemory(l.servers.postgres.Pid()), treeMemory(l.servers.milvus.Pid())
	return fmt.Sprintf("%s, PostgreSQL %s, Milvus %s: %s", mib(own), mib(postgres), mib(milvus), mib(own+postgres+milvus))
}

// disk says how much lies on the disk.
func (l *library) disk() (string, error) {
	own, err := diskUse(l.dir)
	if err != nil || l.servers == nil {
		return mib(own), err
	}
	database, err := diskUse(l.servers.postgres.Dir())
	if err != nil {
		return "", err
	}
	wal, err := diskUse(filepath.Join(l.servers.postgres.Dir(), "data", "pg_wal"))
	if err != nil {
		return "", err
	}
	vectors, err := diskUse(l.servers.milvus.Dir())
	return fmt.Sprintf("%s, PostgreSQL %s and %s of WAL, Milvus %s: %s", mib(own), mib(database-wal), mib(wal), mib(vectors), mib(own+database+vectors)), err
}

func mib(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// scale: the same library in the embedded mode, and on PostgreSQL with Milvus.
func scale(ctx context.Context, b *bench) (rows []row, err error) {
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
				rows = append(rows, f.rows(name)...)
			}
			if !found {
				return rows, fmt.Errorf("there is no shape %q: embedded, servers", name)
			}
		}
	}
	return rows, nil
}

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
	if err := f.fill(ctx, l, server, size); err != nil {
		return f, err
	}
	f.peak = server.memory("VmHWM")
	var starts []time.Duration
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
	f.start = quantile(starts, .5)
	if err := f.use(ctx, b, l, server); err != nil {
		return f, err
	}
	if l.servers != nil {
		if f.indexTime, err = sealed(ctx, l.servers.milvus.Address); err != nil {
			return f, err
		}
		if f.atRest, err = queries(ctx, server, "hybrid", 7, b.times(400)); err != nil {
			return f, err
		}
	}
	f.memory = l.memory(server)
	f.disk, err = l.disk()
	return f, err
}

// fill adds the documents: the same for every shape.
func (f *figures) fill(ctx context.Context, l *library, server *process, size int) error {
	began, modelBefore := time.Now(), l.model.cpu()
	files := map[string][]byte{"survey.md": []byte("# Survey\n\n## Roof\n\nThe roof is in fair condition. The survey found four slipped slates.\n")}
	documents := size / passagesEach
	for i := range documents {
		files[fmt.Sprintf("doc-%d.md", i)] = markdown(uint64(i), sectionsEach)
		if len(files) < 50 && i < documents-1 {
			continue
		}
		if _, err := upload(ctx, server, files); err != nil {
			return err
		}
		files = map[string][]byte{}
	}
	f.ingest = time.Since(began)
	if err := embeddedAll(ctx, server); err != nil {
		return err
	}
	f.vectors = time.Since(began)
	f.model = (l.model.cpu() - modelBefore).Seconds() / f.vectors.Seconds()
	var err error
	f.passages, _, err = tally(ctx, server)
	return err
}

// use measures searches and runs on a server that just started.
func (f *figures) use(ctx context.Context, b *bench, l *library, server *process) error {
	first, err := timeQuery(ctx, server)
	if err != nil {
		return err
	}
	f.first, f.searches = first, map[string][]time.Duration{}
	for i, mode := range []string{"lexical", "hybrid"} {
		if _, err := queries(ctx, server, mode, uint64(10+i), b.times(200)); err != nil { // what is read of the index is kept
			return err
		}
		if f.searches[mode], err = queries(ctx, server, mode, uint64(20+i), b.times(400)); err != nil {
			return err
		}
	}
	runs, _, err := load(ctx, server, max(5, b.times(100)), 1)
	f.runs = totals(runs)
	if err != nil || l.servers == nil {
		return err
	}
	before, err := l.servers.chats(ctx)
	if err != nil {
		return err
	}
	n := max(8, b.times(400))
	_, took, err := load(ctx, server, n, 8)
	if err != nil {
		return err
	}
	after, err := l.servers.chats(ctx)
	f.database = fmt.Sprintf("%.1f transactions, %.1f KiB with indexes, %.0f runs/s with 8 at once", float64(after.transactions-before.transactions)/float64(n),
		float64(after.bytes-before.bytes)/float64(n)/1024, float64(n)/took.Seconds())
	return err
}

// timeQuery asks one hybrid search.
func timeQuery(ctx context.Context, server *process) (time.Duration, error) {
	began := time.Now()
	err := search(ctx, server, "hybrid", vocabulary[1500]+" "+vocabulary[3000])
	return time.Since(began), err
}

// embeddedAll waits until every document has its vectors.
func embeddedAll(ctx context.Context, server *process) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		_, left, err := tally(ctx, server)
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// tally counts the passages of the library, and the documents that have no vectors yet.
func tally(ctx context.Context, server *process) (passages, left int, err error) {
	for cursor := ""; ; {
		var list struct {
			Documents []struct {
				Passages int    `json:"passages"`
				Semantic string `json:"semantic"`
			} `json:"documents"`
			Next string `json:"next"`
		}
		if err := getJSON(ctx, server, "/documents?limit=1000&cursor="+url.QueryEscape(cursor), &list); err != nil {
			return 0, 0, err
		}
		for _, d := range list.Documents {
			passages += d.Passages
			if d.Semantic != "ready" {
				left++
			}
		}
		if cursor = list.Next; cursor == "" {
			return passages, left, nil
		}
	}
}

// rows are the figures of one shape.
func (f *figures) rows(name string) []row {
	line := func(what, got string) row {
		return row{what: fmt.Sprintf("%d passages, %s: %s", f.passages, name, what), bound: "–", got: got, ok: true}
	}
	rate := func(took time.Duration) float64 { return float64(f.passages) / took.Seconds() }
	rows := []row{
		line("ingested; with vectors", fmt.Sprintf("%.0f passages/s; %.0f passages/s (the fake model took %.2f of two processors)", rate(f.ingest), rate(f.vectors), f.model)),
		line("start to healthy; first hybrid search", ms(f.start)+"; "+ms(f.first)),
	}
	for _, mode := range []string{"lexical", "hybrid"} {
		p95 := quantile(f.searches[mode], .95)
		one := line(mode+" search, p95 (p50)", fmt.Sprintf("%s (%s)", ms(p95), ms(quantile(f.searches[mode], .5))))
		one.bound, one.ok = "≤ "+searchMost.String(), p95 <= searchMost
		rows = append(rows, one)
	}
	if f.atRest != nil {
		rows = append(rows, line("hybrid search with Milvus' index built, p95 (p50)", fmt.Sprintf("%s (%s), %.1f s after a flush",
			ms(quantile(f.atRest, .95)), ms(quantile(f.atRest, .5)), f.indexTime.Seconds())))
	}
	return append(rows,
		line("run with two tools, p95 (p50)", fmt.Sprintf("%s (%s)", ms(quantile(f.runs, .95)), ms(quantile(f.runs, .5)))),
		line("a run in PostgreSQL", cmp.Or(f.database, "–")),
		line("memory after that; at most while ingesting", f.memory+"; "+mib(f.peak)),
		line("disk", f.disk),
	)
}
