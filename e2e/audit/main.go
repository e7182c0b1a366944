// Command audit asks whether known vulnerabilities are in what the program is made of: govulncheck for Go's packages,
// npm for those of the page and of the tests. It fails when one is there that nobody accepted, and when an acceptance
// is past its last day. A database that can't be asked is said in a line and fails nothing: that says nothing about the
// program.
//
//	make audit                        has what it needs and runs this
//
// It prints to standard output: a line for each acceptance that is past its day; for Go and for npm a line with how
// many are not accepted, how many are, and which database said so; and below it each that is not accepted. It exits
// with 1 when it fails. main.go reads the list, govulncheck.go and npm.go ask. It changes no file: what to do
// about a finding is for people.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
)

// errNotAsked means that a database could not be reached, so that nothing is known.
var errNotAsked = errors.New("could not be asked, so nothing is known")

// finding is a vulnerability of a version that is used. It can be the key of a map, so that what is found twice is
// told once.
type finding struct {
	id      string // GO-… of Go's database, GHSA-… of npm's
	module  string // a Go module, "stdlib", or a package of npm
	version string // the one in use, or for npm the range of those that have it
	fixed   string // the first version without it; empty if none is known
	summary string
}

// String is the finding in one line, as it is printed.
func (f finding) String() string {
	text := f.id + " " + f.module + " " + f.version
	if f.fixed != "" {
		text += ", repaired in " + f.fixed
	}
	return text + ": " + f.summary
}

func main() {
	govulncheck := flag.String("govulncheck", "", "program that reads Go's packages")
	tags := flag.String("tags", "", "build tags, with those that only some builds have")
	list := flag.String("accepted", "", "file of the vulnerabilities that were accepted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	accepted, err := readAccepted(*list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "audit:", err)
		os.Exit(1)
	}
	today := time.Now().UTC()
	ok := tellOverdue(os.Stdout, accepted, today)
	inGo, err := goFindings(ctx, *govulncheck, *tags)
	ok = tell(os.Stdout, "govulncheck", inGo, err, accepted) && ok
	inNPM, err := npmFindings(ctx)
	ok = tell(os.Stdout, "npm audit", inNPM, err, accepted) && ok
	if !ok {
		os.Exit(1)
	}
}

// report is what a database said. findings are all, also those that are accepted.
type report struct {
	database string // which one was asked, and how old it is
	findings []finding
}

// tellOverdue prints the acceptances whose day has passed, and says whether there were none.
func tellOverdue(out io.Writer, accepted []acceptance, today time.Time) bool {
	ok := true
	for _, a := range accepted {
		if a.overdue(today) {
			fmt.Fprintf(out, "%s %s was accepted until %s: look again\n", a.id, a.module, a.until.Format(time.DateOnly))
			ok = false
		}
	}
	return ok
}

// tell prints what was found and not accepted, or that nothing was, and says whether the check passes. An err that is
// errNotAsked passes, and any other fails.
func tell(out io.Writer, name string, said report, err error, accepted []acceptance) bool {
	if err != nil {
		fmt.Fprintf(out, "%s: %v\n", name, err)
		return errors.Is(err, errNotAsked)
	}
	var refused []finding
	for _, f := range said.findings {
		if !covers(accepted, f) {
			refused = append(refused, f)
		}
	}
	fmt.Fprintf(out, "%s: %d not accepted, %d accepted, by %s\n",
		name, len(refused), len(said.findings)-len(refused), said.database)
	for _, f := range refused {
		fmt.Fprintln(out, " ", f)
	}
	return len(refused) == 0
}

// acceptance is a line of the list: a vulnerability that may stay until a day, and why.
//
// The list is a file of the repository that people edit, so each line has a reason and an end: nothing is accepted for
// ever.
type acceptance struct {
	id, module string
	on, until  time.Time // days; the check fails after the second
	why        string
}

// overdue says whether the last day of the acceptance has passed. It may still be used on that day itself; days are
// those of UTC.
func (a acceptance) overdue(now time.Time) bool { return !now.Before(a.until.AddDate(0, 0, 1)) }

// readAccepted reads the list from a file. Its errors begin with the file's name and the number of the line, as
// editors expect it.
func readAccepted(name string) ([]acceptance, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	accepted, err := parseAccepted(string(raw))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return accepted, nil
}

// parseAccepted reads one acceptance a line: id, module, day of acceptance, last day, and why, apart by spaces. Empty
// lines and those that begin with # are left out. Its errors begin with the number of the line. Days have the form
// 2006-01-02. A line with fewer than five fields, or whose last day is before its first, is an error, and then nothing
// is accepted.
func parseAccepted(text string) ([]acceptance, error) {
	var accepted []acceptance
	number := 0
	for line := range strings.Lines(text) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 5 {
			return nil, fmt.Errorf("%d: want id, module, day of acceptance, last day, and why", number)
		}
		a := acceptance{id: fields[0], module: fields[1], why: strings.Join(fields[4:], " ")}
		var err error
		if a.on, err = time.Parse(time.DateOnly, fields[2]); err != nil {
			return nil, fmt.Errorf("%d: %w", number, err)
		}
		if a.until, err = time.Parse(time.DateOnly, fields[3]); err != nil {
			return nil, fmt.Errorf("%d: %w", number, err)
		}
		if a.until.Before(a.on) {
			return nil, fmt.Errorf("%d: the last day is before the acceptance", number)
		}
		accepted = append(accepted, a)
	}
	return accepted, nil
}

// covers says whether the list has the vulnerability in that module. Both must be equal: the same vulnerability in
// another module needs a line of its own.
func covers(accepted []acceptance, f finding) bool {
	for _, a := range accepted {
		if a.id == f.id && a.module == f.module {
			return true
		}
	}
	return false
}
