// Package watch syncs folders into a server's library: for 'footnote watch', and for a server that follows the
// folders of its settings and those that were chosen on its page.
//
// A [Folder] uses the server's API and has no persistent state: the origin of each document is in its metadata in
// the library. So it may be killed at any moment, and another one resumes.
// [github.com/footnote/footnote/corpus/sources/folder] computes the sync plan. The [FolderSet] stores which folders
// were chosen on the page.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/access"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/documents"
	"github.com/footnote/footnote/cmd/footnote/remote"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/folder"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/folders"
)

// Command syncs a folder into a server's library. It ends with the program; the documents stay.
type Command struct {
	Dir       string `arg:"" help:"Folder to watch recursively; hidden files, and files matched by its .gitignore and .footnoteignore, are skipped."`
	Namespace string `help:"Namespace of its documents." default:"default" placeholder:"NAME"`
}

// OpenNamed opens the folders in the settings. The server at url follows them through its own API. On error it
// returns the folders opened so far, to be closed.
func OpenNamed(set *settings.Settings, who access.Access, url string, log *slog.Logger) (all []*Folder, err error) {
	if len(set.Watch) > 0 && who.NeedsKey && set.APIKey == "" {
		return nil, &chat.Error{
			Code: chat.CodeUnauthorized, Message: "FOOTNOTE_WATCH requires FOOTNOTE_API_KEY on a server with " +
				"API keys: the documents belong to the key's user",
		}
	}
	server := &remote.Server{URL: url, Key: string(set.APIKey)}
	for _, dir := range set.Watch {
		folder, err := Open(set, dir, server, log)
		if err != nil {
			return all, fmt.Errorf("FOOTNOTE_WATCH: %w", err)
		}
		all = append(all, folder)
	}
	return all, nil
}

// Open opens a folder for server to follow, with its documents in the namespace of the settings. The sync starts
// with Until. The caller closes it.
func Open(set *settings.Settings, dir string, server *remote.Server, log *slog.Logger) (*Folder, error) {
	folder, err := openFolder(set, dir)
	if err != nil {
		return nil, err
	}
	return newFolder(folder, server, set.WatchNamespace, set.MaxUploadMiB, log), nil
}

// Check fails for a directory that can't be followed. It opens and closes the folder.
func Check(dir string) error {
	folder, err := folder.OpenFolder(dir)
	if err != nil {
		return err
	}
	return folder.Close()
}

// openFolder opens a folder without this program's own files. Otherwise a database in the folder would be added as
// a document.
func openFolder(s *settings.Settings, dir string) (*folder.Folder, error) {
	folder, err := folder.OpenFolder(dir)
	if err == nil {
		folder.LeaveOut(s.OwnPaths()...)
	}
	return folder, err
}

