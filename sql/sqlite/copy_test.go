package sqlite

import (
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Whoever adds a table or a column decides whether 'footnote migrate' copies it: in copied, or in left with the reason.
func TestEveryTableAndColumnIsCopiedOrLeftForAReason(t *testing.T) {
	t.Parallel()
	conn := openConn(t, filepath.Join(t.TempDir(), "x.db"))
	if err := migrateSchema(t.Context(), conn, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.QueryContext(t.Context(),
		`SELECT t.name, c.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c
		WHERE t.schema = 'main' AND t.type <> 'shadow' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	seen := 0
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		seen++
		if left[table] != "" || left[table+"."+column] != "" {
			continue
		}
		if !reads(table, column) {
			t.Errorf("%s.%s is neither copied nor left for a reason", table, column)
		}
	}
	if err := rows.Err(); err != nil || seen < 50 {
		t.Errorf("%d columns, %v; want at least 50", seen, err)
	}
}

// reads reports whether any table is copied from a column.
func reads(table, column string) bool {
	word := func(name string) *regexp.Regexp { return regexp.MustCompile(`\b` + name + `\b`) }
	for _, how := range copied {
		text := strings.Join([]string{how.columns, how.from, how.where}, " ")
		if word(table).MatchString(how.from+" "+how.columns) && word(column).MatchString(text) {
			return true
		}
	}
	return false
}
