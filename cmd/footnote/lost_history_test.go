package main_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// A conversation whose stored turns are damaged goes on without them, and the answer says so.
func TestAConversationThatCannotBeReadIsAnsweredWithoutIt(t *testing.T) {
	t.Parallel()
	database := postgrestest.Shared(t)
	schema := database.Schema(t)
	for name, tt := range map[string]struct {
		env   []string
		spoil func(t *testing.T, dir string) error
	}{
		"SQLite": {nil, func(t *testing.T, dir string) error {
			return changeData(t, dir, `UPDATE run_texts SET request = '{broken'`)
		}},
		"PostgreSQL": {[]string{"DATABASE_URL=" + schema, "FOOTNOTE_BLOBS=file://" + t.TempDir()},
			func(t *testing.T, _ string) error {
				_, err := database.Rows(t.Context(), schema, `UPDATE run_texts SET request = '{broken'`)
				return err
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, newDir(t), tt.env...)
			s.add(books...)
			body := `{"message": "What is the rent of the mill?", "session_id": "s"}`
			first := s.send("POST", "/agent/chat", body)
			if first.status != http.StatusOK || !strings.Contains(first.body, `"notes":[]`) {
				t.Fatalf("before: %d %s; want %d and %q in it", first.status, first.body, http.StatusOK, `"notes":[]`)
			}
			if err := tt.spoil(t, s.dir); err != nil {
				t.Fatal(err)
			}
			shown := s.send("GET", "/c/s", nil, header{"Accept", "text/html"})
			if shown.status != http.StatusOK || !strings.Contains(shown.body, `data-testid="turns-lost"`) ||
				!strings.Contains(shown.body, `name="message"`) {
				t.Errorf("the conversation's page: %d %.2000s; want a sentence and the question box", shown.status,
					shown.body)
			}
			got := s.send("POST", "/agent/chat", body)
			if got.status != http.StatusOK || !strings.Contains(got.body, "900 pounds") ||
				!strings.Contains(
					got.body, `"notes":["The conversation so far can't be read: answering without it."]`,
				) {
				t.Errorf("after: %d %s; want %d and %q in it", got.status, got.body, http.StatusOK, "900 pounds")
			}
			run := loose[started](t, got.body)
			page := s.send("GET", "/runs/"+run.RunID+"/stream", nil, header{"Accept", "text/event-stream"})
			if page.status != http.StatusOK || !strings.Contains(page.body, "so far can") ||
				!strings.Contains(page.body, "answering without it") {
				t.Errorf("the page's stream: %d %.3000s; want %d, %q in it, %q in it",
					page.status, page.body, http.StatusOK, "so far can", "answering without it")
			}
		})
	}
}

// A damaged turn hides no others: it is counted, and said, wherever the conversation is read.
func TestDamagedTurnsAreCountedAndTheOthersShown(t *testing.T) {
	t.Parallel()
	database := postgrestest.Shared(t)
	schema := database.Schema(t)
	for name, tt := range map[string]struct {
		env    []string
		spoil  func(t *testing.T, dir, statement string) error
		events string // of the second run
	}{
		"SQLite": {nil, func(t *testing.T, dir, statement string) error {
			return changeData(t, dir, statement)
		},
			`UPDATE events SET body = CAST('{broken' AS BLOB) WHERE id >> 20 = (SELECT n FROM runs ORDER BY n LIMIT ` +
				`1 OFFSET 1)`},
		"PostgreSQL": {[]string{"DATABASE_URL=" + schema, "FOOTNOTE_BLOBS=file://" + t.TempDir()},
			func(t *testing.T, _, statement string) error {
				_, err := database.Rows(t.Context(), schema, statement)
				return err
			}, `UPDATE events SET body = '{broken' WHERE run = (SELECT n FROM runs ORDER BY n LIMIT 1 OFFSET 1)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, newDir(t), tt.env...)
			s.add(books...)
			ask := func(question string) reply {
				return s.send("POST", "/agent/chat", `{"message": "`+question+`", "session_id": "s"}`)
			}
			ask("What is the rent of the mill?")
			ask("Who repairs the roof?")
			ask("Who renewed the roof?")
			ask("Where does the damp come from?")
			s.end(os.Interrupt) // what was read is remembered
			const request = `UPDATE run_texts SET request = '{broken' WHERE run = (SELECT n FROM runs ORDER BY n ` +
				`LIMIT 1)`
			const missing = `DELETE FROM run_texts WHERE run = (SELECT n FROM runs ORDER BY n LIMIT 1 OFFSET 2)`
			for _, statement := range []string{request, missing, tt.events} {
				if err := tt.spoil(t, s.dir, statement); err != nil {
					t.Fatal(err)
				}
			}
			s = s.restart()
			history := s.send("GET", "/agent/session/s", nil)
			if history.status != http.StatusOK ||
				!strings.Contains(history.body, `"notes":["3 turns of this conversation can't be read."]`) ||
				!strings.Contains(history.body, "blocked gutter") || strings.Contains(history.body, "900 pounds") ||
				strings.Contains(history.body, "Who repairs the roof?") ||
				strings.Contains(history.body, "renewed the roof") {
				t.Errorf("GET /agent/session/s: %d %s; want %d, %q in it, %q in it, no %q in it, no %q in it, no "+
					"%q in it",
					history.status, history.body, http.StatusOK,
					`"notes":["3 turns of this conversation can't be read."]`, "blocked gutter", "900 pounds",
					"Who repairs the roof?", "renewed the roof")
			}
			page := s.send("GET", "/c/s", nil, header{"Accept", "text/html"})
			if page.status != http.StatusOK ||
				!strings.Contains(page.body, "3 turns of this conversation can&#39;t be read.") ||
				!strings.Contains(page.body, "blocked gutter") {
				t.Errorf("GET /c/s: %d %.3000s; want %d, %q in it, %q in it",
					page.status, page.body, http.StatusOK, "3 turns of this conversation can&#39;t be read.",
					"blocked gutter")
			}
			waiting := s.send("POST", "/sessions/s/queue", `{"message": "What is the rent?"}`)
			if waiting.status >= 500 {
				t.Errorf("a waiting question: %d %s, want less than 500", waiting.status, waiting.body)
			}
			if got := ask("And the roof?"); got.status != http.StatusOK ||
				!strings.Contains(
					got.body, `"notes":["3 turns of this conversation can't be read: answering without them."]`,
				) {
				t.Errorf("the next question: %d %s, want %d", got.status, got.body, http.StatusOK)
			}
		})
	}
}
