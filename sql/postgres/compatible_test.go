package postgres

import (
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/chattest"
	"github.com/footnote/footnote/sql/migrations"
)

// breaking is what takes away something that an older program, still running beside this one, may use or not know that
// it must fill.
var breaking = regexp.MustCompile(
	`(?is)\bDROP\s+(TABLE|COLUMN|FUNCTION|SCHEMA|VIEW)\b|\bRENAME\b|\bALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?TYPE\b|` +
		`\bSET\s+NOT\s+NULL\b|\bTRUNCATE\b`,
)

var (
	added       = regexp.MustCompile(`(?is)\bADD\s+(COLUMN\s+)?(IF\s+NOT\s+EXISTS\s+)?\w+\s+[^;,]*?NOT\s+NULL[^;,]*`)
	withDefault = regexp.MustCompile(`(?i)\bDEFAULT\b|\bGENERATED\b`)
	comments    = regexp.MustCompile(`(?m)--.*$`)
)

// breaks returns what in a step older programs can't live with, or "".
func breaks(script string) string {
	script = comments.ReplaceAllString(script, "")
	if found := breaking.FindString(script); found != "" {
		return found
	}
	for _, column := range added.FindAllString(script, -1) {
		if !withDefault.MatchString(column) {
			return column
		}
	}
	return ""
}

func TestStepsOnlyAddOrSayWhomTheyBreak(t *testing.T) {
	t.Parallel()
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range all {
		least := leastProgram(step.Script)
		if found := breaks(step.Script); found != "" && least < step.Number {
			t.Errorf("%s has %q: older programs break, so it needs a line \"-- min_compatible: %d\", or another way",
				step.Name, found, step.Number)
		}
		if least > step.Number {
			t.Errorf("%s asks for version %d, which is not there yet, want at most %d", step.Name, least, step.Number)
		}
	}
	for script, broken := range map[string]bool{
		"CREATE TABLE a (n int NOT NULL)":                                  false,
		"ALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT ''":              false,
		"-- it does not DROP TABLE a\nCREATE INDEX c ON a (b)":             false,
		"ALTER TABLE a ADD COLUMN b text":                                  false,
		"ALTER TABLE a ADD COLUMN b text NOT NULL":                         true,
		"alter table a drop column b":                                      true,
		"ALTER TABLE a RENAME TO b":                                        true,
		"ALTER TABLE a ALTER COLUMN b TYPE bigint":                         true,
		"ALTER TABLE a ALTER b SET NOT NULL":                               true,
		"CREATE TABLE x (n int);\n DROP\n TABLE a; SELECT 1":               true,
		"ALTER TABLE a ADD COLUMN IF NOT EXISTS b int NOT NULL, ADD c int": true,
	} {
		if (breaks(script) != "") != broken {
			t.Errorf("breaks(%q) = %q", script, breaks(script))
		}
	}
}

func TestAnOlderProgramServesANewerSchemaUnlessToldNotTo(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	newer := openURL(t, url)
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	n := migrations.Newest(all)
	future := append(all, migrations.Migration{
		Number: n + 1, Name: "additive", Script: `CREATE TABLE of_the_future (n int);
		ALTER TABLE sessions ADD COLUMN of_the_future text NOT NULL DEFAULT 'x'; ALTER TABLE documents ADD COLUMN ` +
			`of_the_future int`,
	})
	if err := newer.migrateTo(t.Context(), future); err != nil {
		t.Fatal(err)
	}
	t.Run("an additive step", func(t *testing.T) { // the whole contract, by the code that does not know it
		chattest.TestStore(t, func(t *testing.T) chat.Store {
			url := server.Schema(t)
			db := openURL(t, url)
			if err := db.migrateTo(t.Context(), future); err != nil {
				t.Fatal(err)
			}
			return openURL(t, url).Chats()
		})
	})
	openURL(t, url)
	exec(t, newer, `INSERT INTO migrations (number, name, min_compatible) VALUES (4711, 'far future', 4700)`)
	_, err = Open(t.Context(), url, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(chat.MessageOf(err), "needs at least version 4700") {
		t.Errorf("Open = %v, want a sentence that names version 4700", err)
	}
}
