package main

import (
	"cmp"
	"fmt"
	"time"
)

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

// figureRows are the figures of one shape.
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
		line("start to healthy; first hybrid search", inMilliseconds(f.start)+"; "+inMilliseconds(f.first)),
	}
	for _, mode := range []string{"lexical", "hybrid"} {
		p95 := quantileOf(f.searches[mode], .95)
		one := line(
			mode+" search, p95 (p50)",
			fmt.Sprintf("%s (%s)", inMilliseconds(p95), inMilliseconds(quantileOf(f.searches[mode], .5))),
		)
		one.bound, one.ok = "≤ "+searchMost.String(), p95 <= searchMost
		rows = append(rows, one)
	}
	if f.atRest != nil {
		rows = append(rows,
			line("hybrid search with Milvus' index built, p95 (p50)", fmt.Sprintf("%s (%s), %.1f s after a flush",
				inMilliseconds(quantileOf(f.atRest, .95)), inMilliseconds(quantileOf(f.atRest, .5)),
				f.indexTime.Seconds())))
	}
	return append(rows,
		line("run with two tools, p95 (p50)", fmt.Sprintf(
			"%s (%s)", inMilliseconds(quantileOf(f.runs, .95)), inMilliseconds(quantileOf(f.runs, .5)),
		)),
		line("a run in PostgreSQL", cmp.Or(f.database, "–")),
		line("memory after that; at most while ingesting", f.memory+"; "+inMiB(f.peak)),
		line("disk", f.disk),
	)
}
