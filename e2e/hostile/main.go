//go:build linux

// Command hostile attacks the real program: with files that are disproportionately expensive to parse, answers that
// are expensive to render, and floods of one user. Meanwhile another user sends questions and /health is polled. It
// prints a table with peak memory, disk usage and maximum latencies, and ends with "N passed, N failed".
// docs/security.md has the results. Everything stays on the loopback interface. With -postgres each cell has a
// database on a PostgreSQL server of its own.
//
//	make hostile                                     builds the program and tries everything
//	go run ./e2e/hostile -only 'PDF' -postgres       only cells whose name fits, kept in PostgreSQL
//
// The table is in Markdown and written to standard output, progress to standard error. It exits with 1 if a cell
// failed or a process could not be started, and with 2 for a wrong -only.
//
// A cell is one attack. files.go, pdfs.go, pictures.go and several.go have files; answers.go, inputs.go and
// tables.go rendered texts; webpages.go, places.go, listings.go and outside.go responses of external servers, and
// internal addresses; floods.go, turns.go, programs.go and readers.go attacks on the server itself. site.go creates
// the target of each: a server on an empty data directory, a scripted model, and keys. result.go has the limits of
// all cells, and the bystander who must not be affected; process.go and disk.go measure.
//
// It must never send a request outside this machine: the “inside” of an attack is a server of this program, and
// addresses of real networks must be refused before a connection is opened. It kills only processes that it
// started. It requires Linux, since it reads /proc.
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

// cell is one attack. act returns the outcome in a few words; violations are noted in the result.
//
// The limits of result.go are checked for each cell, whatever act does. An error of act makes the cell fail as
// well.
type cell struct {
	name string
	keys bool     // the server requires keys, so that limits per user apply
	env  []string // additional settings of the server
	act  func(ctx context.Context, s *site, r *result) (outcome string, err error)
}

// allCells returns all cells, one family after another, in the table's order.
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

// tryCells runs the cells in order, each on its own server and data directory, and returns the results until ctx
// ended.
//
// The program is copied first, so that a concurrent build changes nothing, and the cell that removes it does not
// affect others. An error ends it; a failed cell is not an error.
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

// printReport prints the table and the closing line, and returns the number of failed cells. The table is in
// Markdown, so that it can be copied into docs/security.md.
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
