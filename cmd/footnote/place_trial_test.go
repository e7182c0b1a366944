package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/corpus/sources/webdav/webdavtest"
	"github.com/footnote/footnote/sql/postgres"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
	"github.com/footnote/footnote/sql/sqlite"
)

// mostOfServer is the memory limit of a server that syncs a place of any size.
const mostOfServer = 600 << 20

// trial is a place on a real WebDAV server behind a faulty proxy, and a server that follows it and is killed.
type trial struct {
	*server
	folder string
	n      int
	rng    *rand.Rand
	proxy  *faultProxy
	place  string
	kills  int
	pauses int   // after two kills in a row; the owner resumes the place
	peak   int64 // peak memory in bytes, over all processes
}

// placeFiles returns the number of files in the trial: FOOTNOTE_TRIAL_FILES, or a small default.
func placeFiles(t *testing.T) int {
	t.Helper()
	return numberFrom(t, "FOOTNOTE_TRIAL_FILES", 100, 100)
}

// A sync survives all faults: repeated kills of its server, and wrong, failed and hanging responses of the place's
// server. In the end each file has exactly one document, and there are no others.
func TestSourceSurvivesCrashesAndFaults(t *testing.T) {
	t.Parallel()
	n := placeFiles(t)
	tr := &trial{server: serve(t, newDir(t)), folder: t.TempDir(), n: n, rng: rand.New(rand.NewPCG(3, 5))}
	for i := range n {
		tr.write(tr.name(i), fmt.Sprintf("# Note %d\n\nThe parcel %d was surveyed on day %d.\n", i, i, i*3))
	}
	address, _ := webdavtest.Serve(t, tr.folder)
	tr.proxy = newFaultProxy(t, strings.TrimSuffix(address, "/dav"))

	tr.report("read %d files the first time", n)
	made := tr.send("POST", "/places", fmt.Sprintf(`{"kind":"webdav","name":"deeds","schedule":"request",
		"settings":{"url":%q,"username":"ada","password":"secret"}}`, tr.proxy.URL+"/dav"))
	tr.place = loose[placeState](t, made.body).ID
	tr.killIn("all of it", 4, func(s placeState, k int) bool { return s.Items > 0 && s.Items-s.Waiting >= n*(k+1)/6 })
	state := tr.untilLooked("")
	tr.sameAsFolder(state)
	tr.report("%d files again, nothing changed", n)
	tr.lookAll(0, 0, 0)

	changes := tr.change(n / 10)
	tr.report("%d changes", changes)
	before := tr.askLook()
	tr.killIn("the changes", 4, func(s placeState, k int) bool {
		return s.LastLook.Added+s.LastLook.Changed >= changes*(k+1)/8 || s.LookedAt != before
	})
	tr.sameAsFolder(tr.untilLooked(before))
	tr.injectFaults()
	tr.report("")
	t.Logf("killed %d times, paused %d times; at most %d MiB of memory", tr.kills, tr.pauses, tr.peak>>20)
	if tr.peak > mostOfServer {
		t.Errorf("a server took %d MiB, want at most %d", tr.peak>>20, mostOfServer>>20)
	}
}

// injectFaults injects each fault of the place's server and syncs: existing documents stay, and after the fault the
// library equals the folder.
func (tr *trial) injectFaults() {
	tr.t.Helper()
	for _, lie := range allFaults() {
		tr.report("while it %s", lie.what)
		if lie.changes {
			tr.change(tr.n / 50)
		}
		before := tr.documents()
		tr.proxy.setFault(lie)
		state := tr.untilLooked(tr.askLook())
		if lie.sees {
			tr.sameAsFolder(state)
		} else {
			after := tr.documents()
			for path := range before {
				if _, there := after[path]; !there && !lie.changes {
					tr.t.Errorf("%s is lost while the server %s: %+v", path, lie.what, state)
					break
				}
			}
			if len(after) < len(before)*9/10 {
				tr.t.Errorf("%d of %d documents are left while the server %s: %+v", len(after), len(before),
					lie.what, state)
			}
		}
		tr.proxy.setFault(serverFault{})
		tr.sameAsFolder(tr.untilLooked(tr.askLook()))
	}
}

// killIn kills the server each time that the sync has made a certain progress, and restarts it.
func (tr *trial) killIn(what string, times int, far func(s placeState, k int) bool) {
	tr.t.Helper()
	for k := range times {
		tr.waitWhile(what, func(s placeState) bool { return !far(s, k) })
		tr.measure()
		tr.kill()
		tr.kills++
		tr.server = tr.restart()
	}
}

// state returns the server's state of the place.
func (tr *trial) state() placeState {
	return loose[placeState](tr.t, tr.send("GET", "/places/"+tr.place, nil).body)
}

