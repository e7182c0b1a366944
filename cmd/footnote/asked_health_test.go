package main_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/e2e/scripted"
)

// healthOf is what GET /health says.
type healthOf struct {
	Status string
	Checks map[string]struct{ Status, Detail string }
}

func (s *server) health() (int, healthOf) {
	s.t.Helper()
	r := s.send("GET", "/health", nil)
	return r.status, loose[healthOf](s.t, r.body)
}

// S4.4 · each dependency has its check. Nothing that only helps takes the server down.
func TestHealthHasOneCheckForEachDependency(t *testing.T) {
	t.Parallel()
	tools := sdk.NewServer(&sdk.Implementation{Name: "stock", Version: "1"}, nil)
	sdk.AddTool(tools, &sdk.Tool{Name: "count"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{}, nil, nil
		})
	stock := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return tools }, nil))
	t.Cleanup(stock.Close)
	t.Cleanup(stock.CloseClientConnections)
	ranks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusMethodNotAllowed) // as a route says that is there for POST
	}))
	t.Cleanup(ranks.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	model := newModel(t, scripted.Config{})
	always := append(model.env(), "OPENAI_EMBEDDING_MODEL=hash", "FOOTNOTE_BLOBS=file://"+t.TempDir())
	with := func(search []string, tools, ranks string) *server {
		return serve(t, newDir(t), slices.Concat(always, search, []string{
			`FOOTNOTE_MCP_SERVERS={"stock":{"url":"` + tools + `"}}`, "FOOTNOTE_RERANK_URL=" + ranks + "/v1/rerank",
		})...)
	}
	needed := []string{"database", "database file", "index"}
	helping := []string{"embeddings", "mcp stock", "model", "originals", "reranker", "web search"}

	status, all := with(website(t, "Rock."), stock.URL, ranks.URL).health()
	if names := slices.Sorted(maps.Keys(all.Checks)); status != http.StatusOK || all.Status != "ok" ||
		!slices.Equal(names, slices.Sorted(slices.Values(slices.Concat(needed, helping)))) {
		t.Errorf("with all: %d %+v", status, all)
	}
	status, none := with([]string{"FOOTNOTE_WEB_PROVIDER=searxng", "FOOTNOTE_WEB_URL=" + gone.URL}, gone.URL,
		gone.URL).health()
	if status != http.StatusOK || none.Status != "degraded" {
		t.Errorf("with the helpers away: %d %+v", status, none)
	}
	for name, check := range none.Checks {
		away := name == "mcp stock" || name == "reranker" || name == "web search"
		if (check.Status == "ok") == away || away && !plainSentence(check.Detail) {
			t.Errorf("with the helpers away the check of %s is %+v", name, check)
		}
	}
}

