package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"
)

// figures holds the results of one shape with one library.
//
// atScale fills it step by step, and figureRows prints it. Times are of this machine; the slices have one entry for
// each search or run.
type figures struct {
	passages int
	ingest   time.Duration // until the last document is in the text index
	vectors  time.Duration // until the last one is embedded
	model    float64       // the fake model's share of the CPU time meanwhile
	start    time.Duration // to the first healthy response
	first    time.Duration // the first hybrid search after a start
	searches map[string][]time.Duration
	busy     []time.Duration // hybrid searches during ingestion
	changed  time.Duration   // the first hybrid search after that
	anon     int64           // the server's private memory after the searches, in bytes
	runs     []time.Duration
	database string // a run's cost for PostgreSQL; empty in the embedded mode
	// The formatted results of memoryHeld and diskUsed.
	memory string
	// The server's peak memory during ingestion, in bytes.
	peak   int64
	disk   string
	atRest []time.Duration // hybrid searches after Milvus has built its index; empty in the embedded mode
	// The time in which Milvus built that index.
	indexTime time.Duration
}

// figureRows returns the rows of one shape.
//
// name is the shape's. Limits differ by shape. The embedded mode has the lower one for hybrid search. Only it has a
// memory limit, since it alone keeps the embeddings in its process. During ingestion, a search may take twice as
// long.
func (f *figures) figureRows(name string) []row {
	line := func(what, got string) row {
		return row{what: fmt.Sprintf("%d passages, %s: %s", f.passages, name, what), bound: "–", got: got, ok: true}
	}
	rate := func(took time.Duration) float64 { return float64(f.passages) / took.Seconds() }
	rows := []row{
		line("ingested; with vectors", fmt.Sprintf(
			"%.0f passages/s; %.0f passages/s (the fake model took %.2f of two processors)", rate(f.ingest),
			rate(f.vectors), f.model,
		)),
	}
	first := line("start to healthy; first hybrid search", inMilliseconds(f.start)+"; "+inMilliseconds(f.first))
	first.bound, first.ok = "≤ 1s", f.first <= time.Second
	rows = append(rows, first)
	for _, mode := range []string{"lexical", "hybrid"} {
		p95 := quantileOf(f.searches[mode], .95)
		one := line(
			mode+" search, p95 (p50)",
			fmt.Sprintf("%s (%s)", inMilliseconds(p95), inMilliseconds(quantileOf(f.searches[mode], .5))),
		)
		most := searchMost
		if mode == "hybrid" && name == "embedded" {
			most = hybridMost
		}
		one.bound, one.ok = "≤ "+most.String(), p95 <= most
		rows = append(rows, one)
	}
	if f.atRest != nil {
		rows = append(rows,
			line("hybrid search with Milvus' index built, p95 (p50)", fmt.Sprintf("%s (%s), %.1f s after a flush",
				inMilliseconds(quantileOf(f.atRest, .95)), inMilliseconds(quantileOf(f.atRest, .5)),
				f.indexTime.Seconds())))
	}
	quiet, busy := quantileOf(f.searches["hybrid"], .95), quantileOf(f.busy, .95)
	during := line("hybrid search while documents come in, p95 (p50); the first after that", fmt.Sprintf("%s (%s); %s",
		inMilliseconds(busy), inMilliseconds(quantileOf(f.busy, .5)), inMilliseconds(f.changed)))
	during.bound, during.ok = "≤ 2 × quiet", busy <= 2*quiet
	own := line("the server's own memory (RssAnon) after the searches", inMiB(f.anon))
	if name == "embedded" {
		own.bound, own.ok = "≤ "+inMiB(anonMost), f.anon <= anonMost
	}
	return append(rows, during, own,
		line("run with two tools, p95 (p50)", fmt.Sprintf(
			"%s (%s)", inMilliseconds(quantileOf(f.runs, .95)), inMilliseconds(quantileOf(f.runs, .5)),
		)),
		line("a run in PostgreSQL", cmp.Or(f.database, "–")),
		line("memory after that; at most while ingesting", f.memory+"; "+inMiB(f.peak)),
		line("disk", f.disk),
	)
}

// waitEmbedded waits until the embeddings of every document are computed. It polls every half second. A document
// whose embeddings fail permanently is waited for until ctx ends.
func waitEmbedded(ctx context.Context, server *process) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		_, left, err := tallyPassages(ctx, server)
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

// tallyPassages counts the passages of the library, and the documents without embeddings. It reads the list in
// pages of a thousand documents.
func tallyPassages(ctx context.Context, server *process) (passages, left int, err error) {
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
