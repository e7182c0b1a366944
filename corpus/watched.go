package corpus

import (
	"context"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
)

// Watched is a folder that a program follows, as it was when it was last looked at.
type Watched struct {
	Namespace string `json:"namespace"` // That of the folder's documents.
	// The folder's path on the machine of the program that follows it.
	Folder string `json:"folder"`
	Files  int    `json:"files"` // How many files are followed.
	// The files and folders that are not followed, the first ones.
	LeftOut  []LeftOut `json:"left_out"`  // at most MaxLeftOut
	More     int       `json:"more"`      // further ones that were left out
	LookedAt time.Time `json:"looked_at"` // When the program last told of it.
}

// LeftOut is a file or folder in a watched folder that is not followed.
type LeftOut struct {
	Path   string `json:"path"`   // Where it is below the folder.
	Reason string `json:"reason"` // Why it is not followed.
}

const (
	// MaxLeftOut is how many files that were left out are kept of a folder.
	MaxLeftOut = 100
	// MaxWatched is how many folders are kept of a user: those that were looked at last.
	MaxWatched = 50
	// watchedFor is how long a folder is shown that is not looked at any more.
	watchedFor = 7 * 24 * time.Hour

	// MaxFolder is how many characters a path has at most.
	MaxFolder = 4096
	// MaxReason is how many characters a reason has at most.
	MaxReason = 1000
)

// SetWatched keeps what a program saw of a folder, in the place of what it saw before. It fails with chat.CodeInvalid
// for one that is too large. LookedAt is now, whatever w says. Watchers are woken only if something is another than
// before, apart from the time.
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

// DropWatched forgets what was seen of a folder that is not followed any more. Its documents stay.
func (l *Library) DropWatched(ctx context.Context, user, namespace, folder string) error {
	if err := l.cfg.Documents.DropWatched(ctx, user, namespace, folder); err != nil {
		return err
	}
	l.watched.Add(1)
	l.changes.wakeWatchers("")
	return nil
}

// Watched returns the folders that programs follow in scope, by path. Those that were not looked at for a week are
// left out.
func (l *Library) Watched(ctx context.Context, s chat.Scope) ([]Watched, error) {
	return l.cfg.Documents.Watched(ctx, s, time.Now().Add(-watchedFor))
}

// WatchedChanges is another number whenever this process was told something else of a folder.
func (l *Library) WatchedChanges() int64 { return l.watched.Load() }

// check fails with chat.CodeInvalid and a sentence for the program's author.
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
	return &chat.Error{Code: chat.CodeInvalid, Message: problem}
}
