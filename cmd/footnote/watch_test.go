package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// follow starts "footnote watch" on a folder. It is killed when the test ends.
func follow(t *testing.T, data, dir string, args ...string) *server {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"watch", dir, "--data=" + data}, args...)...)
	cmd.Env, cmd.Dir = environment(nil), filepath.Dir(data)
	return launch(t, cmd, data)
}

// listedDocument is a document in the API's list.
type listedDocument struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	State  string `json:"state"`
}

// listDocuments lists all documents.
func (s *server) listDocuments() []listedDocument {
	s.t.Helper()
	var all []listedDocument
	for cursor := ""; ; {
		r := s.send("GET", "/documents?limit=1000&cursor="+url.QueryEscape(cursor), nil)
		page := loose[struct {
			Documents []listedDocument `json:"documents"`
			Next      string           `json:"next"`
		}](s.t, r.body)
		all = append(all, page.Documents...)
		if cursor = page.Next; cursor == "" {
			return all
		}
	}
}

// at returns the document at a path, if it is ready.
func (s *server) at(path string) (listedDocument, bool) {
	s.t.Helper()
	for _, d := range s.listDocuments() {
		if d.Path == path && d.State == "ready" {
			return d, true
		}
	}
	return listedDocument{}, false
}

func put(t *testing.T, name, body string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The sync applies new, changed, renamed and deleted files of a folder; other documents stay.
func TestLibraryFollowsFolder(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(file{"own.md", "# Own\n\nThe bridge was added by hand.\n"})
	dir := folder(t, file{"a.md", "# A\n\nThe miller lives in the first house.\n"},
		file{"sub/b.md", "# B\n\nThe tenant lives in the second house.\n"},
		file{"own-copy.md", "# Own\n\nThe bridge was added by hand.\n"},
		file{"secret.md", "# Secret\n\nNobody reads this.\n"}, file{".footnoteignore", "secret.*\n"})
	base := filepath.Base(dir) + "/"
	w := follow(t, s.dir, dir)
	if w.url == "" || !strings.Contains(w.banner, dir) {
		t.Errorf("banner of watch = %q, want the server and %s", w.banner, dir)
	}
	await := func(path string) (d listedDocument) {
		t.Helper()
		eventually(t, path+" is ready\n"+w.log.String(), func() (ok bool) { d, ok = s.at(base + path); return ok })
		return d
	}
	a, b := await("a.md"), await("sub/b.md")

	put(t, filepath.Join(dir, "new.md"), "# New\n\nThe surveyor came later.\n")
	await("new.md")
	put(t, filepath.Join(dir, "a.md"), "# A\n\nThe miller moved to the ninth house.\n")
	eventually(t, "a changed file is read again", func() bool {
		return s.holds(a.ID, "ninth")
	})
	if err := os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "attic")); err != nil {
		t.Fatal(err)
	}
	if moved := await("attic/b.md"); moved.ID != b.ID {
		t.Errorf("a renamed file has the document %s, want %s as before", moved.ID, b.ID)
	}
	if err := os.Remove(filepath.Join(dir, "new.md")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a deleted file's document is deleted", func() bool { _, ok := s.at(base + "new.md"); return !ok })
	var paths []string
	for _, d := range s.listDocuments() {
		paths = append(paths, strings.TrimPrefix(d.Path, base))
	}
	slices.Sort(paths)
	if want := []string{"a.md", "attic/b.md", "own.md"}; !slices.Equal(paths, want) {
		t.Errorf("documents = %q, want %q", paths, want)
	}
	if code := w.end(os.Interrupt); code != 0 {
		t.Errorf("watch ended with code %d, want 0:\n%s", code, w.log)
	}
	if err := os.RemoveAll(filepath.Join(dir, "attic")); err != nil {
		t.Fatal(err)
	}
	follow(t, s.dir, dir)
	eventually(t, "what happened while nobody watched is seen", func() bool { return len(s.listDocuments()) == 2 })
}

// watchedFiles returns the number of files in the kill test: FOOTNOTE_WATCH_FILES, or the default.
func watchedFiles(t *testing.T) int {
	t.Helper()
	return numberFrom(t, "FOOTNOTE_WATCH_FILES", 200, 20)
}

