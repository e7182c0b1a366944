//go:build linux

// Command faults runs three replicas of the real program behind nginx, on a real PostgreSQL and a real Milvus. It
// injects faults under a load of questions and documents, and counts invariant violations. docs/reliability.md has
// the results.
//
//	make faults                                    everything; it fetches and starts what it needs
//	go run ./e2e/faults -only 'Milvus' -clock=false  only cells whose name fits, after make build
//
// It takes about half an hour, and as root it tests full disks as well. It prints a table to standard output: a row
// for each fault, with the number of runs and of each violation (counts in cell.go). Below it are the problems of
// each cell in words, ten at most, and “N passed, N failed”. Progress is written to standard error. It exits with 1
// if a cell failed or a process could not be started.
//
// A cell (cell.go) is one fault and the results of the questions and documents in flight. Its action is an act:
// cells.go has most and the list of all, kill.go and die.go kill replicas, clock.go has a clock jump, disk.go fills
// a disk, bucket.go disconnects an object store. rig.go starts all processes with process.go; link.go is the faulty
// proxy between a replica and a dependency; model.go is the scripted model and the tool whose effects are counted.
// follow.go and documents.go check the invariants: they stream each run's events like a browser and search for each
// part of each document.
//
// It must never touch processes that it did not start: all servers are its own, on loopback and in its own
// directories, and the machine's clock and disks stay unchanged. A test of this package runs some of the cells with
// a shorter lease.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/footnote/footnote/corpus/milvus/milvustest"
)

func main() {
	binary := flag.String("binary", "bin/footnote", "the program to try")
	rounds := flag.Int("rounds", 50, "how often a replica is killed at each of the fail points")
	most := flag.Duration("kill-time", 20*time.Minute, "the longest that the kills may take")
	only := flag.String("only", "", "a regular expression: only cells whose name it fits")
	clock := flag.Bool(
		"clock", true, "build the program once more, with a clock that can be off; takes minutes the first time",
	)
	lite := flag.Bool("lite", false, "use the small Milvus instead of the whole one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	kind := milvustest.Standalone
	if *lite {
		kind = milvustest.Lite
	}
	failed, err := runPlans(ctx, *binary, kind, *only, *rounds, *most, *clock)
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
	}
	if err != nil || failed > 0 {
		os.Exit(1)
	}
}

// runPlans builds the list of cells, filters it by name and by the need for root, runs the rest, and prints the
// table. failed is the number of failed cells; err means that a process could not be started.
func runPlans(
	ctx context.Context, binary string, kind milvustest.Kind, only string, rounds int, most time.Duration, clock bool,
) (failed int, err error) {
	fits, err := regexp.Compile(only)
	if err != nil {
		return 0, err
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return 0, err
	}
	log := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
	}
	kill := func(rounds int, most time.Duration) act {
		return func(ctx context.Context, g *rig, c *cell) error {
			return killReplicas(ctx, g, c, failPoints(), rounds, most)
		}
	}
	plans := []plan{
		{"kill -9 of a replica", kill(rounds, most)},
		{"two replicas die and stay away", killTwo},
		{"one process with SQLite: kill -9", byItself(false, kill(max(1, rounds/5), most/4))},
	}
	if clock {
		dir, err := os.MkdirTemp("", "footnote-clock-*")
		if err != nil {
			return 0, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		log("building the program with a clock that can be off")
		off, err := buildClock(ctx, dir)
		if err != nil {
			return 0, err
		}
		plans = append(plans, plan{"a replica's clock jumps an hour ahead", clockOff(off, time.Hour)}, plan{
			"a replica's clock jumps an hour back", clockOff(off, -time.Hour),
		})
	}
	var chosen []plan
	for _, p := range append(append(plans, dependencyPlans()...), linkPlans()...) {
		switch {
		case !fits.MatchString(p.name):
		case os.Geteuid() != 0 && strings.Contains(p.name, "disk"):
			log("left out, since it needs root: %s", p.name)
		default:
			chosen = append(chosen, p)
		}
	}
	cells, err := tryPlans(ctx, binary, kind, chosen, log)
	return printReport(os.Stdout, cells), err
}

// tryPlans runs the plans in order on one rig, whose replicas have additional settings.
//
// more are settings as NAME=value. Between two cells it waits until all replicas are healthy, so that a fault is
// not attributed to the next cell. If they do not recover, it ends with err, and cells has the results so far. If
// the model's server got a request that a provider would refuse, it adds another failed cell.
func tryPlans(
	ctx context.Context, binary string, kind milvustest.Kind, plans []plan, log func(string, ...any), more ...string,
) (cells []*cell, err error) {
	log("starting PostgreSQL, %s and three replicas", kind)
	g, err := newRig(ctx, binary, kind, log, more...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if fault := g.outside.faults; len(fault) > 0 {
			last := newCell("what the model's server was asked")
			last.noteProblem("%d requests that a provider would refuse, such as: %s", len(fault), fault[0])
			cells = append(cells, last)
		}
		if closed := g.close(); err == nil {
			err = closed
		}
	}()
	if err := g.stockLibrary(ctx); err != nil {
		return nil, err
	}
	log("everything runs")
	for _, p := range plans {
		if ctx.Err() != nil {
			return cells, ctx.Err()
		}
		if err := g.waitCalm(ctx); err != nil {
			return cells, err
		}
		c := newCell(p.name)
		cells = append(cells, c)
		log("%s", p.name)
		if err := p.act(ctx, g, c); err != nil {
			c.noteProblem("%v", err)
		}
		c.settleRuns(log)
	}
	return cells, nil
}

// settleRuns waits until the cell's runs and documents have ended, each with its timeout, so that the next cell's
// fault does not affect them. Its counts are final after this.
func (c *cell) settleRuns(log func(string, ...any)) {
	c.wg.Wait()
	c.seconds = time.Since(c.began).Seconds()
	if !c.hasPassed() {
		log("  failed: %q", c.problems)
		return
	}
	log("  passed after %.0f s: %s", c.seconds, c.describeEndings())
}

// printReport prints the table and returns the number of failed cells. A cell fails with a non-zero count or a
// problem.
func printReport(out io.Writer, cells []*cell) (failed int) {
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "cell\truns\tlost\tdoubled\tdisordered\tendless\ttwice\thalf-indexed\tseconds\tended\t")
	for _, c := range cells {
		n, mark := c.counts, ""
		if !c.hasPassed() {
			failed++
			mark = "FAILED"
		}
		ended := c.describeEndings()
		if c.takes > 0 {
			ended += fmt.Sprintf("; the end of %d logs was taken back, and their readers told", c.takes)
		}
		if c.taken > 0 {
			ended += fmt.Sprintf("; %d taken over, after %.1f s at the latest", c.taken, c.latest.Seconds())
		}
		if c.slowest > 0 {
			ended += fmt.Sprintf("; slowest refusal %.1f s", c.slowest.Seconds())
		}
		fmt.Fprintf(
			table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%s\t%s\n", c.name, n.runs, n.lost, n.doubled, n.disordered,
			n.endless, n.twice, n.half, c.seconds, ended, mark,
		)
	}
	_ = table.Flush() // the output may be closed; the exit code has the result
	for _, c := range cells {
		for i, p := range c.problems {
			if i == 10 {
				fmt.Fprintf(out, "%s: and %d more\n", c.name, len(c.problems)-i)
				break
			}
			fmt.Fprintf(out, "%s: %s\n", c.name, p)
		}
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", len(cells)-failed, failed)
	return failed
}
