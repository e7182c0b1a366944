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

// tried is the shared environment of all cells.
//
// There is one for a run of the command; cells run sequentially, so it needs no lock.
type tried struct {
	binary string // the program; each cell links it
	// The compiled PDF parser is shared by all cells: compiling it for each would be part of the measurement.
	cache    string               // cache of the compiled PDF parser
	postgres *postgrestest.Server // with a database for each cell; nil: SQLite in the data directory
	question int64                // disk usage of each of the bystander's questions in bytes
	cells    int                  // number of databases created
}

// nextDatabase creates the next cell's database and returns its URL, empty without PostgreSQL. The databases are
// removed with their server.
func (w *tried) nextDatabase(ctx context.Context) (string, error) {
	if w.postgres == nil {
		return "", nil
	}
	w.cells++
	return w.postgres.Database(ctx, fmt.Sprintf("hostile_%d", w.cells))
}

// storedBytes returns the disk usage of all of the server's data in bytes.
//
// PostgreSQL's write-ahead log is excluded: its size does not depend on the data.
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

// diskOf returns the disk usage of a folder in bytes. The compiled PDF parser is excluded: it does not depend on
// documents. It counts blocks, not sizes, so a sparse file counts with its real usage. Files that vanish meanwhile
// are skipped, since the server may be running.
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