// untilLooked waits until a sync has finished.
func (tr *trial) untilLooked(before string) placeState {
	tr.t.Helper()
	return tr.waitWhile("the look ends", func(s placeState) bool {
		return s.LookedAt == before || s.State == "looking"
	})
}

// waitWhile waits while the place is in a wrong state, for as long as it makes progress.
func (tr *trial) waitWhile(what string, wrong func(placeState) bool) (state placeState) {
	tr.t.Helper()
	last, late := "", time.Now().Add(patience)
	for state = tr.state(); wrong(state); state = tr.state() {
		if now := fmt.Sprint(state.Items, state.Waiting, state.LastLook); now != last {
			last, late = now, time.Now().Add(patience)
		}
		if state.State == "paused" && tr.kills > 1 {
			tr.pauses++
			tr.askLook()
		}
		if time.Now().After(late) {
			tr.t.Fatalf("waited in vain: %s: %+v", what, state)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return state
}

// askLook requests a sync, and returns the time of the one before.
func (tr *trial) askLook() (before string) {
	tr.t.Helper()
	before = tr.state().LookedAt
	if r := tr.send("POST", "/places/"+tr.place+"/look", nil); r.status != http.StatusAccepted {
		tr.t.Fatalf("look: %d %s", r.status, r.body)
	}
	return before
}

// lookAll syncs the place, and checks the number of changes.
func (tr *trial) lookAll(added, changed, removed int) {
	tr.t.Helper()
	state := tr.untilLooked(tr.askLook())
	got := fmt.Sprint(state.LastLook.Added, state.LastLook.Changed, state.LastLook.Removed)
	if want := fmt.Sprint(added, changed, removed); got != want || state.Failure != nil {
		tr.t.Errorf("the look: %+v, want %s and no failure", state, want)
	}
	tr.sameAsFolder(state)
}

// documents returns the hashes of the place's documents by path.
func (tr *trial) documents() map[string]string {
	all := map[string]string{}
	for _, d := range tr.listDocuments() {
		all[strings.TrimPrefix(d.Path, "deeds/")] = d.SHA256
	}
	return all
}

// sameAsFolder waits until each file has a ready document at its path, and there are no others.
func (tr *trial) sameAsFolder(state placeState) {
	tr.t.Helper()
	if state.Failure != nil {
		tr.t.Errorf("the look failed: %+v", state)
	}
	want := map[string]string{}
	for _, name := range tr.files() {
		text, err := os.ReadFile(filepath.Join(tr.folder, name))
		if err != nil {
			tr.t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		want[name] = hex.EncodeToString(sum[:])
	}
	tr.measure()
	ready := func() int {
		n := 0
		for _, d := range tr.listDocuments() {
			if d.State == "ready" {
				n++
			}
		}
		return n
	}
	for last, late := -1, time.Now().Add(patience); ; time.Sleep(time.Duration(50+tr.n/10) * time.Millisecond) {
		n := ready()
		if n >= len(want) {
			break
		}
		if n != last {
			last, late = n, time.Now().Add(patience)
		}
		if time.Now().After(late) {
			tr.t.Fatalf("%d documents are ready, want %d", n, len(want))
		}
	}
	got := tr.documents()
	wrong := 0
	for path, sum := range want {
		if got[path] != sum {
			if wrong++; wrong < 4 {
				tr.t.Errorf("%s has the document %q, want %q", path, got[path], sum)
			}
		}
	}
	for path := range got {
		if _, there := want[path]; !there {
			if wrong++; wrong < 8 {
				tr.t.Errorf("%s is a document and no file", path)
			}
		}
	}
	if all := len(tr.listDocuments()); all != len(want) {
		tr.t.Errorf("%d documents for %d files", all, len(want))
	}
}

// measure records the server's peak memory.
func (tr *trial) measure() {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tr.cmd.Process.Pid))
	if err != nil {
		return // not on Linux
	}
	if found := regexp.MustCompile(`VmHWM:\s+(\d+)`).FindSubmatch(raw); found != nil {
		kib, _ := strconv.ParseInt(string(found[1]), 10, 64) // digits
		tr.peak = max(tr.peak, kib<<10)
	}
}

// report logs the duration of the last step and starts the next one.
func (tr *trial) report(format string, args ...any) {
	if tr.proxy.step != "" {
		tr.t.Logf("%s: %.1f s, %d lists and %d files asked for", tr.proxy.step, time.Since(tr.proxy.begun).Seconds(),
			tr.proxy.lists.Swap(0), tr.proxy.files.Swap(0))
	}
	tr.proxy.step, tr.proxy.begun = fmt.Sprintf(format, args...), time.Now()
}

func (tr *trial) name(i int) string { return fmt.Sprintf("d%02d/f%05d.md", i%100, i) }

func (tr *trial) write(name, text string) { putFiles(tr.t, tr.folder, map[string]string{name: text}) }

// files returns the names of all files of the place.
func (tr *trial) files() (names []string) {
	tr.t.Helper()
	err := filepath.WalkDir(tr.folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimPrefix(path, tr.folder+"/"))
		}
		return err
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	return names
}

