package main_test

import (
	"database/sql"
	"path/filepath"
	"testing"
)

// changeData executes a statement on the database of the data directory dir. It waits for a server that writes.
func changeData(t *testing.T, dir, statement string) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "footnote.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statement)
	return err
}
