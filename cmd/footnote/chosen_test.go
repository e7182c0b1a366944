package main_test

import (
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// headers of browsers, and of a proxy
var (
	asPage   = header{"Accept", "text/html"}
	asForm   = header{"Content-Type", "application/x-www-form-urlencoded"}
	passedOn = header{"X-Forwarded-For", "192.0.2.1"}
)

// submit posts a form of the page.
func (s *server) submit(path, folder string) reply {
	return s.send("POST", path, "folder="+url.QueryEscape(folder), asForm, asPage)
}

// A folder that is chosen on the page is followed at once and after a restart, until that is ended; then its documents
// stay, and nothing follows any more.
func TestAFolderIsChosenOnThePage(t *testing.T) {
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
		t.Error("the first page offers no folder to watch")
	}
	if got := page("/folders"); !strings.Contains(got, papers) && !strings.Contains(got, url.QueryEscape(papers)) {
		t.Errorf("the page of folders does not begin at home: %s", got)
	}
	for folder, why := range map[string]string{
		filepath.Join(dir, "none"): "There is no such folder", s.dir: "keeps its own data", "/": "the whole disk",
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
		return strings.Contains(page("/documents"), "1 file · looked at")
	})
	if got := s.submit("/folders", dir); got.status != 400 || !strings.Contains(got.body, "is watched already") {
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
		t.Errorf("after it was ended the page names the folder, or its documents are gone: %s", got)
	}
	if got := s.send("GET", "/watched", nil).body; strings.Contains(got, papers) {
		t.Errorf("after it was ended: %s", got)
	}
	s.end(os.Interrupt)
	// a folder that is not there when the server starts is waited for
	kept, away := filepath.Join(s.dir, "folders.json"), filepath.Join(dir, "away")
	put(t, kept, `{"folders":["`+away+`"]}`)
	s = serve(t, s.dir, "HOME="+dir)
	eventually(t, "a folder that is away is said to be", func() bool {
		return strings.Contains(page("/documents"), "can't be read now")
	})
	// a proxy stands for people elsewhere
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
		t.Error("through a proxy the first page offers a folder to watch")
	}
	s.end(os.Interrupt)
	put(t, kept, `{"folders":`)
	if got := command(t, "", nil, "serve", "--data="+s.dir, "--addr=127.0.0.1:0"); got.code == 0 ||
		!strings.Contains(got.stderr, "chosen on the page") {
		t.Errorf("a damaged file: %d %s, want it said", got.code, got.stderr)
	}
}

// Who sees the documents of users with keys does not see the server's disk; folders that were chosen before there were
// keys rest.
func TestFoldersAreForTheLocalUserAlone(t *testing.T) {
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
		t.Fatalf("no key in %q", made.stdout)
	}
	for _, path := range []string{"/folders", "/folders?at=/"} {
		if got := s.send("GET", path, nil, header{"X-API-Key", sent}, asPage); got.status != 403 {
			t.Errorf("%s with a key: %d, want 403", path, got.status)
		}
	}
	if got := s.send("GET", "/documents", nil, header{"X-API-Key", sent}, asPage).body; strings.Contains(got, papers) {
		t.Error("the documents page of a user names the folder")
	}
	if !strings.Contains(s.log.String(), "were chosen on the page are not followed") {
		t.Errorf("the log does not say that the folder rests: %s", s.log)
	}
}
