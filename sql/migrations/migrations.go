// Package migrations reads the steps that bring a database up to the present schema: files NNN_name.sql of either
// database. Stores run them; the package only says which are needed, and which versions of the program can work with a
// schema.
//
// Steps only go forward. What one step does to both databases has to be written twice, in the folders of sql/sqlite and
// sql/postgres, whose numbers have nothing to do with each other.
package migrations

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
)

// Migration is one step of the schema. Migrations only go forward, and one that was released is never edited.
type Migration struct {
	Number int // the version that it leads to
	Name   string
	Script string
	// Upgrade, of the first migration, does in a database of the version before what Script does in an empty one.
	Upgrade string
}

// Read returns the migrations in dir, files named NNN_name.sql, in order. The first makes the whole schema; the file
// NNN_upgrade.sql of its number is its Upgrade. The numbers of the others follow without gaps. A gap or a number that
// is there twice is a mistake of the build and fails.
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

// Newest is the version that all migrations lead to.
func Newest(all []Migration) int {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Number
}

// After returns the migrations that a database of a version still needs, each with the Script that it takes there; 0 is
// an empty database. It fails with chat.CodeUnavailable for one that is so old that no migration leads on from it.
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
			Message: fmt.Sprintf("This data was written by an early Footnote (version %d). This one takes over "+
				"version %d and later.",
				version, first.Number-1),
			Hint: fmt.Sprintf("Start a Footnote of version %d on it once, or begin with an empty data directory and "+
				"add the documents again.",
				first.Number-1),
		}
	}
}
