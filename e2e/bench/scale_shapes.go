package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// shape is one way to keep a library. open starts what the shape needs beside Footnote itself; dir is an empty
// directory for all of it.
type shape struct {
	name string
	open func(ctx context.Context, b *bench, dir string) (*library, error)
}

// Both use the same fake embedding model.
var shapes = []shape{{"embedded", openEmbeddedLibrary}, {"servers", openServersLibrary}}

// library is a data directory, and the servers beside it if there are any. env are the settings that make Footnote use
// them.
type library struct {
	dir     string
	model   *process
	servers *servers // nil in the embedded mode
	env     []string
}

// openEmbeddedLibrary needs the fake model alone: all data are in Footnote's own directory.
func openEmbeddedLibrary(ctx context.Context, _ *bench, dir string) (l *library, err error) {
	l = &library{dir: dir, env: []string{"OPENAI_EMBEDDING_MODEL=bench"}}
	l.model, err = startModel(ctx, 0)
	return l, err
}

// openServersLibrary starts PostgreSQL and Milvus as well, and keeps originals in a folder below dir, so that diskUsed
// counts them with Footnote's own.
func openServersLibrary(ctx context.Context, b *bench, dir string) (*library, error) {
	l, err := openEmbeddedLibrary(ctx, b, dir)
	if err != nil {
		return nil, err
	}
	if l.servers, err = startServers(ctx); err != nil {
		return nil, errors.Join(err, l.model.stop())
	}
	l.env = append(l.env, l.servers.serverSettings(filepath.Join(dir, "originals"))...)
	return l, nil
}

// close ends the model and the servers. Footnote itself has to have ended before.
func (l *library) close() error {
	err := l.model.stop()
	if l.servers != nil {
		err = errors.Join(err, l.servers.stop())
	}
	return err
}

// memoryHeld says how much the server and what it needs hold now. For the servers it counts all of their processes;
// the fake model is not counted. The text has each part and the sum.
func (l *library) memoryHeld(server *process) string {
	own := server.memoryField("VmRSS")
	if l.servers == nil {
		return inMiB(own)
	}
	postgres, milvus := treeMemory(l.servers.postgres.Pid()), treeMemory(l.servers.milvus.Pid())
	return fmt.Sprintf(
		"%s, PostgreSQL %s, Milvus %s: %s", inMiB(own), inMiB(postgres), inMiB(milvus), inMiB(own+postgres+milvus),
	)
}

// diskUsed says how much lies on the disk. PostgreSQL's write-ahead log is named apart: it grows to a limit and is
// reused, so it is not the library's size.
func (l *library) diskUsed() (string, error) {
	own, err := diskUse(l.dir)
	if err != nil || l.servers == nil {
		return inMiB(own), err
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
	return fmt.Sprintf(
		"%s, PostgreSQL %s and %s of WAL, Milvus %s: %s", inMiB(own), inMiB(database-wal), inMiB(wal), inMiB(vectors),
		inMiB(own+database+vectors),
	), err
}

// inMiB cuts to whole MiB.
func inMiB(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// curve is a figure over the sizes of the library. of takes the value that is drawn out of the figures of one size.
type curve struct {
	name, colour string
	of           func(figures) time.Duration
}

// The order is that of the legend. The colours can be told apart on white, also in print.
var curves = []curve{
	{"first hybrid search after a start", "#8a4300", func(f figures) time.Duration { return f.first }},
	{"hybrid, p95, while documents come in", "#b0261e",
		func(f figures) time.Duration { return quantileOf(f.busy, .95) }},
	{"hybrid, p95", "#2450be", func(f figures) time.Duration { return quantileOf(f.searches["hybrid"], .95) }},
	{"by words, p95", "#17693f", func(f figures) time.Duration { return quantileOf(f.searches["lexical"], .95) }},
}

// The picture's sizes in pixels. The plot is on the left and the legend to the right of it. The picture is 720 wide
// and 400 high.
const (
	pictureWidth, pictureHeight = 720, 400
	plotLeft, plotRight         = 70, 450
	plotTop, plotBottom         = 20, 350
)

// drawScale writes an SVG of the curves: passages and milliseconds, both by powers of ten.
//
// all are the figures of the embedded mode, from the smallest library to the largest; without any it writes nothing.
// Axes begin and end at a power of ten. The file is written over if it exists.
func drawScale(path string, all []figures) error {
	if len(all) == 0 {
		return nil
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, f := range all {
		for _, c := range curves {
			ms := math.Log10(float64(c.of(f)) / 1e6)
			least, most = min(least, math.Floor(ms)), max(most, math.Ceil(ms))
		}
	}
	first := math.Floor(math.Log10(float64(all[0].passages)))
	last := math.Ceil(math.Log10(float64(all[len(all)-1].passages)) - 0.1) // a size is not met to the passage
	last = max(last, first+1)
	// Both axes are logarithmic, and y grows downwards in SVG.
	x := func(passages float64) float64 {
		return plotLeft + (math.Log10(passages)-first)/(last-first)*(plotRight-plotLeft)
	}
	y := func(ms float64) float64 {
		return plotBottom - (math.Log10(ms)-least)/(most-least)*(plotBottom-plotTop)
	}
	var svg strings.Builder
	fmt.Fprintf(&svg,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">
<rect width="100%%" height="100%%" fill="#fff"/>
`, pictureWidth, pictureHeight)
	for power := least; power <= most; power++ {
		ms := math.Pow(10, power)
		fmt.Fprintf(&svg, `<path d="M%d %.1fH%d" stroke="#e5e5df"/><text x="%d" y="%.1f" text-anchor="end">%g ms</text>
`, plotLeft, y(ms), plotRight, plotLeft-8, y(ms)+4, ms)
	}
	for power := first; power <= last; power++ {
		passages := math.Pow(10, power)
		fmt.Fprintf(&svg,
			`<path d="M%.1f %dV%d" stroke="#e5e5df"/><text x="%.1f" y="%d" text-anchor="middle">%.0f</text>
`, x(passages), plotTop, plotBottom, x(passages), plotBottom+20, passages)
	}
	fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="middle">passages</text>
`, (plotLeft+plotRight)/2, plotBottom+42)
	for i, c := range curves {
		points := make([]string, len(all))
		for j, f := range all {
			points[j] = fmt.Sprintf("%.1f,%.1f", x(float64(f.passages)), y(float64(c.of(f))/1e6))
		}
		fmt.Fprintf(&svg, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>
`, strings.Join(points, " "), c.colour)
		for _, point := range points {
			cx, cy, _ := strings.Cut(point, ",")
			fmt.Fprintf(&svg, `<circle cx="%s" cy="%s" r="3.5" fill="%s"/>
`, cx, cy, c.colour)
		}
		fmt.Fprintf(&svg, `<path d="M%d %dh18" stroke="%s" stroke-width="2"/><text x="%d" y="%d">%s</text>
`, plotRight+14, plotTop+20+24*i, c.colour, plotRight+38, plotTop+24+24*i, c.name)
	}
	svg.WriteString("</svg>\n")
	return os.WriteFile(path, []byte(svg.String()), 0o644) //nolint:gosec // a picture for everybody
}
