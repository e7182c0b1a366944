//go:build linux

// Command hostile runs the real program and gives it what is made to hurt: files whose reading grows out of
// proportion, answers that are expensive to draw, and one user's floods. Meanwhile another user asks and /health is
// looked at. It prints a table with peak memory, disk and the worst latencies, and ends with "N passed, N failed".
// docs/security.md has what it found. Everything stays on the loopback interface. With -postgres each cell has a
// database on a PostgreSQL server of its own.
//
//	make hostile                                     builds the program and tries everything
//	go run ./e2e/hostile -only 'PDF' -postgres       only cells whose name fits, kept in PostgreSQL
//
// The table is in Markdown and goes to standard output, progress to standard error. It exits with 1 when a cell failed
// or something could not be started, and with 2 for a wrong -only.
//
// A cell is one attack. files.go, pdfs.go, pictures.go and several.go have files; answers.go, inputs.go and tables.go
// texts that are drawn; webpages.go, places.go, listings.go and outside.go what servers elsewhere answer, and addresses
// that lead inside; floods.go, turns.go, programs.go and readers.go what is about the server itself. site.go makes what
// each is tried on:
// a server of its own on an empty data directory, a scripted model, and keys. result.go has the bounds that hold for
// all cells, and the bystander who must not notice; process.go and disk.go measure.
//
// It must never reach anything outside this machine: what is “inside” for an attack is a server of this program, and
// addresses of real networks must be refused before anybody connects to them. It kills only processes that it started.
// It needs Linux, for it reads /proc.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

func main() {
	binary := flag.String("binary", "bin/footnote", "the program to try")
	only := flag.String("only", "", "a regular expression: only cells whose name it fits")
	postgres := flag.Bool(
		"postgres", false, "keep everything in a PostgreSQL server, which is started for it, instead of SQLite",
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fits, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(2)
	}
	logf := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
	}
	var chosen []cell
	for _, c := range allCells() {
		if fits.MatchString(c.name) {
			chosen = append(chosen, c)
		}
	}
	results, err := tryCells(ctx, *binary, *postgres, chosen, logf)
	failed := printReport(os.Stdout, results)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
	}
	if err != nil || failed > 0 {
		os.Exit(1)
	}
}

// cell is one attack. act returns what happened in a few words; what must not happen is told to the result.
//
// The bounds of result.go are held for each cell, whatever act does. An error that act returns makes the cell fail as
// well.
type cell struct {
	name string
	keys bool     // the server asks for keys, so that limits per user hold
	env  []string // further settings of the server
	act  func(ctx context.Context, s *site, r *result) (outcome string, err error)
}

// allCells returns all cells, a family after the other. The order is that of the table.
func allCells() []cell {
	return slices.Concat(
		fileCells(),
		severalCells(),
		readerCells(),
		pictureCells(),
		answerCells(),
		contextCells(),
		titleCells(),
		responseCells(),
		tableCells(),
		toolCells(),
		pageCells(),
		floodCells(),
		turnCells(),
		programCells(),
		placeCells(),
		listingCells(),
		boundaryCells(),
	)
}

// tryCells tries the cells one after the other, each on a server and a data directory of its own, and returns what
// was measured until ctx ended.
//
// The program is copied first, so that a build meanwhile changes nothing, and the cell in which it is taken away does
// not take it from others. An error ends it: a cell that fails is no error.
func tryCells(
	ctx context.Context, binary string, withPostgres bool, cells []cell, logf func(string, ...any),
) (results []*result, err error) {
	dir, err := os.MkdirTemp("", "footnote-hostile-*")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w := &tried{binary: filepath.Join(dir, "footnote"), cache: filepath.Join(dir, "cache")}
	if err := os.Mkdir(w.cache, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	program, err := os.ReadFile(binary)
	if err == nil {
		err = os.WriteFile(w.binary, program, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("copy the program: %w", err)
	}
	if withPostgres {
		if w.postgres, err = postgrestest.StartOwn(ctx); err != nil {
			return nil, fmt.Errorf("start PostgreSQL: %w", err)
		}
		defer func() { err = errors.Join(err, w.postgres.Stop()) }()
	}
	// The bystander's questions are stored as well, and must not count as the attack's.
	if w.question, err = storedByQuestion(ctx, w); err != nil {
		return nil, fmt.Errorf("measure what a question stores: %w", err)
	}
	for _, c := range cells {
		logf("%s", c.name)
		r, err := tryCell(ctx, w, c)
		if err != nil || ctx.Err() != nil {
			return results, errors.Join(err, ctx.Err())
		}
		results = append(results, r)
		for _, p := range r.problems {
			logf("  FAILED: %s", p)
		}
	}
	return results, nil
}

// printReport prints the table and the closing line, and returns how many cells failed. The table is in Markdown, so
// that it can be copied into docs/security.md.
func printReport(w io.Writer, results []*result) (failed int) {
	fmt.Fprintln(
		w,
		"| cell | input, MiB | server above idle, MiB | largest worker, MiB | disk, MiB | worst /health, ms | worst "+
			"question, ms | seconds | what happened |",
	)
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	for _, r := range results {
		fmt.Fprintln(w, r.tableRow())
		if len(r.problems) > 0 {
			failed++
		}
	}
	for _, r := range results {
		for _, p := range r.problems {
			fmt.Fprintf(w, "\nFAILED %s: %s\n", r.name, p)
		}
	}
	fmt.Fprintf(w, "\n%d passed, %d failed\n", len(results)-failed, failed)
	return failed
}
