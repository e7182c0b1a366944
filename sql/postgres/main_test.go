package postgres

import (
	"log/slog"
	"os"
	"testing"

	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// server is made by TestMain and only read after.
var server *postgrestest.Server

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m, &server)) }

// openNew opens a database in a schema of its own and closes it when the test ends.
func openNew(t testing.TB) *DB { return openURL(t, server.Schema(t)) }

func openURL(t testing.TB, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("Open: %v, want no error", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v, want no error", err)
		}
	})
	return db
}
