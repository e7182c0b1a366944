package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/originals"
	"github.com/footnote/footnote/corpus/blobs"
	"github.com/footnote/footnote/sql/postgres"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// Restore restores a backup.
type Restore struct {
	File  string `arg:"" help:"Backup to restore." placeholder:"FILE"`
	Force bool   `help:"Move existing data aside."`
}

// Help returns the additional help of 'footnote restore --help'.
func (Restore) Help() string {
	return `Unpacks the backup inside the data directory, and moves it into place only after every file was verified.` +
		`
The directory must not be in use by a server. It must be empty; with --force existing data is moved to ` +
		`before-restore-… inside it.
With DATABASE_URL the backup is restored to that database, which must be empty, in one transaction.
The originals are restored to the data directory, or to FOOTNOTE_BLOBS.`
}

// restoring is the name of the directory that a backup is unpacked to. It is left after a kill and removed by the
// next restore.
const restoring = "restoring"

// Run unpacks the backup beside its target, then moves it into place, the database last.
//
// It claims the data directory first, so no server can use it. Existing data is moved away and never deleted. It
// fails with CodeConflict for a directory that holds data, unless Force is set, and for a PostgreSQL that does.
func (c *Restore) Run(p *command.Program) (err error) {
	file, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	dir, err := datadir.Claim(p.Settings.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Release()) }()
	var shared *postgres.DB // nil: the backup comes into the data directory
	var present []string
	if p.Settings.DatabaseURL == "" {
		present, err = listEntries(dir)
	} else if shared, err = openShared(p); err == nil {
		defer func() { err = errors.Join(err, shared.Close()) }()
		err = shared.CheckEmpty(p.Ctx)
	}
	if err != nil {
		return err
	}
	if len(present) > 0 && !c.Force {
		return &chat.Error{Code: chat.CodeConflict, Message: locale.Message(fmt.Sprintf(
			"The data directory %s holds data (%s); choose another with --data, or put it aside with --force",
			p.Settings.Data, strings.Join(present, ", ")))}
	}
	// Left by a restore that was killed.
	if err := os.RemoveAll(dir.Path(restoring)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir.Path(restoring))) }()
	// Nothing outside this folder changes until every byte is verified.
	made, n, err := c.unpackBackup(p, file, dir)
	if err != nil {
		return diskFullError(err)
	}
	where, parts := p.Settings.Data, []string{"blobs", datadir.Database}
	if p.Settings.Blobs != "" || shared != nil {
		if err := copyOriginals(p, dir); err != nil {
			return diskFullError(err)
		}
		parts = parts[1:]
	}
	if p.Settings.Blobs != "" {
		where += " and " + originals.Place(p.Settings)
	}
	if shared != nil {
		if err := exchangeRows(p, dir.Path(restoring, datadir.Database), shared.Load); err != nil {
			return fmt.Errorf("fill the database of DATABASE_URL: %w", err)
		}
		where, parts = "DATABASE_URL, "+where, nil
	}
	aside := ""
	if len(present) > 0 {
		aside = dir.Path("before-restore-" + time.Now().UTC().Format("20060102-150405"))
		if err := moveAll(present, dir.Path(), aside); err != nil {
			return err
		}
	}
	// The database is last: without it nothing refers to the originals.
	if err := moveAll(parts, dir.Path(restoring), dir.Path()); err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "Restored %s of %s (Footnote %s) to %s: the database and %s, all verified\n",
		filepath.Base(c.File), made.MadeAt.Local().Format("2006-01-02 15:04"), made.Version, where,
		english.Count(n-1, "original"))
	if aside != "" {
		fmt.Fprintf(p.Stdout, "The previous data was moved to %s; delete it when it is no longer needed\n", aside)
	}
	return nil
}

// listEntries lists the entries of the data directory, without those that any start creates. The names are sorted.
func listEntries(dir *datadir.Dir) (names []string, err error) {
	entries, err := os.ReadDir(dir.Path())
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		switch name := entry.Name(); name {
		// A claim creates the first three, any start the cache, and a separate file system lost+found.
		case "lock", "server.json", "server.json.new", "cache", "lost+found", restoring:
		default:
			if !strings.HasPrefix(name, "before-restore-") {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// unpackBackup unpacks and verifies all files, and returns the backup's header and the number of files, including
// the database.
func (c *Restore) unpackBackup(p *command.Program, file *os.File, dir *datadir.Dir) (made Head, n int, err error) {
	archive, err := NewReader(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		return made, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return made, 0, err
	}
	if err := os.MkdirAll(dir.Path(restoring, "blobs"), 0o700); err != nil {
		return made, 0, err
	}
	// A name in the archive can't escape the root, not even by links.
	root, err := os.OpenRoot(dir.Path(restoring))
	if err != nil {
		return made, 0, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	show := command.NewBar(p.Stderr, int(max(info.Size()>>20, 1)))
	var read int64
	for ; ; n++ {
		name, body, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return made, n, err
		}
		show.Draw("MiB restored", int(min(read>>20, info.Size()>>20)), name)
		size, err := unpackFile(p.Ctx, root, name, body)
		if err != nil {
			return made, n, err
		}
		read += size
	}
	show.End("checked")
	return archive.Head, n, syncTree(dir.Path(restoring))
}

// copyOriginals copies the verified originals to the location in the settings. Existing ones are kept. It verifies
// each copy by its hash.
func copyOriginals(p *command.Program, dir *datadir.Dir) error {
	from, err := blobs.Open(dir.Path(restoring, "blobs"))
	if err != nil {
		return err
	}
	to, err := originals.Open(p.Ctx, p.Settings, dir)
	if err != nil {
		return err
	}
	names, err := fs.Glob(os.DirFS(dir.Path(restoring, "blobs")), "??/*")
	if err != nil {
		return err
	}
	show := command.NewBar(p.Stderr, len(names))
	for i, name := range names {
		hash := strings.ReplaceAll(name, "/", "")
		show.Draw("originals", i, hash)
		same, err := originals.Copy(p.Ctx, from, to, hash)
		if err == nil && !same {
			err = errors.New("its bytes changed while it was read")
		}
		if err != nil {
			return fmt.Errorf("original %s: %w", hash, err)
		}
	}
	show.End("originals are there")
	return nil
}

// unpackFile writes one file below root. A name that exists or escapes root is a damaged backup. The file is synced
// before it returns.
func unpackFile(ctx context.Context, root *os.Root, name string, body io.Reader) (size int64, err error) {
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		if err := root.MkdirAll(name[:i], 0o700); err != nil {
			return 0, err
		}
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return 0, brokenBackup("is damaged: it contains "+name+" twice", nil)
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if size, err = io.Copy(file, originals.UntilEnd(ctx, body)); err != nil {
		return size, err
	}
	return size, file.Sync()
}

// moveAll renames entries of one directory into another, in order, and syncs both. They are on one file system, so
// each rename is atomic, even after a loss of power.
func moveAll(names []string, from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return fmt.Errorf("move %s: %w", name, err)
		}
		if err := datadir.Sync(to); err != nil {
			return fmt.Errorf("move %s: %w", name, err)
		}
	}
	return datadir.Sync(from)
}

// syncTree syncs a directory and all directories below it. The files themselves are synced as they are written.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return datadir.Sync(name)
	})
}
