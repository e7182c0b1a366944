// Package migrations reads the schema migrations of a database: files NNN_name.sql. The stores run them; the package
// determines the pending ones, and the versions of the program that are compatible with a schema.
//
// There are only forward migrations. NNN_schema.sql contains the whole schema of version NNN, for an empty database.
// Any other file migrates version NNN-1 to NNN.
//
// To add a migration, add a file with the next number to the folders of sql/sqlite and sql/postgres, whose numbers are
// independent. In SQLite's schema file, make the same change and increase the number; a test of sql/sqlite compares
// both.
package migrations

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// Migration is one file. A released migration is never edited, except for the schema.
type Migration struct {
	Number int // the version after it
	Name   string
	Script string
}

// whole reports whether a migration creates the whole schema.
func (m Migration) whole() bool { return strings.HasSuffix(m.Name, "_schema") }

// place returns the place of a migration among all, with the schema after the step to its version.
func (m Migration) place() int {
	if m.whole() {
		return 2*m.Number + 1
	}
	return 2 * m.Number
}

// Read returns the migrations in dir, ordered by place. A gap or a duplicate in the
// numbers is an error.
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
		m := Migration{Number: n, Name: strings.TrimSuffix(entry.Name(), ".sql"), Script: string(script)}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Migration) int { return cmp.Compare(a.place(), b.place()) })
	for i := 1; i < len(all); i++ {
		want := all[i-1].Number + 1
		if m := all[i]; m.Number != want && (m.Number != want-1 || !m.whole()) {
			return nil, fmt.Errorf("migrations: %s should have the number %d", m.Name, want)
		}
	}
	return all, nil
}

// Newest returns the version after all migrations.
func Newest(all []Migration) int {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Number
}

// After returns the pending migrations of a database with a version; 0 is an empty database. It returns
// chat.CodeUnavailable for a database that is too old for the first migration.
func After(all []Migration, version int) ([]Migration, error) {
	if version >= Newest(all) {
		return nil, nil
	}
	oldest := all[0].Number
	if !all[0].whole() {
		oldest--
	}
	if version > 0 && version < oldest {
		return nil, &chat.Error{
			Code: chat.CodeUnavailable,
			Message: locale.Say("This data was written by an early Footnote (version {1}). This one takes over "+
				"version {2} and later.",
				version, oldest),
			Hint: fmt.Sprintf("Start a Footnote of version %d on it once, or begin with an empty data directory and "+
				"add the documents again.",
				oldest),
		}
	}
	var pending []Migration
	for _, m := range all {
		switch {
		case m.whole() && version == 0:
			pending = []Migration{m} // in place of the steps before it
		case !m.whole() && m.Number > version:
			pending = append(pending, m)
		}
	}
	return pending, nil
}
