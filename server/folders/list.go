package folders

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

const (
	// MaxListed is the maximum number of listed subfolders.
	MaxListed = 500
	// maxLooked is the maximum number of entries read from a folder.
	maxLooked = 20_000
)

// Listing is the content of a folder on the page: its subfolders, without hidden ones and links.
type Listing struct {
	Dir     string
	Above   []Place        // from the root of the disk, without the folder itself
	Folders []Place        // the usual ones of a home folder first, then by name
	More    bool           // there are further ones
	Trouble locale.Message // why another folder than the requested one is shown, or none
	Refused locale.Message // why this folder can't be followed; empty: it can
}

// Place is a folder.
type Place struct{ Name, Path string }

// list lists a folder by its path without links.
func (ch Chooser) list(dir string) Listing {
	l := Listing{Dir: dir, Above: above(dir)}
	names, more, err := subfolders(dir, ch.Own)
	if err != nil {
		l.Trouble = chat.MessageOf(unreadable(dir, err))
		l.Refused = l.Trouble
		return l
	}
	if err := ch.refuses(dir); err != nil {
		l.Refused = chat.MessageOf(err)
	}
	var first []string
	if dir == home() {
		first = usual(dir)
	}
	rank := func(name string) int {
		if at := slices.Index(first, name); at >= 0 {
			return at
		}
		return len(first)
	}
	slices.SortFunc(names, func(a, b string) int {
		small := strings.Compare(strings.ToLower(a), strings.ToLower(b))
		return cmp.Or(cmp.Compare(rank(a), rank(b)), small, strings.Compare(a, b))
	})
	if l.More = more || len(names) > MaxListed; l.More {
		names = names[:min(len(names), MaxListed)]
	}
	for _, name := range names {
		l.Folders = append(l.Folders, Place{name, filepath.Join(dir, name)})
	}
	return l
}

// above returns the ancestors of a folder.
func above(dir string) (places []Place) {
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		places = append(places, Place{filepath.Base(up), up})
	}
	slices.Reverse(places)
	if len(places) > 0 {
		places[0].Name = places[0].Path // the root of the disk
	}
	return places
}

// subfolders returns the names of a folder's subfolders, without hidden ones, links, and own. more reports that the
// folder exceeds the limit of entries read.
func subfolders(dir string, own []string) (names []string, more bool, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	for looked := 0; looked < maxLooked; {
		entries, err := f.ReadDir(1000)
		for _, e := range entries {
			name := e.Name()
			if e.IsDir() && !strings.HasPrefix(name, ".") && utf8.ValidString(name) &&
				!slices.Contains(own, filepath.Join(dir, name)) {
				names = append(names, name)
			}
		}
		looked += len(entries)
		if errors.Is(err, io.EOF) {
			return names, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	return names, true, nil
}

// userDirs matches the names that desktops give the usual home folders, in the user's language.
var userDirs = regexp.MustCompile(`(?m)^XDG_(DOCUMENTS|DOWNLOAD|DESKTOP)_DIR="\$HOME/([^"/]+)"`)

// usual returns the names of a home's usual folders.
func usual(home string) []string {
	names := map[string]string{"DOCUMENTS": "Documents", "DOWNLOAD": "Downloads", "DESKTOP": "Desktop"}
	if f, err := os.Open(filepath.Join(home, ".config", "user-dirs.dirs")); err == nil {
		defer f.Close()
		raw, _ := io.ReadAll(io.LimitReader(f, 64<<10)) // an unreadable file counts as empty
		for _, dir := range userDirs.FindAllStringSubmatch(string(raw), -1) {
			names[dir[1]] = dir[2]
		}
	}
	return []string{names["DOCUMENTS"], names["DOWNLOAD"], names["DESKTOP"]}
}
