// Package steps reads the steps of a database's schema, which are files in the program.
package steps

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Step is one step of the schema. Steps only go forward, and one that was released is never edited.
type Step struct {
	Number int // from 1
	Name   string
	Script string
}

// Read returns the steps in dir, files named NNN_name.sql, in order. Their numbers must be 1, 2, 3 and so on.
func Read(files fs.FS, dir string) ([]Step, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	var steps []Step
	for _, entry := range entries {
		number, _, _ := strings.Cut(entry.Name(), "_")
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("migrations: %s does not begin with a number", entry.Name())
		}
		script, err := fs.ReadFile(files, dir+"/"+entry.Name())
		if err != nil {
			return nil, fmt.Errorf("migrations: %w", err)
		}
		steps = append(steps, Step{Number: n, Name: strings.TrimSuffix(entry.Name(), ".sql"), Script: string(script)})
	}
	slices.SortFunc(steps, func(a, b Step) int { return cmp.Compare(a.Number, b.Number) })
	for i, step := range steps {
		if step.Number != i+1 {
			return nil, fmt.Errorf("migrations: %s should have the number %d", step.Name, i+1)
		}
	}
	return steps, nil
}
