//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// tried is what all cells are tried with.
//
// There is one for a run of the command; cells come one after the other, so nothing in it is locked.
type tried struct {
	binary string // the program; each cell links it
	// The compiled reader is the same for all cells, and to compile it for each would be a part of what is measured.
	cache    string               // a folder for the compiled PDF reader
	postgres *postgrestest.Server // that has a database for each cell; nil: SQLite in the data directory
	question int64                // bytes of disk that each of the bystander's questions takes
	cells    int                  // so many databases were made
}

// nextDatabase makes the next cell's database and returns its URL, empty without PostgreSQL. The databases are left to
// the server, which is ended with all of them.
func (w *tried) nextDatabase(ctx context.Context) (string, error) {
	if w.postgres == nil {
		return "", nil
	}
	w.cells++
	return w.postgres.Database(ctx, fmt.Sprintf("hostile_%d", w.cells))
}

// storedBytes returns how many bytes of disk everything takes that the server keeps, of PostgreSQL without its log.
//
// PostgreSQL's write-ahead log is left out: it has a size of its own, whatever is stored.
func (s *site) storedBytes(ctx context.Context) (int64, error) {
	total, err := diskOf(s.data)
	if err != nil || s.database == "" {
		return total, err
	}
	rows, err := s.tried.postgres.Rows(ctx, s.database, `SELECT pg_database_size(current_database())`)
	if err != nil {
		return 0, err
	}
	size, _ := rows[0][0].(int64)
	return total + size, nil
}

// diskOf returns how many bytes of disk a folder takes. The compiled PDF reader is not counted: it is the same for any
// document. They are blocks, not sizes, so a file with holes counts with what it takes. Files that vanish meanwhile
// are no error, since the server may be at work.
func diskOf(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "cache" {
			return fs.SkipDir
		}
		info, err := entry.Info()
		if err != nil {
			return nil // removed meanwhile
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			total += stat.Blocks * 512
		}
		return nil
	})
	return total, err
}
