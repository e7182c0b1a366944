// Command audit scans the program's dependencies for known vulnerabilities: Go packages with govulncheck, those of
// the page and the tests with npm. It fails for a vulnerability that is not accepted, and for an expired
// acceptance. An unreachable database is reported in a line and is not a failure, since it is no statement about
// the program.
//
//	make audit                        has what it needs and runs this
//
// It prints to standard output: a line for each acceptance that is past its day; for Go and for npm a line with the
// counts of accepted and other vulnerabilities, and the database; and below it each that is not accepted. It exits
// with 1 when it fails. main.go parses the list, govulncheck.go and npm.go query the databases. It changes no file:
// findings are resolved by hand.
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

// errNotAsked means that a database could not be reached, so the result is unknown.
var errNotAsked = errors.New("could not be asked, so nothing is known")

// finding is a vulnerability of a dependency's version. It is comparable, so that duplicates can be removed with a
// map.
type finding struct {
	id      string // GO-… of Go's database, GHSA-… of npm's
	module  string // a Go module, "stdlib", or an npm package
	version string // the version in use, or for npm the affected range
	fixed   string // the first fixed version; empty if unknown
	summary string
}

// String formats the finding as one line.
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

// report is the result of a database. findings includes accepted ones.
type report struct {
	database string // the database and its date
	findings []finding
}

// tellOverdue prints the expired acceptances, and reports whether none has expired.
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

// tell prints the findings that are not accepted, and reports whether the check passes. errNotAsked passes, any
// other error fails.
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

// acceptance is a line of the list: a vulnerability that is accepted until a day, with a reason.
//
// The list is a file in the repository that is edited by hand. Each line has an expiry, so no acceptance is
// permanent.
type acceptance struct {
	id, module string
	on, until  time.Time // days; the check fails after the second
	why        string
}

// overdue reports whether the acceptance has expired. It is valid on its last day; days are in UTC.
func (a acceptance) overdue(now time.Time) bool { return !now.Before(a.until.AddDate(0, 0, 1)) }

// readAccepted parses the list in a file. Its errors start with the file's name and the line number, the format
// that editors parse.
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

// parseAccepted parses one acceptance per line: id, module, day of acceptance, last day, and reason, separated by
// spaces. Empty lines and lines that start with # are skipped. Its errors start with the line number. Days have the
// format 2006-01-02. A line with fewer than five fields, or with a last day before its first, is an error, and then
// no acceptance is returned.
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

// covers reports whether the list contains the vulnerability in that module. Both must be equal: the same
// vulnerability in another module needs another line.
func covers(accepted []acceptance, f finding) bool {
	for _, a := range accepted {
		if a.id == f.id && a.module == f.module {
			return true
		}
	}
	return false
}