// A tenth of a folder's files changes in all ways while watch and server are killed repeatedly: in the end each
// content has exactly one document.
func TestKilledWatchLosesNothing(t *testing.T) {
	t.Parallel()
	n, rng := watchedFiles(t), rand.New(rand.NewPCG(7, 11))
	dir, data := t.TempDir(), newDir(t)
	name := func(i int) string { return filepath.Join(dir, fmt.Sprintf("f%05d.md", i)) }
	for i := range n {
		put(t, name(i), fmt.Sprintf("# Note %d\n\nThe parcel %d was surveyed on day %d.\n", i, i, i*3))
	}
	w := follow(t, data, dir)
	eventually(t, "some files are there", func() bool { return len(w.listDocuments()) > n/4 })
	w.kill()
	w = follow(t, data, dir)
	w.complete(t, dir)
	changes := max(n/10, 60)
	for i := range changes {
		switch at := name(rng.IntN(n)); rng.IntN(4) {
		case 0:
			put(t, filepath.Join(dir, fmt.Sprintf("g%d.md", i)), fmt.Sprintf("# New %d\n\nA new parcel %d.\n", i, i))
		case 1:
			put(t, at, fmt.Sprintf("# Changed %d\n\nThe parcel was sold in deal %d.\n", i, i))
		case 2:
			_ = os.Rename(at, filepath.Join(dir, fmt.Sprintf("r%d.md", i))) // it may be deleted
		case 3:
			_ = os.Remove(at)
		}
		if i%(changes/3) == changes/6 {
			before := fmt.Sprint(w.listDocuments())
			put(t, filepath.Join(dir, fmt.Sprintf("mark%d.md", i)), fmt.Sprintf("# Mark %d\n\nOne more parcel.\n", i))
			eventually(t, "a change is followed\n"+w.log.String(), func() bool {
				return fmt.Sprint(w.listDocuments()) != before
			})
			w.kill()
			w = follow(t, data, dir)
		}
	}
	w.complete(t, dir)
}

// complete waits until each content of the folder has one ready document, and there are no others.
func (s *server) complete(t *testing.T, dir string) {
	t.Helper()
	want := map[string]bool{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		want[hex.EncodeToString(sum[:])] = true
	}
	eventually(t, fmt.Sprintf("%d contents have a document each", len(want)), func() bool {
		got := map[string]bool{}
		all := s.listDocuments()
		for _, d := range all {
			if d.State == "ready" && want[d.SHA256] {
				got[d.SHA256] = true
			}
		}
		return len(got) == len(want) && len(all) == len(want)
	})
}

// Only one replica at a time syncs a folder; when that one dies, another takes over.
func TestOneReplicaFollowsFolderAtTime(t *testing.T) {
	t.Parallel()
	dir := folder(t, file{"a.md", "# A\n\nThe miller lives in the first house.\n"})
	env := []string{"DATABASE_URL=" + postgrestest.Shared(t).Schema(t), "FOOTNOTE_BLOBS=file://" + t.TempDir(),
		"FOOTNOTE_WATCH=" + dir}
	one, two := serve(t, newDir(t), env...), serve(t, newDir(t), env...)
	path := filepath.Base(dir) + "/"
	eventually(t, "the file is there", func() bool { _, ok := two.at(path + "a.md"); return ok })
	const follows = "library synced"
	first, second := one, two
	if strings.Contains(two.log.String(), follows) {
		first, second = two, one
	}
	if text := second.log.String(); strings.Contains(text, follows) {
		t.Errorf("both follow, want one:\n%s", text)
	}
	first.kill()
	put(t, filepath.Join(dir, "b.md"), "# B\n\nThe tenant lives in the second house.\n")
	eventually(t, "the other goes on", func() bool { _, ok := second.at(path + "b.md"); return ok })
	if code := second.end(os.Interrupt); code != 0 || strings.Contains(second.log.String(), "could not sync the "+
		"library") {
		t.Errorf("code %d, want 0 and no failure in the log:\n%s", code, second.log)
	}
}

// A server with keys requires an owner for the documents of a folder.
func TestFollowedFolderNeedsOwnerWithKeys(t *testing.T) {
	t.Parallel()
	data, dir := newDir(t), folder(t, file{"a.md", "# A\n\nThe miller lives in the first house.\n"})
	made := command(t, "", nil, "key", "new", "ada", "--data="+data)
	if made.code != 0 {
		t.Fatalf("key new: %+v, want code 0", made)
	}
	refused := command(t, "", []string{"FOOTNOTE_WATCH=" + dir}, "serve", "--addr=127.0.0.1:0", "--data="+data)
	if refused.code != 1 || !strings.Contains(refused.stderr, "FOOTNOTE_WATCH requires FOOTNOTE_API_KEY") {
		t.Errorf("without a key: %+v; want code 1 and %q", refused, "FOOTNOTE_WATCH requires FOOTNOTE_API_KEY")
	}
	key := strings.TrimSpace(made.stdout)
	s := serve(t, data, "FOOTNOTE_WATCH="+dir, "FOOTNOTE_API_KEY="+key)
	s.key = key
	path := filepath.Base(dir) + "/a.md"
	eventually(t, "the file is there\n"+made.stdout, func() bool { _, ok := s.at(path); return ok })
}

