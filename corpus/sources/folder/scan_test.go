package folder

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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

func TestScanLeavesOutWhatIsIgnoredAndOutside(t *testing.T) {
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

// A settings file that is made while its folder is followed is no document of it either.
func TestWhatIsOwnStaysOutWhenItComesLater(t *testing.T) {
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
