// Command bench compares Footnote with a bare relay in one run, and prints ratios. The fake model server, the relay
// and Footnote are separate processes, so that CPU and memory are measured for each.
//
// It measures Footnote's overhead over a program that only forwards the model's output, and checks the limits of
// speed and memory. Ratios are preferred, since they are valid on other machines too: both sides are measured
// alternately.
//
//	make bench                                   builds the program, and measures what needs no other server
//	go run ./e2e/bench -only single,many -quick  shows that it works; its figures mean little
//	make bench-replicas, bench-scale, recall     scenes that need PostgreSQL, Milvus or a model
//
// It prints a table to standard output with a row for each figure: its name, the limit, the result, and “missed” if
// the limit is exceeded. The names of scenes are written to standard error. It exits with 1 if a scene fails, and
// with 0 if limits are exceeded, which the reader must judge. docs/performance.md and docs/scale.md are written
// from these tables.
//
// Files: main.go has the scenes and the table. process.go starts and stops programs and reads their resource usage
// from /proc, so the bench runs only on Linux. load.go sends questions, library.go generates documents and
// searches, model.go and relay.go are the fake model and the baseline, which are this same program with another
// first argument. The others have a scene each: runs.go, streams.go, start.go, pdf.go, turns.go, embedding.go,
// recall.go; scale*.go compare the modes with a large library, and fleet.go and replicas*.go one replica with
// three.
//
// It never uses an existing library: each scene creates its data in a new directory below TMPDIR and removes it. It
// never sends requests to a real model server; the scenes embedding and recall use the model in the folder
// FOOTNOTE_EMBEDDING_DIR.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// scene is one measurement, which returns its rows. Rows before an error are printed too.
type scene struct {
	name  string
	run   func(ctx context.Context, b *bench) ([]row, error)
	apart bool // run only if selected by name
}

// row is one figure with its limit. what, bound and got are formatted texts. ok reports whether got is within
// bound; informational rows have no bound or “–”, and are always ok.
type row struct {
	what  string
	bound string
	got   string
	ok    bool
}

// bench holds the flags. It is read-only for scenes.
type bench struct {
	binary string
	quick  bool
	delay  int // ms per token, for the paced scenes

	cpuProfile, memProfile string // files for the scene profile; empty: none

	// They are nil unless the flags are set; benchScale has the defaults.
	passages []int    // library sizes, for the scene scale
	shapes   []string // storage shapes
}

// Scenes with apart take long, or need programs that make must download first: PostgreSQL, Milvus or an embedding
// model. “replicas” runs the next four, which can also be run individually.
var scenes = []scene{
	{name: "single", run: benchSingle},
	{name: "many", run: benchMany},
	{name: "paced", run: benchPaced},
	{name: "idle", run: benchIdle},
	{name: "corpus", run: benchSearch},
	{name: "pdf", run: benchPDF},
	{name: "start", run: benchStart},
	{name: "turns", run: benchTurns},
	{name: "scale", run: benchScale, apart: true},
	{name: "replicas", run: benchReplicas, apart: true},
	{name: "unpaced", run: benchUnpaced, apart: true}, // parts of replicas
	{name: "hundred", run: benchHundred, apart: true},
	{name: "crowded", run: benchCrowded, apart: true},
	{name: "followed", run: benchFollowed, apart: true},
	{name: "words", run: benchWords, apart: true},
	{name: "recall", run: benchRecall, apart: true},
	{name: "embedding", run: benchEmbedding, apart: true},
	{name: "profile", run: benchProfile, apart: true},
}

func main() {
	// The fake model and the relay are this binary, started by startSelf, so they need no build.
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "role-model":
			os.Exit(reportError(serveModel(os.Args[2:])))
		case "role-relay":
			os.Exit(reportError(serveRelay(os.Args[2:])))
		}
	}
	only := flag.String(
		"only", "",
		"comma-separated scenes: single, many, paced, idle, corpus, pdf, start, turns, and those left out unless "+
			"they are named: scale, recall, embedding, replicas (or its parts: unpaced, hundred, crowded, followed), "+
			"words, profile",
	)
	b := &bench{}
	flag.StringVar(&b.binary, "binary", "bin/footnote", "the Footnote binary to measure")
	flag.StringVar(&b.cpuProfile, "cpuprofile", "", "file for a CPU profile of the scene profile")
	flag.StringVar(&b.memProfile, "memprofile", "", "file for an allocation profile of that scene")
	flag.BoolVar(&b.quick, "quick", false, "fewer repetitions: shows that it works, the figures mean little")
	flag.Func("passages", "sizes of the library for the scene scale (default 10000,100000)", func(list string) error {
		b.passages = nil
		for size := range strings.SplitSeq(list, ",") {
			n, err := strconv.Atoi(size)
			if err != nil || n < passagesEach || n > 1_000_000 {
				return fmt.Errorf("sizes go from %d to 1000000", passagesEach)
			}
			b.passages = append(b.passages, n)
		}
		return nil
	})
	flag.Func("shapes", "what the scene scale measures (default embedded,servers)", func(list string) error {
		b.shapes = strings.Split(list, ",")
		return nil
	})
	flag.Parse()
	// An interrupt ends the running scene, stops its processes, and removes its directory.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(reportError(b.runAll(ctx, *only)))
}

// reportError prints an error, if any, and returns the exit code.
func reportError(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

// runAll runs the scenes listed in only, or all without apart, in the order of scenes. The first error ends it.
func (b *bench) runAll(ctx context.Context, only string) (err error) {
	table := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	defer func() { err = errors.Join(err, table.Flush()) }()
	fmt.Fprintln(table, "what\tasked\tmeasured\t")
	for _, s := range scenes {
		if only == "" && s.apart || only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring:", s.name)
		rows, err := s.run(ctx, b)
		for _, r := range rows {
			mark := ""
			if !r.ok {
				mark = "missed"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.what, r.bound, r.got, mark)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		// Columns are aligned within one scene, so that its rows are printed at once.
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// scaleTimes returns n, or for a quick run a twentieth, at least 1.
func (b *bench) scaleTimes(n int) int {
	if b.quick {
		return max(1, n/20)
	}
	return n
}