// leftOut returns the skipped files of a folder, by the API and by the page, which must be equal.
func (s *server) leftOut(dir string) map[string]string {
	s.t.Helper()
	got := loose[struct {
		Folders []struct {
			Folder  string `json:"folder"`
			LeftOut []struct {
				Path   string `json:"path"`
				Reason string `json:"reason"`
			} `json:"left_out"`
		} `json:"folders"`
	}](s.t, s.send("GET", "/watched", nil).body)
	page := html.UnescapeString(s.send("GET", "/documents", nil, header{"Accept", "text/html"}).body)
	left := map[string]string{}
	for _, folder := range got.Folders {
		for _, f := range folder.LeftOut {
			if folder.Folder == dir {
				left[f.Path] = f.Reason
			}
			if !strings.Contains(page, f.Reason) || !strings.Contains(page, f.Path) {
				s.t.Errorf("documents page lacks %q of %s", f.Reason, f.Path)
			}
		}
	}
	return left
}

// A rejected file is logged once; the documents of a folder stay while folder is empty.
func TestWatchLogsRejectedFileOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	dir := folder(t, file{"a.md", "# A\n\nThe miller lives in the first house.\n"}, file{"empty.md", ""},
		file{"large.md", strings.Repeat("The tenant pays. ", 1<<17)}, file{"film.mov", "\x00\x00"})
	base := filepath.Base(dir) + "/"
	w := follow(t, s.dir, dir, "--max-upload-mib=1")
	await := func(name string) {
		t.Helper()
		eventually(t, name+" is there\n"+w.log.String(), func() bool { _, ok := s.at(base + name); return ok })
	}
	await("a.md")
	eventually(t, "the empty file is refused", func() bool { return strings.Contains(w.log.String(), "empty.md") })
	for i := range 3 { // each is another sync
		put(t, filepath.Join(dir, fmt.Sprintf("b%d.md", i)), fmt.Sprintf("# B\n\nThe house %d is empty.\n", i))
		await(fmt.Sprintf("b%d.md", i))
	}
	log := w.log.String()
	for _, once := range []string{"file=empty.md", "file=large.md", "1 skipped, with unsupported formats: 1 .mov"} {
		if n := strings.Count(log, once); n != 1 {
			t.Errorf("log has %q %d times, want once:\n%s", once, n, log)
		}
	}
	want := map[string]string{
		"empty.md": "The file is empty. Choose another file.",
		"large.md": "It exceeds the limit of 1 MiB (FOOTNOTE_MAX_UPLOAD_MIB).",
		"film.mov": "Files that end with .mov can't be read.",
	}
	eventually(t, "the page says what is left out\n"+w.log.String(), func() bool {
		return maps.Equal(s.leftOut(dir), want)
	})
	put(t, filepath.Join(dir, "large.md"), "# C\n\nIt is shorter now.\n")
	await("large.md")
	put(t, filepath.Join(dir, ".footnoteignore"), "drafts\n")
	if err := os.Mkdir(filepath.Join(dir, "drafts"), 0o700); err != nil {
		t.Fatal(err)
	}
	delete(want, "large.md")
	want["drafts/"] = "It is named in .footnoteignore."
	eventually(t, "the page follows what is left out\n"+w.log.String(), func() bool {
		return maps.Equal(s.leftOut(dir), want)
	})

	away := dir + "-away"
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the folder is missed", func() bool {
		return strings.Contains(w.log.String(), "its documents are "+
			"kept")
	})
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the empty folder is seen", func() bool {
		return strings.Contains(w.log.String(), "folder is empty")
	})
	if got := len(s.listDocuments()); got != 5 {
		t.Errorf("%d documents are left, want all 5", got)
	}
}