// change makes n changes of all kinds, each to a different file.
func (tr *trial) change(n int) int {
	tr.t.Helper()
	files := tr.files()
	tr.rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	for i, name := range files[:n] {
		nr := tr.rng.Uint32()
		switch at := filepath.Join(tr.folder, name); i % 4 {
		case 0:
			tr.write(fmt.Sprintf("new/g%d.md", nr), fmt.Sprintf("# New %d\n\nA new parcel %d.\n", nr, nr))
		case 1: // same size as before, so that only the date differs
			text, err := os.ReadFile(at)
			if err != nil {
				tr.t.Fatal(err)
			}
			mark := fmt.Appendf(nil, "%010d", nr)
			tr.write(name, string(append(mark, bytes.Repeat([]byte("x"), max(len(text)-len(mark), 0))...)))
		case 2:
			to := filepath.Join(tr.folder, fmt.Sprintf("moved/r%d.md", nr))
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				tr.t.Fatal(err)
			}
			if err := os.Rename(at, to); err != nil {
				tr.t.Fatal(err)
			}
		case 3:
			if err := os.Remove(at); err != nil {
				tr.t.Fatal(err)
			}
		}
	}
	return n
}

// serverFault is a fault of a server.
type serverFault struct {
	what    string
	changes bool // files change during the fault
	sees    bool // the sync applies the changes
	// answers handles a request itself; alters changes a response. Both may be nil.
	answers func(w http.ResponseWriter, r *http.Request) bool
	alters  func(resp *http.Response) error
}

// faultProxy is a proxy that injects faults.
type faultProxy struct {
	*httptest.Server
	now          atomic.Pointer[serverFault]
	lists, files atomic.Int64
	step         string
	begun        time.Time
}

func newFaultProxy(t *testing.T, to string) *faultProxy {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l := &faultProxy{}
	l.setFault(serverFault{})
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ModifyResponse = func(resp *http.Response) error {
		if alters := l.now.Load().alters; alters != nil {
			return alters(resp)
		}
		return nil
	}
	forward.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) {
		w.WriteHeader(http.StatusBadGateway)
	}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "PROPFIND" {
			l.lists.Add(1)
		} else {
			l.files.Add(1)
		}
		if answers := l.now.Load().answers; answers != nil && answers(w, r) {
			_, _ = io.Copy(io.Discard, r.Body) // it may break off
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *faultProxy) setFault(lie serverFault) { l.now.Store(&lie) }

var discard = slog.New(slog.DiscardHandler)

// User data is migrated: places with their items and passwords, standing questions and their webhooks, share links,
// tokens of programs, and tables.
func TestUserDataIsMigrated(t *testing.T) {
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

	env := emptyPostgres(t)
	_, said := move(t, []string{"FOOTNOTE_DATA=" + s.dir}, env)
	if !strings.Contains(said, "the secrets of 1 connected source") {
		t.Errorf("output of backup and restore = %s, want the number of passwords", said)
	}
	wantInPostgres(t, strings.TrimPrefix(env[1], "DATABASE_URL="), program, grid)
	there := newDir(t)
	if err := os.CopyFS(filepath.Join(there, "places"), os.DirFS(filepath.Join(s.dir, "places"))); err != nil {
		t.Fatal(err)
	}
	moved := serve(t, there, env[1:]...)
	for path, want := range before {
		if got := moved.send("GET", path, nil).body; got != want {
			t.Errorf("%s =\n%s\nwant\n%s", path, got, want)
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

// A server with a shared database does not change the passwords of the directory's own database.
func TestSharedDatabaseKeepsDirectoryPasswords(t *testing.T) {
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
		t.Errorf("source with the first database: failure %+v, want none", state.Failure)
	}
}

// setUp creates user data besides documents, and returns the path of a share link.
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

// read returns the responses for paths.
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

// keepInDirectory stores data that no request without keys creates: a program's token, and a table with a cell.
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
	grid, err := db.Chats().AddGrid(t.Context(), scope, chat.Grid{
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

// wantInPostgres checks the data of keepInDirectory.
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
		t.Errorf("cells = %+v, %v; want one with nine metres", cells, err)
	}
}

// placeState is a place in a server's response.
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

// followPlace adds a place and waits for the first sync.
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

// look syncs a place and returns its state.
func (s *server) look(id string) placeState {
	s.t.Helper()
	before := loose[placeState](s.t, s.send("GET", "/places/"+id, nil).body).LookedAt
	if r := s.send("POST", "/places/"+id+"/look", nil); r.status != http.StatusAccepted {
		s.t.Fatalf("look: %d %s", r.status, r.body)
	}
	return s.looked(id, before)
}

// looked waits until a sync after a given time has finished.
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
