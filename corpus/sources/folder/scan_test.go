package folder

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		whole := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(whole), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(whole, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestScanSkipsIgnoredAndOutsideFiles(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, map[string]string{"secret.md": "secret"})
	write(t, dir, map[string]string{
		".gitignore":        "# made\n/build/\n*.tmp.md\nnode_modules/\nnotes/**/draft?.md\n",
		".footnoteignore":   "!keep.tmp.md\n{a,b}.md\nlogs\n",
		"a.md":              "a",
		"sub/b.md":          "b",
		"build/c.md":        "ignored",
		"sub/build/d.md":    "d",
		"x.tmp.md":          "ignored",
		"sub/keep.tmp.md":   "kept",
		"y/node_modules/e":  "ignored",
		"notes/p/draft1.md": "ignored",
		"notes/p/draft.md":  "kept",
		"logs/l.md":         "ignored",
		".hidden/h.md":      "ignored",
		"{a,b}.md":          "ignored",
		"picture.png":       "left",
	})
	for link, to := range map[string]string{"link.md": filepath.Join(outside, "secret.md"), "linked": outside} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := f.Scan(func(name string) bool { return strings.HasSuffix(name, ".md") })
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(l.Files))
	want := []string{"a.md", "notes/p/draft.md", "sub/b.md", "sub/build/d.md", "sub/keep.tmp.md"}
	if !slices.Equal(got, want) {
		t.Errorf("files = %q, want %q", got, want)
	}
	if want := []string{"picture.png"}; !slices.Equal(l.Left, want) {
		t.Errorf("left = %q, want %q", l.Left, want)
	}
	skipped := map[string]string{}
	for _, s := range l.Skipped {
		skipped[s.Path] = s.Why
	}
	wantSkipped := map[string]string{
		"build/": "It is named in .gitignore.", "x.tmp.md": "It is named in .gitignore.",
		"y/node_modules/": "It is named in .gitignore.", "notes/p/draft1.md": "It is named in .gitignore.",
		"logs/": "It is named in .footnoteignore.", "{a,b}.md": "It is named in .footnoteignore.",
		"link.md": "Links are not followed.", "linked": "Links are not followed.",
	}
	if !maps.Equal(skipped, wantSkipped) {
		t.Errorf("skipped = %q, want %q", skipped, wantSkipped)
	}
	if file, err := f.Open("link.md"); err == nil {
		_ = file.Close()
		t.Error("a link out of the folder was opened, want an error")
	}
}

// A settings file that is created while its folder is followed is excluded, too.
func TestOwnFileCreatedLaterIsSkipped(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "a"})
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.LeaveOut(filepath.Join(dir, "settings.md"), filepath.Join(dir, "none", "settings.md"))
	write(t, dir, map[string]string{"settings.md": "key: secret"})
	l, err := f.Scan(func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(l.Files)); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("files = %q, want a.md alone", got)
	}
}

// A folder that replaces another one is watched, with all subfolders.
func TestReplacedFolderIsWatched(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	write(t, dir, map[string]string{"sub/a.md": "a"})
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := OpenWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	look := func(want bool) {
		t.Helper()
		l, err := f.Scan(func(string) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		if more, err := n.Watch(dir, l); err != nil || more != want {
			t.Fatalf("Watch = %v, %v; want %v", more, err, want)
		}
	}
	notice := func() {
		t.Helper()
		select {
		case <-n.C:
		case <-time.After(2 * time.Minute):
			t.Fatal("got no notification")
		}
	}
	look(true)
	look(false)
	write(t, dir, map[string]string{"sub/b.md": "b"})
	notice()
	if err := os.Rename(dir, dir+"-old"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"sub/a.md": "a"})
	look(true)
	if left := len(n.watcher.WatchList()); left != 2 {
		t.Errorf("%d folders are looked at, want 2: %q", left, n.watcher.WatchList())
	}
	look(false)
	for len(n.C) > 0 {
		<-n.C
	}
	write(t, dir, map[string]string{"sub/c.md": "c"})
	notice()
}

// fakeLibrary is a fake library that deduplicates contents, restores deleted documents by hash and replaces documents
// by path.
type fakeLibrary struct {
	documents, deleted []Document
	ids                int
}