// The skipped files that watch reported are persistent: the page shows them to the documents' owner after a
// restart.
func TestSkippedFilesSurviveRestart(t *testing.T) {
	t.Parallel()
	dir := folder(t, file{"a.md", "# A\n\nThe miller lives in the first house.\n"}, file{"film.mov", "\x00\x00"})
	s := serve(t, newDir(t), "FOOTNOTE_WATCH="+dir)
	want := map[string]string{"film.mov": "Files that end with .mov can't be read."}
	eventually(t, "the film is left out", func() bool { return maps.Equal(s.leftOut(dir), want) })
	s.kill()
	s = serve(t, s.dir)
	if left := s.leftOut(dir); !maps.Equal(left, want) {
		t.Errorf("after a restart left out = %q, want %q", left, want)
	}
}

// numberFrom returns the size of a test: the value of an environment variable, which must be a number of at least
// least, or the default.
func numberFrom(t *testing.T, name string, usual, least int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		t.Fatalf("%s = %q, want a number from %d", name, text, least)
	}
	return n
}

// A conversation without a model: every question refers to the answer before it.
func TestOfflineConversationUsesPreviousAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books[0])
	for _, turn := range [][2]string{
		{"What is the condition of the roof?",
			"Found in your documents:\n\n> The roof of the mill is in poor condition. " +
				"Several slates are missing on its north slope. [1]"},
		{"Tell me more", "> The damp in the kitchen comes from a blocked gutter above the rear wall. [1]"},
		{"What does footnote 1 say?", "> The damp in the kitchen comes from a blocked gutter above the rear wall. [1]"},
		{"Show me the survey.md document", "> The roof of the mill is in poor condition. [1]"},
		{"Translate this: The roof is good", "I can't put a text in other words: that needs a language model"},
	} {
		r := s.send(
			"POST", "/agent/chat",
			fmt.Sprintf(`{"message":%q,"session_id":"offline-talk","citation_style":"numeric"}`, turn[0]),
		)
		if got := loose[struct{ Response string }](t, r.body); r.status != http.StatusOK ||
			!strings.HasPrefix(got.Response, turn[1]) {
			t.Errorf("%s: %d %q, want %q", turn[0], r.status, got.Response, turn[1])
		}
	}
	r := s.send(
		"POST", "/agent/chat",
		`{"message": "Explain this in simple terms", "session_id": "test_session_2", `+
			`"context_text": "The ZMP is the point where forces balance..."}`,
	)
	const want = "This is what it says:\n\n> The ZMP is the point where forces balance..."
	got := loose[struct{ Response string }](t, r.body).Response
	if r.status != http.StatusOK || !strings.Contains(got, want) {
		t.Errorf("a given text: %d %q; want %d and %q in it", r.status, got, http.StatusOK, want)
	}
}

// Headers of browsers and of a proxy.
var (
	asPage   = header{"Accept", "text/html"}
	asForm   = header{"Content-Type", "application/x-www-form-urlencoded"}
	passedOn = header{"X-Forwarded-For", "192.0.2.1"}
)

// submit posts a form of the page with a folder.
func (s *server) submit(path, folder string) reply {
	return s.send("POST", path, "folder="+url.QueryEscape(folder), asForm, asPage)
}