// Run follows the folder until the program is stopped. A missing folder is an error at once; later errors are
// logged and retried.
func (c *Command) Run(p *command.Program) (err error) {
	folder, err := openFolder(p.Settings, c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	server, err := p.Connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	fmt.Fprintf(p.Stdout, "%s follows %s\n", server.URL, folder.Dir)
	log := slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	f := newFolder(folder, server, c.Namespace, p.Settings.MaxUploadMiB, log)
	f.Until(p.Ctx)
	return nil
}

const (
	// settleTime is how long a file must be unchanged before it is read, since it may still be being written.
	settleTime = time.Second
	// gatherTime is how long further changes are batched after the first one.
	gatherTime = 300 * time.Millisecond
	// sweepEvery is the interval of scans without a notification; sweepAlone is the interval if the system has no
	// notifications.
	sweepEvery, sweepAlone = 30 * time.Second, 3 * time.Second
	// compareEvery is the interval at which an unchanged folder is compared with the library, which others change
	// too.
	compareEvery = 5 * time.Minute
	// applyTime is the maximum time for applying changes before the folder is scanned again.
	applyTime = 3 * time.Second
	// retryAfter is the backoff after an error that does not concern a single file.
	retryAfter = 5 * time.Second
)

// Folder syncs one folder into one namespace. Its persistent state is in the library: it may end at any moment, and
// another one resumes. It is used by one goroutine at a time, except look, which the page reads concurrently.
type Folder struct {
	folder    *folder.Folder
	server    *remote.Server
	namespace string
	maxBytes  int64
	log       *slog.Logger

	last     map[string]folder.Stamp // the previous listing
	compared time.Time               // time of the last full comparison; zero: not in sync
	refused  map[string]refusedFile
	unread   map[string]error // unreadable files of the last scan
	told     map[string]bool  // messages that were logged

	look *lastSync // for the page

	described   api.WatchedFolder // the last report to the server
	describedAt time.Time
}

// newFolder returns a folder without state: its first sync compares all files.
func newFolder(
	folder *folder.Folder, server *remote.Server, namespace string, maxMiB int, log *slog.Logger,
) *Folder {
	return &Folder{
		folder: folder, server: server, namespace: namespace, maxBytes: int64(maxMiB) << 20,
		log: log.With("folder", folder.Dir), refused: map[string]refusedFile{}, told: map[string]bool{},
		look: &lastSync{},
	}
}

// Until follows the folder until ctx ends. Errors are logged and retried.
//
// It waits for notifications of the system, and also scans the folder periodically: notifications may be lost, and
// network drives have none. Changes are batched for a moment, since one save often causes several.
func (f *Folder) Until(ctx context.Context) {
	f.compared, f.describedAt = time.Time{}, time.Time{} // another replica may have followed it meanwhile
	notices, err := folder.OpenWatcher()
	if err != nil {
		f.logOnce(noNotices, "error", err)
		notices = &folder.Watcher{}
	}
	defer notices.Close()
	for {
		pause := f.followOnce(ctx, notices)
		select {
		case <-ctx.Done():
			return
		case <-notices.C:
			select {
			case <-ctx.Done():
				return
			case <-time.After(gatherTime):
			}
		case <-time.After(pause):
		}
	}
}

// Work returns the name of this sync: among processes that share a database, only one runs it at a time. The
// absolute path is part of it, so replicas need the folder under the same path.
func (f *Folder) Work() string { return "watch " + f.namespace + " " + f.folder.Dir }

// Close closes the folder.
func (f *Folder) Close() error { return f.folder.Close() }

// noNotices is logged if the system has no notifications.
const noNotices = "change notifications are unavailable: the folder is scanned every few seconds"

// followOnce syncs the library with the folder, or a part of it, and returns the time until the next sync without a
// notification.
//
// Recently changed files wait until they have been unchanged for settleTime. An unchanged folder is compared with
// the library only every compareEvery. An error of the library or the folder is logged, shown on the page, and
// retried after retryAfter.
func (f *Folder) followOnce(ctx context.Context, notices *folder.Watcher) (pause time.Duration) {
	listing, err := f.folder.Scan(documents.IsReadable)
	if err != nil {
		f.look.note(folders.Unread)
		f.logOnce("folder can't be read: its documents are kept", "error", err)
		return retryAfter
	}
	pause = sweepEvery
	more, err := notices.Watch(f.folder.Dir, listing)
	if err != nil {
		f.logOnce(noNotices, "error", err)
		pause = sweepAlone
	}
	if more { // changes before the notifications were enabled
		pause = settleTime
	}
	before := f.last
	f.last = listing.Files
	same := maps.EqualFunc(before, listing.Files, folder.Stamp.Equal)
	if same && time.Since(f.compared) < compareEvery {
		if err := f.reportSkipped(ctx, listing); err != nil && ctx.Err() == nil {
			f.logOnce("could not report skipped files to the server", "error", err)
		}
		f.look.note(folders.None)
		return pause
	}
	f.compared = time.Time{}
	done, err := f.compare(ctx, listing, before)
	if err == nil {
		err = f.reportSkipped(ctx, listing)
	}
	switch {
	case ctx.Err() != nil:
		return pause
	case err != nil:
		f.look.note(folders.Stuck)
		f.logOnce("could not sync the library", "error", err)
		return retryAfter
	}
	f.look.note(folders.None)
	if !done {
		return min(pause, settleTime)
	}
	f.compared = time.Now()
	return pause
}

// compare applies the differences between the listing and the library. done is false if more remains for the next
// call. before is the previous listing.
//
// An empty folder deletes nothing, since it may be an unmounted disk. Neither do unreadable files. It works for at
// most applyTime, and continues with a new listing.
func (f *Folder) compare(
	ctx context.Context, listing *folder.Listing, before map[string]folder.Stamp,
) (done bool, err error) {
	f.logUnsupported(listing)
	documents, paths, err := f.documents(ctx)
	if err != nil {
		return false, err
	}
	// Deleting everything because a disk is unmounted can't be undone; folders are rarely emptied on purpose.
	if len(listing.Files)+len(listing.Left) == 0 && len(listing.Folders) == 1 {
		f.logOnce("folder is empty, possibly an unmounted disk: its documents are kept")
		return true, nil
	}
	f.folder.Forget(listing)
	f.forgetRefused(listing)
	f.unread = map[string]error{}
	files, done := map[string]string{}, true
	for _, name := range slices.Sorted(maps.Keys(listing.Files)) {
		stamp := listing.Files[name]
		was, seen := before[name]
		if age := time.Since(stamp.Modified); age < settleTime && !(seen && was.Equal(stamp)) {
			done = false
			continue
		}
		if known, ok := f.refused[name]; ok && known.stamp.Equal(stamp) {
			continue
		}
		delete(f.refused, name)
		if reason := f.refuses(name, stamp, paths, listing); reason != "" {
			f.refuse(name, stamp, reason)
			continue
		}
		sha, err := f.folder.Hash(name, stamp)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
				f.unread[name] = err
				f.logOnce("file can't be read: its document is kept", "file", name, "error", err)
			}
			continue
		}
		files[name] = sha
	}
	// Files that could not be read now may still exist.
	keep := func(name string) bool { _, there := listing.Files[name]; return there || listing.Unknown(name) }
	steps := folder.Plan(files, documents, keep)
	i, added, deleted := 0, 0, 0
	defer func() {
		if i > 0 {
			f.log.Info("library synced", "added", added, "deleted", deleted, "steps_left", len(steps)-i)
		}
	}()
	for until := time.Now().Add(applyTime); i < len(steps); i++ {
		if time.Now().After(until) {
			return false, nil
		}
		if id := steps[i].Delete; id != "" {
			if err := f.server.Delete(ctx, id); err != nil {
				return false, err
			}
			deleted++
		}
		if name := steps[i].Add; name != "" {
			if err := f.add(ctx, name, listing.Files[name]); err != nil {
				return false, err
			}
			added++
		}
	}
	return done, nil
}

