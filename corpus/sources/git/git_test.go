package git

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/git/gittest"
	"github.com/footnote/footnote/corpus/sources/placestest"
)

// openAt opens a served repository with further settings.
func openAt(t *testing.T, r *gittest.Repository, more sources.Settings) *repository {
	t.Helper()
	settings := sources.Settings{"url": r.Address}
	maps.Copy(settings, more)
	opened, ok := placestest.Open(t, Kind(), settings, placestest.Net(t, r.At)).(*repository)
	if !ok {
		t.Fatal("repository is missing")
	}
	return opened
}

// readAll fetches all files of a repository in batches, by key.
func readAll(t *testing.T, p *repository) map[string]string {
	t.Helper()
	items, err := placestest.List(t, p)
	if err != nil {
		t.Fatal(err)
	}
	var soon []sources.Item
	for _, key := range slices.Sorted(maps.Keys(items)) {
		soon = append(soon, items[key])
	}
	texts := map[string]string{}
	for batch := range slices.Chunk(soon, 100) {
		p.Prefetch(batch)
		for _, item := range batch {
			text, _, err := placestest.Read(t, p, item, "")
			if err != nil {
				t.Fatalf("read %q: %v", item.Key, err)
			}
			texts[item.Key] = text
		}
	}
	return texts
}

func TestRealRepositoryWithUnusualNames(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		r := gittest.Serve(t, "--object-format="+format)
		names := []string{
			"plain.txt", "with space.txt", "100% sure.txt", "Größe ‐ 日本語.md", "a+b&c=d;e#f?g.txt", "'quote\".txt",
			strings.Repeat("ü", 120) + ".txt", "deep/deeper %25/file.txt", "back\\slash.txt", "line\nbreak.txt",
			"odd \xff\xfe bytes.txt", strings.Repeat(strings.Repeat("x", 250)+"/", 5) + "far.txt",
		}
		files := map[string]string{"empty.txt": "", "twice.txt": "text of plain.txt"}
		for _, name := range names {
			files[name] = "text of " + name
		}
		r.Write(files)
		r.Write(map[string]string{".hidden.txt": "x", ".github/hidden.md": "x", "deep/.hidden/x.md": "x"})
		if err := os.Symlink("plain.txt", filepath.Join(r.Clone, "link.txt")); err != nil {
			t.Fatal(err)
		}
		first := r.Push()
		r.Git("update-index", "--add", "--cacheinfo", "160000,"+first+",module")
		r.Git("commit", "-q", "-m", "Module")
		r.Git("push", "-q", "origin", "HEAD")

		p := openAt(t, r, nil)
		if err := p.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Traffic()
		texts := readAll(t, p)
		if len(texts) != len(files) {
			t.Fatalf("%d files, want %d: %q", len(texts), len(files), slices.Sorted(maps.Keys(texts)))
		}
		for name, want := range files {
			var names []string
			for part := range strings.SplitSeq(name, "/") {
				names = append(names, sources.EscapeName(part))
			}
			key := sources.KeyOf(strings.Join(names, "/"))
			if text, there := texts[key]; !there || text != want {
				t.Errorf("%s: %q = %q, want %q", format, name, text, want)
			}
		}
		// one request for the commit, one batch for the distinct files
		if so := r.Traffic(); len(so.Asked) != len(files) || so.Times != 2 {
			t.Errorf("%s: %d objects in %d requests, want %d in two", format, len(so.Asked), so.Times, len(files))
		}
	}
}

func TestUnchangedFileKeepsVersion(t *testing.T) {
	t.Parallel()
	r := gittest.Serve(t)
	r.Write(map[string]string{"a.md": "# A", "in/b.md": "# B", "c.md": "# C"})
	r.Push()
	before, err := placestest.List(t, openAt(t, r, nil))
	if err != nil {
		t.Fatal(err)
	}
	r.Write(map[string]string{"in/b.md": "# Another", "d.md": "# D"})
	r.Git("rm", "-q", "c.md")
	r.Push()
	p := openAt(t, r, nil)
	after, err := placestest.List(t, p)
	if err != nil || len(after) != 3 || after["a.md"].Version != before["a.md"].Version ||
		after["in/b.md"].Version == before["in/b.md"].Version || after["d.md"].Version == "" {
		t.Errorf("after = %+v, %v; want a.md as before, in/b.md otherwise and d.md new", after, err)
	}
	a := after["a.md"]
	if _, _, err := placestest.Read(t, p, a, a.Version); !errors.Is(err, sources.ErrSame) {
		t.Errorf("a.md again: %v, want ErrSame", err)
	}
}