// A folder chosen on the page is followed at once and after a restart, until it is removed; then its documents
// stay, and the sync stops.
func TestFolderIsSelectedOnPage(t *testing.T) {
	t.Parallel()
	dir := folder(t, file{"Case/lease.md", "# Lease\n\nThe tenant may end the lease after three years.\n"},
		file{"other/x.md", "# X\n\nNothing.\n"})
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	papers := filepath.Join(dir, "Case")
	s := serve(t, newDir(t), "HOME="+dir)
	page := func(path string) string {
		return html.UnescapeString(s.send("GET", path, nil, asPage).body)
	}
	if got := page("/"); !strings.Contains(got, `href="/folders"`) {
		t.Error("home page lacks the link to the folders")
	}
	if got := page("/folders"); !strings.Contains(got, papers) && !strings.Contains(got, url.QueryEscape(papers)) {
		t.Errorf("page of folders does not start at home: %s", got)
	}
	for folder, why := range map[string]string{
		filepath.Join(dir, "none"): "Folder not found", s.dir: "contains Footnote's own data", "/": "an entire disk",
		filepath.Join(papers, "lease.md"): "This is a file",
	} {
		got := s.submit("/folders", folder)
		if got.status != 400 || !strings.Contains(html.UnescapeString(got.body), why) {
			t.Errorf("%s: %d, want 400 and %q: %s", folder, got.status, why, got.body)
		}
	}
	if got := s.submit("/folders", papers); got.status != 200 {
		t.Fatalf("%d %s, want it followed", got.status, got.body)
	}
	eventually(t, "the folder's document is there", func() bool { _, ok := s.at("Case/lease.md"); return ok })
	eventually(t, "the documents page says that it is followed", func() bool {
		return strings.Contains(page("/documents"), "1 file · checked")
	})
	if got := s.submit("/folders", dir); got.status != 400 ||
		!strings.Contains(got.body, "A subfolder is already watched") {
		t.Errorf("the folder around it: %d, want 400 and why: %s", got.status, got.body)
	}
	s.end(os.Interrupt)
	put(t, filepath.Join(papers, "cellar.md"), "# Cellar\n\nIt is dry.\n")
	s = serve(t, s.dir, "HOME="+dir)
	eventually(t, "it is followed after a restart", func() bool { _, ok := s.at("Case/cellar.md"); return ok })
	if got := s.submit("/folders/stop", papers); got.status != 200 {
		t.Fatalf("stop: %d %s", got.status, got.body)
	}
	if got := s.submit("/folders/stop", papers); got.status != 404 {
		t.Errorf("stop again: %d %s, want 404", got.status, got.body)
	}
	if got := page("/documents"); strings.Contains(got, papers) || !strings.Contains(got, "lease.md") {
		t.Errorf("page still has the removed folder or lacks its documents: %s", got)
	}
	if got := s.send("GET", "/watched", nil).body; strings.Contains(got, papers) {
		t.Errorf("removed folder is still listed: %s", got)
	}
	s.end(os.Interrupt)
	// A folder that is missing when the server starts is retried.
	kept, away := filepath.Join(s.dir, "folders.json"), filepath.Join(dir, "away")
	put(t, kept, `{"folders":["`+away+`"]}`)
	s = serve(t, s.dir, "HOME="+dir)
	eventually(t, "a folder that is away is said to be", func() bool {
		return strings.Contains(page("/documents"), "Folder missing or unreadable")
	})
	// A proxied request is treated as remote.
	for _, got := range []reply{
		s.send("GET", "/folders", nil, asPage, passedOn),
		s.send("POST", "/folders", "folder="+url.QueryEscape(dir), passedOn, asForm),
	} {
		if got.status != 403 || strings.Contains(got.body, dir) {
			t.Errorf("through a proxy: %d %.300s, want 403", got.status, got.body)
		}
	}
	if got := s.send("GET", "/", nil, asPage, passedOn).body; strings.Contains(
		got, `href="/folders"`) {
		t.Error("home page offers folders to a proxied request")
	}
	s.end(os.Interrupt)
	put(t, kept, `{"folders":`)
	if got := command(t, "", nil, "serve", "--data="+s.dir, "--addr=127.0.0.1:0"); got.code == 0 ||
		!strings.Contains(got.stderr, "selected on the page") {
		t.Errorf("a damaged file: %d %s, want it said", got.code, got.stderr)
	}
}

// Users with keys can't list the server's disk. Folders that were chosen before the first key are no longer
// followed.
func TestFoldersAreForLocalUserOnly(t *testing.T) {
	t.Parallel()
	papers := folder(t, file{"lease.md", "# Lease\n\nThree years.\n"})
	dir := newDir(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "folders.json"), `{"folders":["`+papers+`"]}`)
	made := command(t, "", nil, "key", "new", "ada", "--data="+dir)
	key := strings.Fields(made.stdout)
	if made.code != 0 || len(key) == 0 {
		t.Fatalf("%d %s %s", made.code, made.stdout, made.stderr)
	}
	s := serve(t, dir)
	sent := ""
	for _, word := range key {
		if s.send("GET", "/documents", nil, header{"X-API-Key", word}).status == 200 {
			sent = word
		}
	}
	if sent == "" {
		t.Fatalf("output lacks the key: %q", made.stdout)
	}
	for _, path := range []string{"/folders", "/folders?at=/"} {
		if got := s.send("GET", path, nil, header{"X-API-Key", sent}, asPage); got.status != 403 {
			t.Errorf("%s with a key: %d, want 403", path, got.status)
		}
	}
	if got := s.send("GET", "/documents", nil, header{"X-API-Key", sent}, asPage).body; strings.Contains(got, papers) {
		t.Error("document page of another user has the folder")
	}
	if !strings.Contains(s.log.String(), "selected on the page are not watched") {
		t.Errorf("log lacks that the folder is not followed: %s", s.log)
	}
}
