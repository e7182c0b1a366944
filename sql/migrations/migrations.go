// Package migrations reads the schema migrations of a database: files NNN_name.sql. The stores run them; the package
// determines the pending ones, and the versions of the program that are compatible with a schema.
//
// There are only forward migrations. A change of both databases needs two migrations, in the folders of sql/sqlite
// and sql/postgres, whose numbers are independent.
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

// Migration is one forward migration of the schema. A released migration is never edited.
type Migration struct {
	Number int // the version after it
	Name   string
	Script string
	// Upgrade replaces Script of the first migration for a database of the version before it.
	Upgrade string
}

// Read returns the migrations in dir, files named NNN_name.sql, in order. The first one creates the whole schema;
// the file NNN_upgrade.sql with its number is its Upgrade. Numbers are consecutive: a gap or a duplicate is an
// error.
func Read(files fs.FS, dir string) ([]Migration, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	var all, upgrades []Migration
	for _, entry := range entries {
		number, name, _ := strings.Cut(entry.Name(), "_")
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("migrations: %s does not begin with a number", entry.Name())
		}
		script, err := fs.ReadFile(files, dir+"/"+entry.Name())
		if err != nil {
			return nil, fmt.Errorf("migrations: %w", err)
		}
		m := Migration{Number: n, Name: strings.TrimSuffix(entry.Name(), ".sql"), Script: string(script)}
		if name == "upgrade.sql" {
			upgrades = append(upgrades, m)
		} else {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b Migration) int { return cmp.Compare(a.Number, b.Number) })
	for i, m := range all {
		if want := all[0].Number + i; m.Number != want {
			return nil, fmt.Errorf("migrations: %s should have the number %d", m.Name, want)
		}
	}
	for _, up := range upgrades {
		if len(all) == 0 || up.Number != all[0].Number || all[0].Upgrade != "" {
			return nil, fmt.Errorf("migrations: %s should have the number of the first migration", up.Name)
		}
		all[0].Upgrade = up.Script
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

// After returns the pending migrations of a database with a version; 0 is an empty database. For a version before
// the first migration, Script of the first is its Upgrade. It returns chat.CodeUnavailable for a database that is
// too old for an upgrade.
func After(all []Migration, version int) ([]Migration, error) {
	if version >= Newest(all) {
		return nil, nil
	}
	first := all[0]
	switch {
	case version == 0:
		return all, nil
	case version >= first.Number:
		return all[version-first.Number+1:], nil
	case version == first.Number-1 && first.Upgrade != "":
		rest := slices.Clone(all)
		rest[0].Script = first.Upgrade
		return rest, nil
	default:
		return nil, &chat.Error{
			Code: chat.CodeUnavailable,
			Message: locale.Say("This data was written by an early Footnote (version {1}). This one takes over "+
				"version {2} and later.",
				version, first.Number-1),
			Hint: fmt.Sprintf("Start a Footnote of version %d on it once, or begin with an empty data directory and "+
				"add the documents again.",
				first.Number-1),
		}
	}
}
