package main_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/corpus/sources/webdav/webdavtest"
	"github.com/footnote/footnote/sql/postgres"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
	"github.com/footnote/footnote/sql/sqlite"
)

var discard = slog.New(slog.DiscardHandler)

// What users set up is there after a move: places with their items and passwords, kept questions and where their
// changes are sent, links to answers, what programs may, and tables.
func TestWhatUsersSetUpIsCopied(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	putFiles(t, folder, map[string]string{
		"well.md": "# Well\n\nThe well is nine metres deep.\n", "barn/hay.md": "# Hay\n\nThe hay is dry.\n",
		"empty.bin": "",
	})
	address, _ := webdavtest.Serve(t, folder)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // it may break off
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(hook.Close)
	s := serve(t, newDir(t))
	place := s.followPlace(fmt.Sprintf(`{"kind":"webdav","name":"farm","schedule":"request","settings":{
		"url":%q,"username":"ada","password":"secret"}}`, address))
	link := s.setUp(hook.URL)
	views := []string{
		"/places/" + place, "/places/" + place + "/items", "/standing", "/standing/webhook", "/shares", "/watched",
	}
	before := s.read(views)
	s.end(os.Interrupt)
	program, grid := keepInDirectory(t, s.dir)

	database := postgrestest.Shared(t).Schema(t)
	env := []string{"FOOTNOTE_DATA=" + s.dir, "DATABASE_URL=" + database, "FOOTNOTE_BLOBS=file://" + t.TempDir()}
	got := command(t, "", env, "migrate")
	if got.code != 0 || strings.Contains(got.stdout, "DIFFERENT") ||
		!strings.Contains(got.stdout, "the passwords of 1 place (places)") {
		t.Fatalf("migrate: %d\n%s%s; want the passwords told", got.code, got.stdout, got.stderr)
	}
	wantInPostgres(t, database, program, grid)
	there := newDir(t)
	if err := os.CopyFS(filepath.Join(there, "places"), os.DirFS(filepath.Join(s.dir, "places"))); err != nil {
		t.Fatal(err)
	}
	moved := serve(t, there, env[1:]...)
	for path, want := range before {
		if got := moved.send("GET", path, nil).body; got != want {
			t.Errorf("%s says\n%s\nand said\n%s", path, got, want)
		}
	}
	if r := moved.send("GET", link, nil); r.status != http.StatusOK {
		t.Errorf("the link to an answer: %d, want %d", r.status, http.StatusOK)
	}
	putFiles(t, folder, map[string]string{"well.md": "# Well\n\nThe well is eleven metres deep.\n"})
	if err := os.Remove(filepath.Join(folder, "barn", "hay.md")); err != nil {
		t.Fatal(err)
	}
	if state := moved.look(place); state.Failure != nil || state.LastLook.Added != 0 || state.LastLook.Changed != 1 ||
		state.LastLook.Removed != 1 {
		t.Errorf("the first look after the move: %+v, want 1 changed and 1 removed", state)
	}
	eventually(t, "the changed file is found", func() bool { return moved.search("eleven metres").TotalResults > 0 })
}

// A server on a database keeps the passwords that the database in its directory has.
func TestAnotherDatabaseLeavesThePasswordsOfTheFirst(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	putFiles(t, folder, map[string]string{"well.md": "# Well\n\nThe well is nine metres deep.\n"})
	address, _ := webdavtest.Serve(t, folder)
	s := serve(t, newDir(t))
	place := s.followPlace(fmt.Sprintf(`{"kind":"webdav","name":"farm","schedule":"request","settings":{
		"url":%q,"username":"ada","password":"secret"}}`, address))
	s.end(os.Interrupt)
	other := serve(t, s.dir, "DATABASE_URL="+postgrestest.Shared(t).Schema(t))
	other.followPlace(fmt.Sprintf(`{"kind":"webdav","name":"other","schedule":"request","settings":{
		"url":%q,"username":"ada","password":"secret"}}`, address))
	other.end(os.Interrupt)
	if state := s.restart().look(place); state.Failure != nil {
		t.Errorf("back at the first database, the place says %+v, want no failure", state.Failure)
	}
}

