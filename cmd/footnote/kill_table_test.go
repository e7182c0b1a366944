package main_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// tableState holds the fields of a table that a test reads.
type tableState struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Done  int    `json:"done"`
}

// A table of a killed process goes on at the next start. Claims last 8 s where other servers may use the database; the
// bound leaves a busy machine time to start.
func TestAKilledTableGoesOn(t *testing.T) {
	t.Parallel()
	const bound = 30 * time.Second
	for name, env := range map[string]func(t *testing.T) []string{
		"SQLite": func(*testing.T) []string { return nil },
		"PostgreSQL": func(t *testing.T) []string {
			return []string{"DATABASE_URL=" + postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://" + t.TempDir()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, settings := newDir(t), env(t)
			s := serve(t, dir, settings...)
			var leases []file
			for i := range 30 {
				leases = append(leases, file{fmt.Sprintf("lease-%d.md", i), fmt.Sprintf(
					"# Lease %d\n\nThe rent of the mill is %d euros a month. The notice period is %d months.\n",
					i, 900+i, i)})
			}
			s.add(leases...)
			columns := ""
			for i := range 12 {
				columns += fmt.Sprintf(`,{"name":"Rent %d"}`, i)
			}
			made := s.send("POST", "/agent/table", `{"columns":[`+columns[1:]+`]}`)
			if made.status != http.StatusCreated {
				t.Fatalf("POST /agent/table: %d %s", made.status, made.body)
			}
			id := loose[tableState](t, made.body).ID
			read := func() tableState {
				return loose[tableState](t, s.send("GET", "/tables/"+id, nil).body)
			}
			eventually(t, "some cells are filled", func() bool { return read().Done >= 4 })
			s.end(os.Kill)
			killed := time.Now()
			s = serve(t, dir, settings...)
			before := read()
			if before.State != "filling" {
				t.Fatalf("the table is %s with %d cells, want it killed in the middle", before.State, before.Done)
			}
			eventually(t, "more cells are filled", func() bool { return read().Done > before.Done+4 })
			if took := time.Since(killed); took > bound {
				t.Errorf("the table went on after %v, want at most %v", took, bound)
			} else {
				t.Logf("the table went on after %v", took)
			}
		})
	}
}
