// Package folders lists the folders of the server's machine for the local user, who can choose some for the server
// to follow.
package folders

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/locale"
)

const (
	// MaxFollowed is the maximum number of chosen folders.
	MaxFollowed = 20
	// maxPath is the maximum length of a path in characters.
	maxPath = 4096
)

// Chooser follows folders that the local user chooses. The zero value can't: the settings decide.
type Chooser struct {
	// Follow starts to follow a folder, by its path without links. The choice survives a restart.
	Follow func(dir string) error
	// Stop stops following a folder. The documents stay.
	Stop func(ctx context.Context, dir string) error
	// Followed returns the followed folders, sorted by path.
	Followed func() []Followed
	// Own are files and folders of this program, as paths without links: they are neither shown nor followed.
	Own []string
}

// SaveError returns the error for a choice that could not be stored.
func SaveError(err error) error {
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: "Saving failed. Nothing has changed.",
		Hint: "The data directory can't be written.", Err: err,
	}
}

// Stopping returns the error while the server starts or stops.
func Stopping() error {
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: "The server is starting or stopping. Try again in a moment.",
	}
}

// Followed is a folder that the server follows.
type Followed struct {
	Dir      string
	Chosen   bool      // on the page; else in the settings
	LookedAt time.Time // zero: not yet
	Trouble  Trouble
}

// Trouble is the reason why a folder's documents are not in sync.
type Trouble int

// The troubles of a folder.
const (
	None   Trouble = iota
	Unread         // missing or unreadable
	Stuck          // the library accepts none of its files
)

// Check fails unless a request may see and choose folders. Only the user of this machine may, who has access to them
// anyway.
func (ch Chooser) Check(c httpio.Context, guard *httpio.Guard) error {
	switch {
	case ch.Follow == nil:
		return &chat.Error{
			Code: chat.CodeForbidden, Message: "Several servers share this library. Watched folders are set in their " +
				"settings (FOOTNOTE_WATCH).",
		}
	case !guard.ByLocalUser(c.Request()):
		return &chat.Error{
			Code: chat.CodeForbidden, Message: "Other people can reach this server, so watched folders are set in " +
				"its settings (FOOTNOTE_WATCH).",
		}
	}
	return nil
}

// List lists the folders for a request; see Listing. Without a path it starts at the home folder.
func (ch Chooser) List(c httpio.Context, guard *httpio.Guard, typed string) (Listing, error) {
	if err := ch.Check(c, guard); err != nil {
		return Listing{}, err
	}
	dir, err := resolve(typed)
	if err != nil {
		l := ch.list(home())
		l.Trouble = chat.MessageOf(err)
		return l, nil
	}
	return ch.list(dir), nil
}

// Choose starts to follow a folder for a request.
func (ch Chooser) Choose(c httpio.Context, guard *httpio.Guard, typed string) error {
	if err := ch.Check(c, guard); err != nil {
		return err
	}
	dir, err := resolve(typed)
	if err != nil {
		return err
	}
	if _, _, err := subfolders(dir, nil); err != nil {
		return unreadable(dir, err)
	}
	if err := ch.refuses(dir); err != nil {
		return err
	}
	return ch.Follow(dir)
}

// End stops following a folder for a request.
func (ch Chooser) End(c httpio.Context, guard *httpio.Guard, dir string) error {
	if err := ch.Check(c, guard); err != nil {
		return err
	}
	for _, f := range ch.Followed() {
		switch {
		case f.Dir != dir:
		case f.Chosen:
			return ch.Stop(c.Request().Context(), dir)
		default:
			return httpio.Invalid("This folder is set in the server settings (FOOTNOTE_WATCH). Remove it there.")
		}
	}
	return httpio.NotFound("This folder is not watched.")
}

// refuses returns the error for a readable folder that can't be followed.
func (ch Chooser) refuses(dir string) error {
	if filepath.Dir(dir) == dir {
		return httpio.Invalid("You can't watch an entire disk. Choose a folder on it.")
	}
	for _, own := range ch.Own {
		if within(dir, own) {
			return httpio.Invalid("This folder contains Footnote's own data. Choose another folder.")
		}
	}
	return Free(dir, ch.Followed())
}

// Free fails if a folder overlaps the followed ones, or if MaxFollowed is reached.
func Free(dir string, followed []Followed) error {
	chosen := 0
	for _, f := range followed {
		switch {
		case f.Dir == dir:
			return httpio.Invalid("This folder is already watched.")
		case within(dir, f.Dir):
			return httpio.Invalid("A parent folder is already watched: {1}", f.Dir)
		case within(f.Dir, dir):
			return httpio.Invalid("A subfolder is already watched: {1}. Stop watching it first.", f.Dir)
		}
		if f.Chosen {
			chosen++
		}
	}
	if chosen >= MaxFollowed {
		return httpio.Invalid("You can add up to {1} watched folders here.", MaxFollowed)
	}
	return nil
}

// within reports whether a path is dir or below it.
func within(path, dir string) bool {
	below, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(below)
}

// resolve returns the typed folder's path without links; "" is the home folder.
func resolve(typed string) (string, error) {
	if typed == "" {
		return home(), nil
	}
	if utf8.RuneCountInString(typed) > maxPath || !utf8.ValidString(typed) {
		return "", httpio.Invalid("The folder path exceeds the limit of {1} characters.", maxPath)
	}
	if typed = filepath.FromSlash(typed); strings.HasPrefix(filepath.VolumeName(typed), `\\`) {
		// a network share: accessing it would send the user's credentials
		return "", httpio.Invalid("Enter the full path of a local folder.")
	}
	if _, err := os.Lstat(typed); err != nil {
		typed = strings.TrimSpace(typed)
	}
	if rest, ok := strings.CutPrefix(typed, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		typed = home() + rest
	}
	if !filepath.IsAbs(typed) {
		return "", httpio.Invalid("Enter the full path of a local folder.")
	}
	dir, err := filepath.EvalSymlinks(filepath.Clean(typed))
	if err != nil {
		return "", unreadable(typed, err)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", unreadable(dir, err)
	case !info.IsDir():
		return "", httpio.Invalid("This is a file, not a folder: {1}", dir)
	case !utf8.ValidString(dir):
		return "", httpio.Invalid("The folder path isn't valid UTF-8. Rename the folder first.")
	}
	return dir, nil
}

// unreadable returns the error for a folder that can't be read.
func unreadable(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return &chat.Error{
			Code: chat.CodeInvalid, Message: locale.Say(
				"The server has no permission to read this folder: {1}", dir,
			), Err: err,
		}
	}
	return &chat.Error{Code: chat.CodeInvalid, Message: locale.Say(
		"Folder not found: {1}", dir,
	), Err: err}
}

// home returns the home folder of the server's user, else the root of the disk.
func home() string {
	dir, err := os.UserHomeDir()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil || !filepath.IsAbs(dir) {
		return filepath.VolumeName(dir) + string(filepath.Separator)
	}
	return dir
}
