package watch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/access"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/remote"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/folder"
	"github.com/footnote/footnote/server/folders"
)

// savedFolders is the content of datadir.ChosenFolders, encoded as JSON. Paths are absolute.
type savedFolders struct {
	Folders []string `json:"folders"`
}

// FolderSet follows folders that the local user chooses on the page of a running server. Their documents belong to the
// local user.
//
// The list of folders is stored in the data directory for the next start. mu guards the fields below it; those
// above are set before Run. Its methods are safe for concurrent use.
type FolderSet struct {
	set     *settings.Settings
	library *corpus.Library
	dir     *datadir.Dir
	log     *slog.Logger

	server *remote.Server // this one; nil: it follows no folders
	named  []*Folder      // in the settings
	rests  bool           // others reach this server, so chosen folders are not followed

	mu     sync.Mutex
	work   context.Context //nolint:containedctx // of run; nil: it has not begun, or is over
	kept   []string        // the stored list
	now    map[string]*chosenFolder
	chosen sync.WaitGroup // their goroutines
}

// NewFolderSet returns the folders of a library's only server, with its data in dir. Folders can be chosen after Open
// has read the stored list and Run follows it.
func NewFolderSet(set *settings.Settings, library *corpus.Library, dir *datadir.Dir, log *slog.Logger) *FolderSet {
	return &FolderSet{set: set, library: library, dir: dir, log: log}
}

// chosenFolder is a followed folder. To forget one, it is removed from the set's map, and then over is awaited.
type chosenFolder struct {
	look *lastSync
	stop context.CancelFunc
	over chan struct{} // closed when the sync has stopped
}

// lastSync is the result of the last sync of a folder. The following goroutine writes it, request handlers read it.
type lastSync struct {
	mu      sync.Mutex
	at      time.Time // time of the last success; zero: never
	trouble folders.Trouble
}

// note stores the result of a sync.
func (l *lastSync) note(trouble folders.Trouble) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trouble = trouble; trouble == folders.None {
		l.at = time.Now()
	}
}

// of returns a followed folder's description.
func (l *lastSync) of(dir string, chosen bool) folders.Followed {
	l.mu.Lock()
	defer l.mu.Unlock()
	return folders.Followed{Dir: dir, Chosen: chosen, LookedAt: l.at, Trouble: l.trouble}
}

// Open reads the list of chosen folders, for the server at url. named are those of the settings. An unreadable file
// is an error: an empty list would look like the user's choice. It is called before Run.
func (d *FolderSet) Open(who access.Access, url string, named []*Folder) error {
	d.server, d.named = &remote.Server{URL: url}, named
	raw, err := os.ReadFile(d.dir.Path(datadir.ChosenFolders))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var kept savedFolders
	if err == nil {
		err = json.Unmarshal(raw, &kept)
	}
	if err != nil {
		return fmt.Errorf("read the folders selected on the page (delete the file to reset them): %w", err)
	}
	d.kept = kept.Folders
	d.rests = who.NeedsKey || who.Network || len(d.set.AllowedHosts) > 0
	if d.rests && len(d.kept) > 0 {
		d.log.Warn("folders selected on the page are not watched, because other machines can reach this server: set "+
			"FOOTNOTE_WATCH", "folders", len(d.kept))
	}
	return nil
}

// keep writes the list of chosen folders. The file is replaced atomically. The caller holds mu.
func (d *FolderSet) keep(dirs []string) error {
	raw, err := json.Marshal(savedFolders{dirs})
	if err != nil {
		return err
	}
	part, err := os.CreateTemp(d.dir.Path(), datadir.ChosenFolders+".") // readable only by its owner
	if err == nil {
		_, err = part.Write(raw)
		err = errors.Join(err, part.Sync(), part.Close())
		if err == nil {
			err = os.Rename(part.Name(), d.dir.Path(datadir.ChosenFolders))
		}
		if err != nil {
			err = errors.Join(err, os.Remove(part.Name()))
		}
	}
	if err != nil {
		return folders.SaveError(err)
	}
	d.kept = dirs
	return nil
}

