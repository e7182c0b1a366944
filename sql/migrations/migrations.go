// Package migrations reads the migrations of a database's schema, which are SQL files embedded in the program.
package migrations

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Migration is one step of the schema. Migrations only go forward, and one that was released is never edited.
type Migration struct {
	Number int // from 1
	Name   string
	Script string
}

// Read returns the migrations in dir, files named NNN_name.sql, in order. Their numbers must be 1, 2, 3 and so on.
func Read(files fs.FS, dir string) ([]Migration, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	var all []Migration
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
		all = append(all, Migration{Number: n, Name: strings.TrimSuffix(entry.Name(), ".sql"), Script: string(script)})
	}
	slices.SortFunc(all, func(a, b Migration) int { return cmp.Compare(a.Number, b.Number) })
	for i, m := range all {
		if m.Number != i+1 {
			return nil, fmt.Errorf("migrations: %s should have the number %d", m.Name, i+1)
		}
	}
	return all, nil
}
