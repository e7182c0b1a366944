package folder

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A folder that takes the place of another one is looked at, with all below it.
func TestAReplacedFolderIsLookedAt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	write(t, dir, map[string]string{"sub/a.md": "a"})
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := OpenNotices()
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
		if more, err := n.Look(dir, l); err != nil || more != want {
			t.Fatalf("Look = %v, %v; want %v", more, err, want)
		}
	}
	notice := func() {
		t.Helper()
		select {
		case <-n.C:
		case <-time.After(2 * time.Minute):
			t.Fatal("there was no notice")
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
