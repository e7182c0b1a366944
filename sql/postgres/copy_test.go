package postgres

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/sql/dbcopy"
)

// Whoever adds a table or a column decides whether 'footnote migrate' fills it: in dbcopy.Tables, or in made with the
// reason.
func TestEveryTableAndColumnIsFilledOrMadeForAReason(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	filled := map[string]bool{}
	for _, table := range dbcopy.Tables() {
		for _, column := range table.Columns {
			filled[table.Name+"."+column.Name] = true
		}
	}
	there, err := queryList(t.Context(), db, longTime, scanValue[string],
		`SELECT table_name || '.' || column_name FROM information_schema.columns
		JOIN information_schema.tables USING (table_schema, table_name) WHERE table_schema = current_schema() AND `+
			`table_type = 'BASE TABLE'`)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range there {
		table, _, _ := strings.Cut(name, ".")
		if made[table] == "" && made[name] == "" && !strings.HasPrefix(table, "river_") && !filled[name] {
			t.Errorf("%s is neither filled nor made for a reason", name)
		}
		delete(filled, name)
	}
	for name := range filled {
		t.Errorf("%s is copied, but not in the schema", name)
	}
}
