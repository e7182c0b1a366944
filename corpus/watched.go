package corpus

import (
	"context"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// Watched is the latest scan result of a watched folder.
type Watched struct {
	Namespace string `json:"namespace"` // The namespace of the folder's documents.
	// The folder's path on the machine of the folder watcher.
	Folder string `json:"folder"`
	Files  int    `json:"files"` // The number of watched files.
	// The first files and folders that are not watched.
	LeftOut  []LeftOut `json:"left_out"`  // at most MaxLeftOut
	More     int       `json:"more"`      // number of further ones that were left out
	LookedAt time.Time `json:"looked_at"` // The time of the latest scan.
}

// LeftOut is a file or folder in a watched folder that is not watched.
type LeftOut struct {
	Path   string `json:"path"`   // The path relative to the folder.
	Reason string `json:"reason"` // The reason why it is not watched.
}

const (
	// MaxLeftOut is the maximum number of left-out files stored for a folder.
	MaxLeftOut = 100
	// MaxWatched is the maximum number of folders stored for a user: the most recently scanned ones.
	MaxWatched = 50
	// watchedFor is how long a folder is listed after its last scan.
	watchedFor = 7 * 24 * time.Hour

	// MaxFolder is the maximum length of a path in characters.
	MaxFolder = 4096
	// MaxReason is the maximum length of a reason in characters.
	MaxReason = 1000
)

// SetWatched stores the scan result of a folder and replaces the previous one. It sets LookedAt to now. It returns
// chat.CodeInvalid for a result that exceeds the limits. It wakes watchers only if something other than the time
// has changed.
func (l *Library) SetWatched(ctx context.Context, user string, w Watched) error {
	if err := w.check(); err != nil {
		return err
	}
	if w.Namespace == "" {
		w.Namespace = chat.DefaultNamespace
	}
	if w.LeftOut == nil {
		w.LeftOut = []LeftOut{}
	}
	before, err := l.Watched(ctx, chat.Scope{User: user, Namespaces: []string{w.Namespace}})
	if err != nil {
		return err
	}
	w.LookedAt = time.Now().UTC().Truncate(time.Microsecond)
	if err := l.cfg.Documents.SetWatched(ctx, user, w, w.LookedAt.Add(-watchedFor)); err != nil {
		return err
	}
	for _, old := range before {
		if old.LookedAt = w.LookedAt; reflect.DeepEqual(old, w) {
			return nil
		}
	}
	l.watched.Add(1)
	l.changes.wakeWatchers("")
	return nil
}

// DropWatched removes the scan result of a folder that is no longer watched. Its documents stay.
func (l *Library) DropWatched(ctx context.Context, user, namespace, folder string) error {
	if err := l.cfg.Documents.DropWatched(ctx, user, namespace, folder); err != nil {
		return err
	}
	l.watched.Add(1)
	l.changes.wakeWatchers("")
	return nil
}

// Watched returns the watched folders in scope, sorted by path. Folders not scanned for a week are left out.
func (l *Library) Watched(ctx context.Context, s chat.Scope) ([]Watched, error) {
	return l.cfg.Documents.Watched(ctx, s, time.Now().Add(-watchedFor))
}

// WatchedChanges returns a counter that changes whenever this process stores another scan result.
func (l *Library) WatchedChanges() int64 { return l.watched.Load() }

// check validates the scan result. It returns chat.CodeInvalid with a message for the API client.
func (w Watched) check() error {
	if err := chat.CheckNamespace(w.Namespace); err != nil {
		return err
	}
	fits := func(text string, most int) bool { return !Blank(text) && utf8.RuneCountInString(text) <= most }
	problem := ""
	switch {
	case !fits(w.Folder, MaxFolder):
		problem = "folder must be a path."
	case w.Files < 0 || w.More < 0:
		problem = "files and more must be numbers from 0."
	case len(w.LeftOut) > MaxLeftOut:
		problem = "left_out may have " + english.Count(MaxLeftOut, "file") + "; count the others in more."
	case slices.ContainsFunc(w.LeftOut, func(f LeftOut) bool {
		return !fits(f.Path, MaxFolder) || !fits(f.Reason, MaxReason)
	}):
		problem = "Each file in left_out needs a path, and a reason of at most " +
			english.Count(MaxReason, "character") + "."
	default:
		return nil
	}
	return &chat.Error{Code: chat.CodeInvalid, Message: locale.Message(problem)}
}
