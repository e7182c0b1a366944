// Package watch keeps the library of a server like folders: for 'footnote watch', and for a server that follows the
// folders of its settings and those that were chosen on its page.
//
// A [Folder] works by the server's API and knows nothing for good: what came from where is in the library, as the meta
// of each document. So it may be killed at any moment, and another one goes on. What has to be done is computed by
// [github.com/footnote/footnote/corpus/sources/folder]. The [Desk] keeps which folders were chosen on the page.
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

// Command keeps the library of a server like a folder. It ends with the program, and leaves documents as they are.
type Command struct {
	Dir       string `arg:"" help:"Folder to follow, with all below it; hidden files, and what its .gitignore and .footnoteignore name, are left out."`
	Namespace string `help:"Namespace of its documents." default:"default" placeholder:"NAME"`
}

// OpenNamed opens the folders that the settings name. The server at url follows them by its own API. With an error it
// returns what was opened until then, to be closed.
func OpenNamed(set *settings.Settings, who access.Access, url string, log *slog.Logger) (all []*Folder, err error) {
	if len(set.Watch) > 0 && who.NeedsKey && set.APIKey == "" {
		return nil, &chat.Error{
			Code: chat.CodeUnauthorized, Message: "FOOTNOTE_WATCH needs FOOTNOTE_API_KEY, as this server has keys: " +
				"the documents of the folders belong to that key's user",
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

// Open opens a folder that server is to follow, with its documents in the namespace of the settings. Nothing happens
// before Until. The caller closes it.
func Open(set *settings.Settings, dir string, server *remote.Server, log *slog.Logger) (*Folder, error) {
	folder, err := openFolder(set, dir)
	if err != nil {
		return nil, err
	}
	return newFolder(folder, server, set.WatchNamespace, set.MaxUploadMiB, log), nil
}

// Check fails for what is no folder that can be followed. Folders are opened and closed again.
func Check(dir string) error {
	folder, err := folder.OpenFolder(dir)
	if err != nil {
		return err
	}
	return folder.Close()
}

// openFolder opens a folder to follow it, without what is this program's own. Otherwise a database that lies in the
// folder would be read in as a document.
func openFolder(s *settings.Settings, dir string) (*folder.Folder, error) {
	folder, err := folder.OpenFolder(dir)
	if err == nil {
		folder.LeaveOut(s.OwnPaths()...)
	}
	return folder, err
}

// Run follows the folder until the program is stopped. A folder that does not exist is an error at once; what goes
// wrong later is logged and tried again.
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
	// settleTime is how long a file must be as it is before it is read: somebody may still be writing it.
	settleTime = time.Second
	// gatherTime is how long more changes are waited for after the first one.
	gatherTime = 300 * time.Millisecond
	// sweepEvery is how often the folder is looked through without a notice; sweepAlone without any notices.
	sweepEvery, sweepAlone = 30 * time.Second, 3 * time.Second
	// compareEvery is how often an unchanged folder is compared with the library, which others change too.
	compareEvery = 5 * time.Minute
	// applyTime is how long is worked on changes before the folder is looked at again.
	applyTime = 3 * time.Second
	// retryAfter is how long is waited after a failure that is none of a file.
	retryAfter = 5 * time.Second
)

// Folder keeps documents of one namespace like one folder. All it knows for good is in the library: it may end at any
// moment, and another one goes on. It is used by one goroutine at a time, but for look, which the page reads
// meanwhile.
type Folder struct {
	folder    *folder.Folder
	server    *remote.Server
	namespace string
	maxBytes  int64
	log       *slog.Logger

	last     map[string]folder.Stamp // files as they were last seen
	compared time.Time               // when the library was like them; zero: it is not
	refused  map[string]refusedFile
	unread   map[string]error // files that could not be read, the last time
	told     map[string]bool  // what was logged once

	look *lastLook // for the page

	described   api.WatchedFolder // what the server was told last
	describedAt time.Time
}

// newFolder makes one that knows nothing yet: its first look compares all.
func newFolder(
	folder *folder.Folder, server *remote.Server, namespace string, maxMiB int, log *slog.Logger,
) *Folder {
	return &Folder{
		folder: folder, server: server, namespace: namespace, maxBytes: int64(maxMiB) << 20,
		log: log.With("folder", folder.Dir), refused: map[string]refusedFile{}, told: map[string]bool{},
		look: &lastLook{},
	}
}

// Until follows the folder until ctx ends. Failures are logged and tried again.
//
// It waits for notices of the system, and looks through the folder now and then all the same: notices may be lost, and
// network drives have none. Changes are gathered for a moment, since one save is often several of them.
func (f *Folder) Until(ctx context.Context) {
	f.compared, f.describedAt = time.Time{}, time.Time{} // another one may have followed it meanwhile
	notices, err := folder.OpenNotices()
	if err != nil {
		f.tellOnce(noNotices, "error", err)
		notices = &folder.Notices{}
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

// Work is the name of what following this folder does to the library: of processes that share a database, one at a
// time does it.
// The absolute path is part of it, so that replicas need the folder under the same path.
func (f *Folder) Work() string { return "watch " + f.namespace + " " + f.folder.Dir }

// Close gives the folder up, which was only read.
func (f *Folder) Close() error { return f.folder.Close() }

// noNotices is logged when the system has no notices to give.
const noNotices = "the system tells of no changes: the folder is looked through every few seconds"

// followOnce makes the library like the folder, or a part of that, and returns how long nothing needs to be done
// unless there is a notice.
//
// Files that were just changed wait until they have been left alone for settleTime. An unchanged folder is compared
// with the library every compareEvery only. An error of the library or the folder is logged, shown on the page, and
// tried again after retryAfter.
func (f *Folder) followOnce(ctx context.Context, notices *folder.Notices) (pause time.Duration) {
	listing, err := f.folder.Scan(documents.IsReadable)
	if err != nil {
		f.look.note(folders.Unread)
		f.tellOnce("the folder can't be read: its documents stay", "error", err)
		return retryAfter
	}
	pause = sweepEvery
	more, err := notices.Look(f.folder.Dir, listing)
	if err != nil {
		f.tellOnce(noNotices, "error", err)
		pause = sweepAlone
	}
	if more { // something may have changed before notices of it were asked for
		pause = settleTime
	}
	before := f.last
	f.last = listing.Files
	same := maps.EqualFunc(before, listing.Files, folder.Stamp.Equal)
	if same && time.Since(f.compared) < compareEvery {
		if err := f.tellServer(ctx, listing); err != nil && ctx.Err() == nil {
			f.tellOnce("the server can't be told what is left out", "error", err)
		}
		f.look.note(folders.None)
		return pause
	}
	f.compared = time.Time{}
	done, err := f.compare(ctx, listing, before)
	if err == nil {
		err = f.tellServer(ctx, listing)
	}
	switch {
	case ctx.Err() != nil:
		return pause
	case err != nil:
		f.look.note(folders.Stuck)
		f.tellOnce("the library does not follow now", "error", err)
		return retryAfter
	}
	f.look.note(folders.None)
	if !done {
		return min(pause, settleTime)
	}
	f.compared = time.Now()
	return pause
}

// compare makes the library like the listing. done is false when there is more to do a moment later. before are the
// files of the listing before.
//
// An empty folder deletes nothing, for that is what a disk looks like that is not plugged in. Neither does what can't
// be looked at. It works for applyTime at most, and goes on from a new listing.
func (f *Folder) compare(
	ctx context.Context, listing *folder.Listing, before map[string]folder.Stamp,
) (done bool, err error) {
	f.tellLeft(listing)
	documents, paths, err := f.documents(ctx)
	if err != nil {
		return false, err
	}
	// to delete everything because a disk is not plugged in can't be undone; folders are rarely emptied on purpose
	if len(listing.Files)+len(listing.Left) == 0 && len(listing.Folders) == 1 {
		f.tellOnce("the folder is empty, like a disk that is not there: its documents stay")
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
			if !errors.Is(err, fs.ErrNotExist) { // it went meanwhile
				f.unread[name] = err
				f.tellOnce("a file can't be read: its document stays", "file", name, "error", err)
			}
			continue
		}
		files[name] = sha
	}
	// what could not be looked at now may still be there
	keep := func(name string) bool { _, there := listing.Files[name]; return there || listing.Unknown(name) }
	steps := folder.Plan(files, documents, keep)
	i, added, deleted := 0, 0, 0
	defer func() {
		if i > 0 {
			f.log.Info("the library follows", "added", added, "deleted", deleted, "steps_left", len(steps)-i)
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

// refuses says why a file can't be followed, before it is read; empty if it can. paths are those of the documents in
// the library, with the files of this folder that they are of. Two files of one path in the library would replace each
// other in turn.
func (f *Folder) refuses(
	name string, stamp folder.Stamp, paths map[string]string, listing *folder.Listing,
) string {
	if stamp.Size > f.maxBytes {
		return fmt.Sprintf("it is larger than %d MiB (FOOTNOTE_MAX_UPLOAD_MIB)", f.maxBytes>>20)
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

// path is the path in the library of a file of the folder.
func (f *Folder) path(name string) string {
	return corpus.CleanPath(path.Join(f.folder.Name(), name))
}

// refuse notes that a file is not tried again until it changes. The log says so each time.
func (f *Folder) refuse(name string, stamp folder.Stamp, reason string) {
	f.refused[name] = refusedFile{stamp, reason}
	f.log.Warn("file not added until it changes", "file", name, "reason", reason)
}

// add puts one file into the library. It fails for what may be otherwise a moment later. What the library refuses for
// good is noted; the file is then no error.
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
	// everything else may be otherwise a moment later
	if !slices.Contains([]chat.Code{chat.CodeInvalid, chat.CodeTooLarge, chat.CodeUnsupported}, refused.Code) {
		return fmt.Errorf("add %s: %w", name, refused)
	}
	f.refuse(name, stamp, refused.Message)
	return nil
}

// tellOnce logs a warning unless it is the same as one before. Arguments count, so another file's warning is told.
func (f *Folder) tellOnce(message string, args ...any) {
	if text := message + fmt.Sprint(args...); !f.told[text] {
		f.told[text] = true
		f.log.Warn(message, args...)
	}
}