func TestBranchesTagsAndFolders(t *testing.T) {
	t.Parallel()
	r := gittest.Serve(t)
	p := openAt(t, r, nil)
	placestest.WantCode(t, "no commits", p.Check(t.Context()), chat.CodeInvalid)
	r.Write(map[string]string{"a.md": "# A", "docs/in/b.md": "# B", "docs/in/deep/c.md": "# C"})
	r.Push()
	r.Git("tag", "-a", "-m", "One", "v1")
	r.Git("tag", "light")
	r.Git("push", "-q", "origin", "v1", "light")
	r.Git("checkout", "-q", "-b", "next/one")
	r.Write(map[string]string{"new.md": "# New"})
	r.Push()
	for _, test := range []struct {
		branch, folder string
		want           string // names
	}{
		{"", "", "a.md docs/in/b.md docs/in/deep/c.md"},
		{"main", "/docs/in/", "b.md deep/c.md"},
		{"v1", "docs", "in/b.md in/deep/c.md"},
		{"light", "docs/in/deep", "c.md"},
		{"next/one", "", "a.md docs/in/b.md docs/in/deep/c.md new.md"},
	} {
		p := openAt(t, r, sources.Settings{"branch": test.branch, "folder": test.folder})
		if err := p.Check(t.Context()); err != nil {
			t.Errorf("%+v: %v", test, err)
		}
		items, err := placestest.List(t, p)
		var names []string
		for _, key := range slices.Sorted(maps.Keys(items)) {
			names = append(names, items[key].Name)
		}
		if got := strings.Join(names, " "); err != nil || got != test.want {
			t.Errorf("%+v: %q, %v", test, got, err)
		}
	}
	for _, wrong := range []sources.Settings{
		{"branch": "mai"}, {"branch": "gone"}, {"folder": "doc"}, {"folder": "a.md"}, {"folder": "docs/in/deep/er"},
	} {
		p := openAt(t, r, wrong)
		placestest.WantCode(t, fmt.Sprint(wrong), p.Check(t.Context()), chat.CodeInvalid)
		items, err := placestest.List(t, p)
		placestest.WantCode(t, fmt.Sprint(wrong), err, chat.CodeInvalid)
		if len(items) > 0 {
			t.Errorf("%v: got %v, want no items", wrong, items)
		}
	}
	r.Serving("symbolic-ref", "HEAD", "refs/heads/nowhere")
	placestest.WantCode(t, "no main branch", p.Check(t.Context()), chat.CodeInvalid)
}

// Packs have folders and files as deltas of any depth.
func TestPacksWithDeltas(t *testing.T) {
	t.Parallel()
	r := gittest.Serve(t)
	files := map[string]string{}
	var all strings.Builder
	for i := range 300 {
		fmt.Fprintf(&all, "Line %d of a text that grows, %x.\n", i, i*i*i)
		files[fmt.Sprintf("folder %d/sub/file %d.txt", i%5, i)] = all.String()
		files[fmt.Sprintf("flat/%d.txt", i)] = fmt.Sprint("Text ", i)
	}
	r.Write(files)
	r.Push()
	r.Serving("repack", "-q", "-a", "-d", "-f", "--depth=50", "--window=50")
	for _, filter := range []string{"true", "false"} {
		r.Configure("uploadpack.allowFilter", filter)
		if texts := readAll(t, openAt(t, r, nil)); !maps.Equal(texts, files) {
			t.Errorf("with the filter %s: %d files, or other texts; want %d", filter, len(texts), len(files))
		}
		// one request for the commit, and one for each batch: no file is fetched again without its base
		if so := r.Traffic(); so.Times != 1+len(files)/100 {
			t.Errorf("with the filter %s: %d requests, want %d", filter, so.Times, 1+len(files)/100)
		}
	}
}

func TestListingReadsNoFiles(t *testing.T) {
	t.Parallel()
	r := gittest.Serve(t)
	r.Configure("core.compression", "0")
	r.Git("config", "core.compression", "0")
	noise := make([]byte, togetherRoom+1)
	_, _ = rand.Read(noise)
	files := map[string]string{"a.md": "# A", "in/big.bin": string(noise), "in/deep/z.md": "# Z"}
	r.Write(files)
	r.Push()
	p := openAt(t, r, nil)
	items, err := placestest.List(t, p)
	if so := r.Traffic(); err != nil || len(items) != 3 || so.Sent > 10_000 {
		t.Errorf("got %d files after %d bytes, %v", len(items), so.Sent, err)
	}
	p.Prefetch([]sources.Item{items["a.md"], items["in/big.bin"], items["in/deep/z.md"]})
	for key, want := range files { // one of them is too large for a batch
		if text, _, err := placestest.Read(t, p, items[key], ""); err != nil || text != want {
			t.Errorf("%s = %d bytes, %v", key, len(text), err)
		}
	}
	if len(p.held) > 0 {
		t.Errorf("%d fetched files are still held, want none", len(p.held))
	}
}