// Run follows the chosen folders until ctx ends, unless other users can reach the server. It returns at once if
// Open was not called: the server of a single command follows no folders. All its goroutines have ended when it
// returns.
func (d *FolderSet) Run(ctx context.Context, needsKey bool) {
	if d.server == nil {
		return
	}
	d.mu.Lock()
	d.work, d.now = ctx, map[string]*chosenFolder{}
	for _, dir := range d.kept {
		named := slices.ContainsFunc(d.named, func(f *Folder) bool { return f.folder.Dir == dir })
		if !needsKey && !d.rests && !named {
			d.begin(ctx, dir)
		}
	}
	d.mu.Unlock()
	<-ctx.Done()
	d.mu.Lock()
	d.work = nil // no sync starts from here on
	d.mu.Unlock()
	d.chosen.Wait()
}

// begin follows a folder until work ends. The caller holds mu. A folder can be chosen again after end.
func (d *FolderSet) begin(work context.Context, dir string) {
	ctx, stop := context.WithCancel(work)
	one := &chosenFolder{look: &lastSync{}, stop: stop, over: make(chan struct{})}
	d.now[dir] = one
	d.chosen.Go(func() {
		defer close(one.over)
		defer stop()
		d.follow(ctx, dir, one.look)
	})
}

// follow follows a folder until ctx ends. A missing folder, such as on a removed disk, is retried every half
// minute, and logged once.
func (d *FolderSet) follow(ctx context.Context, dir string, look *lastSync) {
	told := false
	for {
		folder, err := openFolder(d.set, dir)
		if err == nil {
			d.followOpen(ctx, folder, look)
			return
		}
		look.note(folders.Unread)
		if !told {
			told = true
			d.log.WarnContext(ctx, "folder can't be read: its documents are kept", "folder", dir, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(sweepEvery):
		}
	}
}

// followOpen follows an open folder until ctx ends, and closes it.
func (d *FolderSet) followOpen(ctx context.Context, folder *folder.Folder, look *lastSync) {
	f := newFolder(folder, d.server, d.set.WatchNamespace, d.set.MaxUploadMiB, d.log)
	f.look = look
	f.Until(ctx)
	_ = folder.Close() // it was only read
}

// choose starts to follow a folder. A folder inside or around a followed one is refused. It is stored before it is
// followed, so that a crash between the two loses nothing.
func (d *FolderSet) choose(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.work == nil {
		return folders.Stopping()
	}
	if err := folders.Free(dir, d.list()); err != nil {
		return err
	}
	kept := append(slices.Clone(d.kept), dir)
	slices.Sort(kept)
	if err := d.keep(slices.Compact(kept)); err != nil {
		return err
	}
	d.begin(d.work, dir)
	d.log.Info("watching a folder selected on the page", "folder", dir)
	return nil
}

// end stops following a chosen folder. Its documents stay. It waits until the sync has stopped, so that no file is
// added after it returns. A folder that was not chosen is not an error.
func (d *FolderSet) end(ctx context.Context, dir string) error {
	one, err := d.forget(dir)
	if one == nil || err != nil {
		return err
	}
	one.stop()
	select {
	case <-one.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	d.log.InfoContext(ctx, "stopped watching a folder selected on the page", "folder", dir)
	return d.library.DropWatched(ctx, chat.LocalUser, d.set.WatchNamespace, dir)
}

// forget removes a folder from the stored and followed ones. It returns nil if the folder was not chosen.
func (d *FolderSet) forget(dir string) (*chosenFolder, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.now[dir]
	if one == nil {
		return nil, nil
	}
	kept := slices.DeleteFunc(slices.Clone(d.kept), func(known string) bool { return known == dir })
	if err := d.keep(kept); err != nil {
		return nil, err
	}
	delete(d.now, dir)
	return one, nil
}

// followed lists the folders that this server follows, sorted by path.
func (d *FolderSet) followed() []folders.Followed {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.list()
}

// list is followed for callers that hold mu.
func (d *FolderSet) list() (all []folders.Followed) {
	for _, f := range d.named {
		all = append(all, f.look.of(f.folder.Dir, false))
	}
	for dir, one := range d.now {
		all = append(all, one.look.of(dir, true))
	}
	slices.SortFunc(all, func(a, b folders.Followed) int { return cmp.Compare(a.Dir, b.Dir) })
	return all
}

// Choice returns the set's interface for the page; nil if folders can't be chosen. It is the only access from the
// server's packages.
func (d *FolderSet) Choice() folders.Chooser {
	if d == nil {
		return folders.Chooser{}
	}
	return folders.Chooser{
		Follow: d.choose, Stop: d.end, Followed: d.followed, Own: folder.RealPaths(d.set.OwnPaths()),
	}
}
