package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/originals"
	"github.com/footnote/footnote/corpus/blobs"
	"github.com/footnote/footnote/sql/postgres"
	"github.com/footnote/footnote/sql/sqlite"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// Command writes all data of the server into one file.
type Command struct {
	File  string `arg:"" help:"File to write, like footnote-2026-11-21.tar." placeholder:"FILE"`
	Force bool   `help:"Replace an existing file."`
}

// Help returns the additional help of 'footnote backup --help'.
func (Command) Help() string {
	return `Writes a consistent snapshot of the database (including DATABASE_URL) and the originals (including a ` +
		`bucket) to one tar file. The server can keep running.
The file appears under its name once it is complete and synced to disk. 'footnote restore FILE' restores it to a ` +
		`data directory or to PostgreSQL.`
}

// Run writes the backup to a partial file and renames it when it is complete.
//
// Existing files stay unchanged until the new one is complete and synced to disk. A lock on the partial file
// refuses a second backup to the same file. It fails with CodeConflict for an existing file, unless Force is set.
func (c *Command) Run(p *command.Program) (err error) {
	if _, err := os.Stat(c.File); err == nil && !c.Force {
		return &chat.Error{
			Code:    chat.CodeConflict,
			Message: locale.Say("{1} is there already; choose another name, or replace it with --force", c.File),
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The backup is written beside its target: the target's name never holds a partial backup.
	partial, err := os.OpenFile(c.File+".partial", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	if err := datadir.Lock(partial); err != nil {
		return errors.Join(&chat.Error{
			Code:    chat.CodeConflict,
			Message: locale.Say("Another backup is being written to {1}; wait for it, or choose another name", c.File),
		}, partial.Close())
	}
	// The lock is on the opened file, which another backup may have finished and renamed before.
	if same, err := hasSameName(partial); err != nil || !same {
		return errors.Join(&chat.Error{
			Code:    chat.CodeConflict,
			Message: locale.Say("Another backup to {1} has just ended; try again with --force to replace it", c.File),
		}, err, partial.Close())
	}
	snapshot := c.File + ".snapshot" // left by a kill, and removed by the next backup
	defer func() {
		left := []error{partial.Close(), os.Remove(snapshot)}
		if err != nil {
			left = append(left, os.Remove(partial.Name()))
		}
		for _, l := range left {
			if l != nil && !errors.Is(l, fs.ErrNotExist) && !errors.Is(l, os.ErrClosed) {
				err = errors.Join(err, l)
			}
		}
	}()
	if err := partial.Truncate(0); err != nil { // left by a kill
		return fmt.Errorf("write the backup: %w", diskFullError(err))
	}
	done, err := c.writeBackup(p, partial, snapshot)
	if err != nil {
		return fmt.Errorf("write the backup: %w", diskFullError(err))
	}
	if err := errors.Join(partial.Sync(), partial.Close()); err != nil {
		return fmt.Errorf("write the backup: %w", diskFullError(err))
	}
	if err := os.Rename(partial.Name(), c.File); err != nil {
		return fmt.Errorf("name the backup: %w", err)
	}
	if err := datadir.Sync(filepath.Dir(c.File)); err != nil {
		return fmt.Errorf("name the backup: %w", err)
	}
	fmt.Fprintf(
		p.Stdout, "%s: the database, %s, %d MiB", c.File, english.Count(done.originals, "original"), done.bytes>>20,
	)
	if done.missing > 0 {
		fmt.Fprintf(
			p.Stdout, "; %s missing (deleted meanwhile, or lost earlier)", english.Count(done.missing, "original"),
		)
	}
	fmt.Fprintln(p.Stdout)
	return listExcluded(p)
}

// listExcluded lists the files of the data directory that are not in a backup: secrets stay out of it.
func listExcluded(p *command.Program) error {
	dir := datadir.At(p.Settings.Data)
	var left []string
	secrets, err := fs.Glob(os.DirFS(dir.Path(datadir.Places)), "*.json")
	if len(secrets) > 0 {
		left = append(left, fmt.Sprintf(
			"the secrets of %s (%s)", english.Count(len(secrets), "connected source"), dir.Path(datadir.Places),
		))
	}
	for _, file := range []struct{ what, path string }{
		{"the hashes of API keys", p.Settings.KeysFile()},
		{"the folders selected on the page", dir.Path(datadir.ChosenFolders)},
	} {
		if _, err := os.Stat(file.path); err == nil {
			left = append(left, file.what+" ("+file.path+")")
		}
	}
	if len(left) > 0 {
		fmt.Fprintf(p.Stdout, "Not included: %s. Copy them to another machine (cp -rp)\n", strings.Join(left, ", "))
	}
	return err
}

// hasSameName reports whether an open file still has its name: another process may have renamed it before this one
// locked it. It is false for a deleted file.
func hasSameName(f *os.File) (bool, error) {
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(opened, named), err
}

// diskFullError maps the errors of a full disk to one message. The operating system, SQLite and the archive report
// it in different forms.
func diskFullError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return &chat.Error{Code: chat.CodeDiskFull, Message: "the disk is full; make room and try again"}
	}
	if e, ok := errors.AsType[*chat.Error](err); ok && e.Code == chat.CodeDiskFull {
		return &chat.Error{Code: chat.CodeDiskFull, Message: "the disk is full; make room and try again"}
	}
	return err
}

// saved counts the contents of a backup. bytes is the size of the database and the originals, without the archive's
// overhead.
type saved struct {
	originals, missing int
	bytes              int64
}

// writeBackup copies a snapshot of the database first: each original that it names was complete before.
func (c *Command) writeBackup(p *command.Program, to io.Writer, snapshot string) (done saved, err error) {
	if err := os.Remove(snapshot); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, err
	}
	if err := snapshotDatabase(p, snapshot); err != nil {
		return done, err
	}
	// Of the snapshot, not of the live database: documents that are added later are not in this backup.
	hashes, err := sqlite.Originals(p.Ctx, snapshot)
	if err != nil {
		return done, err
	}
	archive, err := NewWriter(to, p.Built.Version, time.Now())
	if err != nil {
		return done, err
	}
	show := command.NewBar(p.Stderr, len(hashes)+1)
	show.Draw("saving", 0, datadir.Database)
	file, err := os.Open(snapshot)
	if err != nil {
		return done, err
	}
	if _, done.bytes, err = copyIntoArchive(p.Ctx, archive, datadir.Database, file); err != nil {
		return done, err
	}
	open, err := originals.Reader(p.Ctx, p.Settings, datadir.At(p.Settings.Data))
	if err != nil {
		return done, err
	}
	for i, hash := range hashes {
		show.Draw("saving", i+1, hash)
		name, ok := blobs.Name(hash)
		if !ok {
			return done, fmt.Errorf("the database refers to an original %q, which is not a SHA-256 hash", hash)
		}
		original, err := open(hash)
		// A document that was deleted after the snapshot took its original with it: the rest is worth saving.
		if err != nil && chat.CodeOf(err) == chat.CodeNotFound {
			done.missing++
			continue
		}
		if err != nil {
			return done, err
		}
		found, size, err := copyIntoArchive(p.Ctx, archive, "blobs/"+name, original)
		switch {
		case err != nil:
			return done, err
		case found != hash:
			return done, &chat.Error{Code: chat.CodeInternal, Message: locale.Say(
				"The original {1} is damaged: its bytes have another hash. Restore it from an older backup, or delete "+
					"its document.", hash,
			)}
		}
		done.originals, done.bytes = done.originals+1, done.bytes+size
	}
	show.End("saved")
	return done, archive.Close()
}