func TestLFSPointersAreRejected(t *testing.T) {
	t.Parallel()
	r := gittest.Serve(t)
	r.Write(map[string]string{
		"film.mp4": "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
		"text.md":  "version https://git-lfs.github.com is told here",
	})
	r.Push()
	p := openAt(t, r, nil)
	items, err := placestest.List(t, p)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = placestest.Read(t, p, items["film.mp4"], "")
	placestest.WantCode(t, "a pointer", err, chat.CodeUnsupported)
	if text, _, err := placestest.Read(t, p, items["text.md"], ""); err != nil || !strings.HasPrefix(text, "version") {
		t.Errorf("text.md = %q, %v", text, err)
	}
}

// A file that the server deleted after the list does not affect the others.
func TestDeletedFileDoesNotAffectOthers(t *testing.T) {
	t.Parallel()
	r := gittest.Serve(t)
	r.Write(map[string]string{"a.md": "# A", "b.md": "# B", "c.md": "# C"})
	r.Push()
	p := openAt(t, r, nil)
	items, err := placestest.List(t, p)
	if err != nil {
		t.Fatal(err)
	}
	r.Git("rm", "-q", "b.md")
	r.Git("commit", "-q", "--amend", "-m", "Otherwise")
	r.Git("push", "-q", "--force", "origin", "HEAD")
	r.Serving("reflog", "expire", "--expire=all", "--all")
	r.Serving("gc", "-q", "--prune=now")
	p.Prefetch([]sources.Item{items["a.md"], items["b.md"], items["c.md"]})
	for key, gone := range map[string]bool{"a.md": false, "b.md": true, "c.md": false} {
		if _, _, err := placestest.Read(t, p, items[key], ""); errors.Is(err, sources.ErrGone) != gone {
			t.Errorf("%s: got %v; want ErrGone: %v", key, err, gone)
		}
	}
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	r := gittest.Serve(t)
	r.Write(map[string]string{"a.md": "# A"})
	r.Push()
	var agents bytes.Buffer
	r.BreakWith(func(w http.ResponseWriter, req *http.Request) bool {
		agents.WriteString(req.UserAgent()[:4])
		name, token, _ := req.BasicAuth()
		if name == "" || token != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="Git"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
		return name == "" || token != "secret"
	})
	for _, more := range []sources.Settings{{"token": "secret"}, {"token": "secret", "username": "ada"}} {
		p := openAt(t, r, more)
		if items, err := placestest.List(t, p); err != nil || len(items) != 1 {
			t.Errorf("%v: %v, %v", more, items, err)
		}
	}
	for _, more := range []sources.Settings{{}, {"token": "wrong"}, {"username": "ada"}} {
		err := openAt(t, r, more).Check(t.Context())
		placestest.WantCode(t, fmt.Sprint(more), err, chat.CodeUnauthorized)
	}
	if strings.ReplaceAll(agents.String(), "git/", "") != "" {
		t.Errorf("agents = %s, want all to begin with git/", agents.String())
	}
}

func TestInvalidSettingsAreRejected(t *testing.T) {
	t.Parallel()
	for _, s := range []sources.Settings{
		{}, {"url": "git@github.com:ada/book.git"}, {"url": "ssh://example.org/book.git"}, {"url": "ada/book"},
		{"url": "https://ada:secret@example.org/book.git"}, {"url": "https://example.org/a", "branch": "a b"},
		{"url": "https://example.org/a", "branch": "a..b"}, {"url": "https://example.org/a", "folder": "../x"},
		{"url": "file:///etc"},
	} {
		_, err := Kind().Open(s, placestest.Net(t))
		placestest.WantCode(t, fmt.Sprint(s), err, chat.CodeInvalid)
	}
}

func TestLinksPointToFileAtCommit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ root, agent, base string }{
		{"https://github.com/ada/book.git", "", "https://github.com/ada/book/blob/abc/"},
		{"https://code.example.org/ada/book", "git/github-5e1f", "https://code.example.org/ada/book/blob/abc/"},
		{"https://gitlab.com/a/b/book.git", "", "https://gitlab.com/a/b/book/-/blob/abc/"},
		{"https://gitlab.example.org:8443/a/book", "", "https://gitlab.example.org:8443/a/book/-/blob/abc/"},
		{"https://codeberg.org/ada/book.git", "", "https://codeberg.org/ada/book/src/commit/abc/"},
		{"https://gitea.example.org/git/ada/book.git", "", "https://gitea.example.org/git/ada/book/src/commit/abc/"},
		{"https://bitbucket.org/ada/book.git", "", "https://bitbucket.org/ada/book/src/abc/"},
		{"https://git.sr.ht/~ada/book", "", "https://git.sr.ht/~ada/book/tree/abc/item/"},
		{"https://git.example.org/book.git", "git/2.40", ""},
		{"https://notgithub.example.org/book.git", "", ""},
	} {
		want := test.base
		if want != "" {
			want += "in/a%20b%25.md"
		}
		root, err := url.Parse(test.root)
		if err != nil {
			t.Fatal(err)
		}
		if got := linksTo(&server{root: root, agent: test.agent}, "abc")("in/a b%25.md"); got != want {
			t.Errorf("%s: %q, want %q", test.root, got, want)
		}
	}
}
