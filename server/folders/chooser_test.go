package folders

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

// makeDirs creates folders in a temporary directory and returns its path without links.
func makeDirs(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The list has folders only, without hidden ones, links, and the program's own. A home folder starts with the usual
// ones, by the names that the desktop gives them.
func TestFoldersAreListed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("HOME and links are Unix's")
	}
	dir := makeDirs(t, "alpha", "Beta", ".hidden", "data", "Documents", "Heruntergeladen", "Desktop", ".config")
	t.Setenv("HOME", dir)
	for name, body := range map[string]string{
		"file.md": "# File",
		".config/user-dirs.dirs": "# of the desktop\nXDG_DOWNLOAD_DIR=\"$HOME/Heruntergeladen\"\n" +
			"XDG_MUSIC_DIR=\"$HOME/Musik\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	d := Chooser{Followed: func() []Followed { return nil }, Own: []string{filepath.Join(dir, "data")}}
	l := d.list(dir)
	var names []string
	for _, place := range l.Folders {
		names = append(names, place.Name)
		if place.Path != filepath.Join(dir, place.Name) {
			t.Errorf("%s is at %s, want it in %s", place.Name, place.Path, dir)
		}
	}
	if want := []string{"Documents", "Heruntergeladen", "Desktop", "alpha", "Beta"}; !slices.Equal(names, want) {
		t.Errorf("folders = %q, want %q", names, want)
	}
	if l.More || l.Trouble != "" || l.Refused != "" {
		t.Errorf("more %v, trouble %q, refused %q; want none of them", l.More, l.Trouble, l.Refused)
	}
	if top := l.Above[0]; top.Path != "/" || top.Name != "/" || l.Above[len(l.Above)-1].Path != filepath.Dir(dir) {
		t.Errorf("above it are %v, want all from / to %s", l.Above, filepath.Dir(dir))
	}
	if through, err := resolve(filepath.Join(dir, "loop", "loop", "alpha")); err != nil ||
		through != filepath.Join(dir, "alpha") {
		t.Errorf("a path with links leads to %s, %v; want the folder itself", through, err)
	}
	if at, err := resolve(" ~/alpha "); err != nil || at != filepath.Join(dir, "alpha") {
		t.Errorf("resolve(~/alpha) = %s, %v", at, err)
	}
	if at, err := resolve(""); err != nil || at != dir {
		t.Errorf("nothing leads to %s, %v; want home", at, err)
	}
}

func TestFolderListIsTruncated(t *testing.T) {
	var many []string
	for i := range MaxListed + 3 {
		many = append(many, fmt.Sprintf("f%04d", i))
	}
	dir := makeDirs(t, many...)
	d := Chooser{Followed: func() []Followed { return nil }}
	if l := d.list(dir); len(l.Folders) != MaxListed || !l.More || l.Folders[0].Name != "f0000" {
		t.Errorf("%d folders from %v, more %v; want %d and more", len(l.Folders), l.Folders[:1], l.More, MaxListed)
	}
}

// Each folder that can't be followed has its own error message.
func TestInvalidFoldersAreReported(t *testing.T) {
	dir := makeDirs(t, "papers/old", "data/blobs", "shut", "free")
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("file.md"), []byte("# File"), 0o600); err != nil {
		t.Fatal(err)
	}
	followed := []Followed{{Dir: in("papers")}}
	d := Chooser{Followed: func() []Followed { return followed }, Own: []string{in("data")}}
	for typed, want := range map[string]string{
		in("free"):                 "",
		in("none"):                 "Folder not found",
		in("file.md"):              "This is a file",
		in("file.md/x"):            "Folder not found",
		"papers":                   "the full path",
		in("x\x00y"):               "Folder not found",
		in("\xff"):                 "exceeds the limit of 4096 characters",
		strings.Repeat("/a", 3000): "exceeds the limit of 4096 characters",
		"/":                        "an entire disk",
		in("data"):                 "contains Footnote's own data",
		in("data/blobs"):           "contains Footnote's own data",
		in("papers"):               "This folder is already watched",
		in("papers/old"):           "A parent folder is already watched: " + in("papers"),
		dir:                        "A subfolder is already watched: " + in("papers"),
	} {
		at, err := resolve(typed)
		if err == nil {
			err = d.refuses(at)
		}
		switch {
		case want == "" && err != nil:
			t.Errorf("%.80q: %v, want it followed", typed, err)
		case want != "" && (chat.CodeOf(err) != chat.CodeInvalid ||
			!strings.Contains(chat.MessageOf(err).String(), want)):
			t.Errorf("%.80q: %v, want %q", typed, err, want)
		}
	}
	if err := unreadable("/x", os.ErrPermission); !strings.Contains(chat.MessageOf(err).String(), "no permission") {
		t.Errorf("permission error: got %v", err)
	}
	// a folder that contains the program's data can be followed: its own files are excluded, as with "footnote up"
	followed = nil
	if err := d.refuses(dir); err != nil {
		t.Errorf("the folder around the data directory: %v, want it followed without that", err)
	}
	for i := range MaxFollowed {
		followed = append(followed, Followed{Dir: fmt.Sprintf("/f%d", i), Chosen: true})
	}
	if err := d.refuses(in("free")); err == nil ||
		!strings.Contains(chat.MessageOf(err).String(), "up to 20 watched folders") {
		t.Errorf("one more than %d: %v, want it refused", MaxFollowed, err)
	}
}