// setUp sets up what users do beside documents, and returns the path of a link to an answer.
func (s *server) setUp(hook string) (link string) {
	s.t.Helper()
	run := s.finished("How deep is the well?")
	shared := s.send("POST", "/agent/runs/"+run+"/shares", `{}`)
	link = regexp.MustCompile(`/s/[^"?#]+`).FindString(shared.body)
	if shared.status >= 300 || link == "" {
		s.t.Fatalf("share: %d %s", shared.status, shared.body)
	}
	for path, body := range map[string]string{
		"POST /standing": fmt.Sprintf(`{"run_id":%q}`, run), "PUT /standing/webhook": fmt.Sprintf(`{"url":%q}`, hook),
		"PUT /watched": `{"folder":"/home/ada/papers","namespace":"default","files":3}`,
	} {
		method, path, _ := strings.Cut(path, " ")
		if r := s.send(method, path, body); r.status >= 300 {
			s.t.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
		}
	}
	eventually(s.t, "the webhook was told that it is set", func() bool {
		return !strings.Contains(s.send("GET", "/standing/webhook", nil).body, `"sent_at":null`)
	})
	return link
}

// read returns what paths answer.
func (s *server) read(paths []string) map[string]string {
	s.t.Helper()
	said := map[string]string{}
	for _, path := range paths {
		r := s.send("GET", path, nil)
		if r.status != http.StatusOK {
			s.t.Fatalf("%s: %d %s", path, r.status, r.body)
		}
		said[path] = r.body
	}
	return said
}

// keepInDirectory stores what no request of a user without keys makes: a program's token, and a table with a cell.
func keepInDirectory(t *testing.T, dir string) (grants.Record, chat.Grid) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "footnote.db"), discard)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	token := grants.Record{
		Kind: grants.KindRefresh, ID: "hash", Owner: "grant", Made: now, Expires: now.Add(time.Hour),
		Body: []byte(`{}`),
	}
	if err := db.Grants().Put(t.Context(), token, 5); err != nil {
		t.Fatal(err)
	}
	scope := chat.Scope{User: chat.LocalUser}
	grid, err := db.Chats().KeepGrid(t.Context(), scope, chat.Grid{
		Name: "Wells", Columns: []chat.GridColumn{{Name: "Depth"}},
		Rows: []chat.GridRow{{DocumentID: "d", Title: "Well"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Chats().ChangeGridCell(t.Context(), scope, grid.ID, 0, 0, func(c *chat.GridCell) error {
		c.Text = "nine metres"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return token, grid
}

// wantInPostgres looks for what keepInDirectory kept.
func wantInPostgres(t *testing.T, database string, token grants.Record, grid chat.Grid) {
	t.Helper()
	db, err := postgres.Open(t.Context(), database, discard)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it was only read
	got, err := db.Grants().Get(t.Context(), token.Kind, token.ID)
	if err != nil || got.Owner != token.Owner || !got.Expires.Equal(token.Expires) {
		t.Errorf("the program's token is %+v, %v; want %+v", got, err, token)
	}
	cells, err := db.Chats().GridCells(t.Context(), chat.Scope{User: chat.LocalUser}, grid.ID, 0)
	if err != nil || !slices.ContainsFunc(cells, func(c chat.GridCell) bool { return c.Text == "nine metres" }) {
		t.Errorf("the cells are %+v, %v; want one that says nine metres", cells, err)
	}
}

// placeState is what a server says of a place.
type placeState struct {
	ID, State string
	Failure   *struct{ Code, Detail string }
	Note      string
	Items     int
	Waiting   int
	LookedAt  string `json:"looked_at"`
	LastLook  struct {
		Added, Changed, Removed int
	} `json:"last_look"`
}

// followPlace has a place followed and waits for the first look.
func (s *server) followPlace(body string) (id string) {
	s.t.Helper()
	r := s.send("POST", "/places", body)
	if r.status != http.StatusCreated {
		s.t.Fatalf("POST /places: %d %s", r.status, r.body)
	}
	id = loose[placeState](s.t, r.body).ID
	if state := s.looked(id, ""); state.Failure != nil {
		s.t.Fatalf("the first look at the place: %+v", state)
	}
	return id
}

// look has a place looked at and returns what is said of it then.
func (s *server) look(id string) placeState {
	s.t.Helper()
	before := loose[placeState](s.t, s.send("GET", "/places/"+id, nil).body).LookedAt
	if r := s.send("POST", "/places/"+id+"/look", nil); r.status != http.StatusAccepted {
		s.t.Fatalf("look: %d %s", r.status, r.body)
	}
	return s.looked(id, before)
}

// looked waits until a place was looked at after a moment.
func (s *server) looked(id, before string) (state placeState) {
	s.t.Helper()
	eventually(s.t, "the look at the place is over", func() bool {
		state = loose[placeState](s.t, s.send("GET", "/places/"+id, nil).body)
		return state.LookedAt != before && state.State != "looking"
	})
	return state
}

// putFiles writes files below a folder.
func putFiles(t testing.TB, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
