// Command bench measures Footnote beside a bare relay in one run, and prints ratios. The fake model server, the relay
// and Footnote are processes of their own, so that each one's CPU and memory can be told apart.
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

// scene is one measurement. It returns its rows.
type scene struct {
	name  string
	run   func(ctx context.Context, b *bench) ([]row, error)
	apart bool // run only when it is asked for by name
}

// row is one figure beside what was asked for.
type row struct {
	what  string
	bound string
	got   string
	ok    bool
}

type bench struct {
	binary string
	quick  bool
	delay  int // ms a token, for the paced scenes

	passages []int    // sizes of the library, for the scene scale
	shapes   []string // what it is measured on
	picture  string   // the file for its curves; none if empty
}

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
}

func main() {
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
			"words",
	)
	b := &bench{}
	flag.StringVar(&b.binary, "binary", "bin/footnote", "the Footnote binary to measure")
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
	flag.StringVar(&b.picture, "picture", "", "the file for an SVG of the scene scale's curves in the embedded mode")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(reportError(b.runAll(ctx, *only)))
}

func reportError(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

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
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// scaleTimes returns n, or fewer when the run is to be quick.
func (b *bench) scaleTimes(n int) int {
	if b.quick {
		return max(1, n/20)
	}
	return n
}