// openShared opens the database of DATABASE_URL, and brings its schema up to date.
func openShared(p *command.Program) (*postgres.DB, error) {
	return postgres.Open(p.Ctx, string(p.Settings.DatabaseURL), command.QuietLogger(p.Stderr))
}

// exchangeRows calls a function that reads or fills a database file. The file is created or upgraded.
func exchangeRows(p *command.Program, path string, do func(context.Context, *sql.DB) error) (err error) {
	file, err := sqlite.OpenRows(p.Ctx, path, command.QuietLogger(p.Stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return do(p.Ctx, file)
}

// snapshotDatabase writes a copy of the whole database to a new file.
func snapshotDatabase(p *command.Program, to string) (err error) {
	if p.Settings.DatabaseURL == "" {
		return sqlite.Snapshot(p.Ctx, datadir.At(p.Settings.Data).Path(datadir.Database), to)
	}
	db, err := openShared(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return exchangeRows(p, to, db.Dump)
}

// copyIntoArchive copies a file into the archive, closes it, and returns its hash and size. It seeks to the end of
// the file for the size.
func copyIntoArchive(
	ctx context.Context, archive *Writer, name string, file io.ReadSeekCloser,
) (hash string, size int64, err error) {
	defer func() { err = errors.Join(err, file.Close()) }()
	// A bucket's object has no Stat: its end offset is the size.
	if size, err = file.Seek(0, io.SeekEnd); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err == nil {
		hash, err = archive.Add(name, size, originals.UntilEnd(ctx, file))
	}
	return hash, size, err
}