// refuses returns the reason why a file can't be followed, before it is read, or nothing. paths maps the library's
// paths to this folder's files. Two files with one library path would replace each other in turn.
func (f *Folder) refuses(
	name string, stamp folder.Stamp, paths map[string]string, listing *folder.Listing,
) string {
	if stamp.Size > f.maxBytes {
		return fmt.Sprintf("it exceeds the limit of %d MiB (FOOTNOTE_MAX_UPLOAD_MIB)", f.maxBytes>>20)
	}
	whole := f.path(name)
	other, taken := paths[whole]
	_, there := listing.Files[other]
	if taken && other != name && (other == "" || there) {
		return "another document has the path " + whole
	}
	paths[whole] = name
	return ""
}

// path returns the library path of a file in the folder.
func (f *Folder) path(name string) string {
	return corpus.CleanPath(path.Join(f.folder.Name(), name))
}

// refuse records that a file is not retried until it changes. It is logged each time.
func (f *Folder) refuse(name string, stamp folder.Stamp, reason string) {
	f.refused[name] = refusedFile{stamp, reason}
	f.log.Warn("file not added until it changes", "file", name, "reason", reason)
}

// add adds one file to the library. It returns an error only if a retry may help. A permanent rejection is recorded
// instead.
func (f *Folder) add(ctx context.Context, name string, stamp folder.Stamp) error {
	file, err := f.folder.Open(name)
	if err != nil {
		return nil //nolint:nilerr // it is gone or changed: the next look tells
	}
	defer file.Close()
	fields, err := f.origin(name, stamp)
	if err != nil {
		return err
	}
	_, refused, err := f.server.Add(ctx, fields, f.path(name), file)
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	if refused == nil {
		return nil
	}
	// All other errors may be temporary.
	if !slices.Contains([]chat.Code{chat.CodeInvalid, chat.CodeTooLarge, chat.CodeUnsupported}, refused.Code) {
		return fmt.Errorf("add %s: %w", name, refused)
	}
	f.refuse(name, stamp, refused.Message.String())
	return nil
}

// logOnce logs a warning unless the same one was logged before. The arguments are compared too, so another file's
// warning is logged.
func (f *Folder) logOnce(message string, args ...any) {
	if text := message + fmt.Sprint(args...); !f.told[text] {
		f.told[text] = true
		f.log.Warn(message, args...)
	}
}