func (s *fakeLibrary) apply(step Step, files map[string]string) {
	if step.Delete != "" {
		at := slices.IndexFunc(s.documents, func(d Document) bool { return d.ID == step.Delete })
		s.deleted = append(s.deleted, s.documents[at])
		s.documents = slices.Delete(s.documents, at, at+1)
	}
	if step.Add == "" {
		return
	}
	sha := files[step.Add]
	for _, d := range s.documents {
		if d.SHA256 == sha {
			return
		}
	}
	for i, d := range s.documents {
		if d.Path == step.Add {
			s.documents[i].SHA256 = sha
			return
		}
	}
	d := Document{ID: fmt.Sprint("d", s.ids+1), SHA256: sha, Path: step.Add, Ours: true}
	if at := slices.IndexFunc(s.deleted, func(d Document) bool { return d.SHA256 == sha }); at >= 0 {
		d.ID = s.deleted[at].ID
		s.deleted = slices.Delete(s.deleted, at, at+1)
	} else {
		s.ids++
	}
	s.documents = append(s.documents, d)
}

func never(string) bool { return false }

func TestRenamedFileKeepsDocument(t *testing.T) {
	before := map[string]string{"a": "A", "b": "B", "c": "C"}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  map[string]string // IDs by path
	}{
		{"renamed", map[string]string{"x": "A", "b": "B", "c": "C"},
			map[string]string{"x": "d1", "b": "d2", "c": "d3"}},
		{"over another", map[string]string{"b": "A", "c": "C"}, map[string]string{"b": "d1", "c": "d3"}},
		{"changed places", map[string]string{"a": "B", "b": "C", "c": "A"},
			map[string]string{"a": "d2", "b": "d3", "c": "d1"}},
		{"changed", map[string]string{"a": "A2", "b": "B", "c": "C"},
			map[string]string{"a": "d1", "b": "d2", "c": "d3"}},
		{"copied and changed", map[string]string{"a": "A2", "x": "A", "b": "B", "c": "C"},
			map[string]string{"x": "d1", "a": "d4", "b": "d2", "c": "d3"}},
		{"made the same", map[string]string{"a": "B", "b": "B", "c": "C"}, map[string]string{"b": "d2", "c": "d3"}},
		{"gone", map[string]string{"b": "B"}, map[string]string{"b": "d2"}},
	} {
		s := &fakeLibrary{}
		for _, files := range []map[string]string{before, tt.files} {
			for _, step := range Plan(files, s.documents, never) {
				s.apply(step, files)
			}
		}
		got := map[string]string{}
		for _, d := range s.documents {
			got[d.Path] = d.ID
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: documents by path = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestUnknownAndForeignDocumentsAreKept(t *testing.T) {
	documents := []Document{
		{ID: "d1", SHA256: "A", Path: "hidden/a", Ours: true}, {ID: "d2", SHA256: "B"},
		{ID: "d3", SHA256: "C", Path: "c", Ours: true},
	}
	keep := func(path string) bool { return path == "hidden/a" }
	got := Plan(map[string]string{"b": "B", "new": "N"}, documents, keep)
	want := []Step{{Delete: "d3"}, {Add: "new"}}
	if !slices.Equal(got, want) {
		t.Errorf("Plan = %v, want %v", got, want)
	}
}

// After any changes of a folder and any interruptions, the library has each content once in the end.
func TestInterruptedPlansConverge(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		s := &fakeLibrary{}
		s.documents = []Document{{ID: "other", SHA256: "c0"}}
		files := map[string]string{}
		for range 6 {
			for range rng.IntN(5) {
				delete(files, fmt.Sprint("f", rng.IntN(8)))
				files[fmt.Sprint("f", rng.IntN(8))] = fmt.Sprint("c", rng.IntN(8))
			}
			steps := Plan(files, s.documents, never)
			for _, step := range steps[:rng.IntN(len(steps)+1)] {
				s.apply(step, files)
			}
		}
		for _, step := range Plan(files, s.documents, never) {
			s.apply(step, files)
		}
		if more := Plan(files, s.documents, never); len(more) > 0 {
			t.Fatalf("round %d: a whole plan leaves %v to do, want nothing: %v, %v", round, more, files, s.documents)
		}
		want := map[string]int{"c0": 1}
		for _, sha := range files {
			want[sha] = 1
		}
		got := map[string]int{}
		for _, d := range s.documents {
			got[d.SHA256]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("round %d: documents by content = %v, want %v", round, got, want)
		}
	}
}
