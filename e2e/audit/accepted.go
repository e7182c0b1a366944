package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

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