// spoilPage overwrites a leaf of a table or an index in the database of a data directory that no server has open. The
// first leaf has the oldest rows, and the last one, -1, takes new ones. A last leaf that is full shares its rows with
// the two before it, so the first is none of the last three.
func spoilPage(t *testing.T, dir, table string, leaf int) {
	t.Helper()
	name := filepath.Join(dir, "footnote.db")
	db, err := sql.Open("sqlite", "file:"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(t.Context(),
		`SELECT pageno, pgsize FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path`, table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var places []int64
	var size int64
	for rows.Next() {
		var page int64
		if err := rows.Scan(&page, &size); err != nil {
			t.Fatal(err)
		}
		places = append(places, (page-1)*size)
	}
	if rows.Err() != nil || len(places) == 0 || leaf == 0 && len(places) < 4 {
		t.Fatalf("%s has %d leaves: %v", table, len(places), rows.Err())
	}
	if leaf < 0 {
		leaf += len(places)
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteAt([]byte(strings.Repeat("damaged!", int(size/8))), places[leaf])
	if closed := file.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
}

// S4.15 · pages of a damaged file: what can be read is, an answer says what it goes without, and when no answer can be
// stored any more, /health says so.
func TestADamagedSessionStore(t *testing.T) {
	t.Parallel()
	prepared := newDir(t)
	s := serve(t, prepared)
	s.add(books...)
	ask := func(s *server, session, question string) reply {
		raw, err := json.Marshal(jsonFields{"message": question, "session_id": session})
		if err != nil {
			t.Fatal(err)
		}
		return s.send("POST", "/agent/chat", string(raw))
	}
	for _, question := range []string{"What is the rent of the mill?", "Who repairs the roof?"} {
		ask(s, "old", question)
	}
	for i := range 140 { // further pages
		ask(s, fmt.Sprintf("other-%d", i), "What is the rent of the mill?")
	}
	s.end(os.Interrupt)
	copied := func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(dir, os.DirFS(prepared)); err != nil {
			t.Fatal(err)
		}
		return dir
	}

	for _, row := range []struct {
		table        string
		note, listed string // of the next answer, and of the conversation; empty: it can't be read at all
	}{
		{"events", "turn of this conversation can't be read: answering without it.",
			"turn of this conversation can't be read."},
		{"run_texts", "The conversation so far can't be read: answering without it.", ""},
	} {
		t.Run("old pages of "+row.table, func(t *testing.T) {
			t.Parallel()
			dir := copied(t)
			spoilPage(t, dir, row.table, 0)
			s := serve(t, dir)
			r := ask(s, "old", "What is the condition of the roof?")
			got := loose[askedAnswer](t, r.body)
			if r.status != http.StatusOK || len(got.Citations) == 0 || len(got.Notes) != 1 ||
				!strings.Contains(got.Notes[0], row.note) {
				t.Errorf("the next answer: %d %s, want the note %q", r.status, r.body, row.note)
			}
			if r := ask(s, "new", "What is the condition of the roof?"); r.status != http.StatusOK ||
				len(loose[askedAnswer](t, r.body).Notes) != 0 {
				t.Errorf("another conversation: %d %s", r.status, r.body)
			}
			history := s.send("GET", "/agent/session/old", nil)
			page := s.send("GET", "/c/old", nil, header{"Accept", "text/html"})
			if row.listed == "" {
				if detail := loose[problem](t, history.body).Detail; history.status != http.StatusServiceUnavailable ||
					!plainSentence(detail) {
					t.Errorf("its history: %d %s", history.status, history.body)
				}
			} else if history.status != http.StatusOK || page.status != http.StatusOK ||
				!strings.Contains(history.body, row.listed) ||
				!strings.Contains(page.body, `data-testid="turns-lost"`) {
				t.Errorf("its history: %d %s; its page: %d", history.status, history.body, page.status)
			}
			if status, health := s.health(); status != http.StatusOK || health.Status != "ok" {
				t.Errorf("/health: %d %+v", status, health)
			}
		})
	}

	t.Run("old pages of runs", func(t *testing.T) {
		t.Parallel()
		dir := copied(t)
		spoilPage(t, dir, "runs", 0)
		s := serve(t, dir)
		if r := ask(s, "new", "What is the condition of the roof?"); r.status != http.StatusOK {
			t.Errorf("another conversation: %d %s\n%s", r.status, r.body, s.log)
		}
		if r := ask(s, "old", "What is the condition of the roof?"); r.status != http.StatusServiceUnavailable ||
			!plainSentence(loose[problem](t, r.body).Detail) {
			t.Errorf("the conversation itself: %d %s", r.status, r.body)
		}
	})

	for _, table := range []string{"events", "run_texts", "runs_by_session"} {
		t.Run("the page of "+table+" that takes new rows", func(t *testing.T) {
			t.Parallel()
			dir := copied(t)
			spoilPage(t, dir, table, -1)
			s := serve(t, dir)
			status, health := s.health()
			if check := health.Checks["database"]; status != http.StatusServiceUnavailable || health.Status != "down" ||
				check.Status != "failed" || !strings.Contains(check.Detail, "damaged") || !plainSentence(check.Detail) {
				t.Errorf("/health: %d %+v, want 503 by the database", status, health)
			}
			if found := s.search("slates"); found.TotalResults == 0 {
				t.Error("nothing is found any more")
			}
		})
	}
}
