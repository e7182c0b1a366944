// Package blobs stores originals as files named by the SHA-256 of their bytes. A file is complete and durable
// before it gets its name, so a crash leaves no partial file under a hash. Equal bytes are deduplicated. blobs/s3
// has the same guarantees for a bucket.
//
// The directory has a subdirectory for the first two hexadecimal digits of a hash, since file systems are slow with
// hundreds of thousands of entries, and the subdirectory incoming for files being written. Names are validated, and
// all paths are opened below the directory (os.Root), which prevents path traversal.
package blobs

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"

	"github.com/dustin/go-humanize"
)

// incoming is the directory of files that are being written. It is on the same file system as the blobs, so that a
// rename is atomic.
const incoming = "incoming"

// abandonedAfter is the age at which a file in incoming counts as left by a crash. No upload takes a day, and a
// file that another process is writing must not be removed.
const abandonedAfter = 24 * time.Hour

// Directory stores blobs in a directory, as "ab/cdef…" for the hash abcdef…. It is safe for concurrent use. Several
// processes may share the directory.
type Directory struct{ root *os.Root }

var _ corpus.Blobs = Directory{}

// Open returns the blobs in dir, creating the directory if necessary, and removes unfinished files of earlier
// processes. The readers of Directory.Open are *os.File, whose Name is the path.
func Open(dir string) (Directory, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Directory{}, fmt.Errorf("open blobs: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Directory{}, fmt.Errorf("open blobs: %w", translateError(err))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Directory{}, fmt.Errorf("open blobs: %w", err)
	}
	d := Directory{root}
	if err := errors.Join(root.MkdirAll(incoming, 0o700),
		d.clearUnfinished(time.Now().Add(-abandonedAfter))); err != nil {
		return Directory{}, errors.Join(fmt.Errorf("open blobs: %w", translateError(err)), root.Close())
	}
	return d, nil
}

// Ping returns an error if the directory is missing or was replaced. After a disk is unmounted, its mount point is
// another directory: Ping compares both.
func (d Directory) Ping(context.Context) error {
	named, err := os.Stat(d.root.Name())
	if err == nil {
		var opened fs.FileInfo
		if opened, err = d.root.Stat("."); err == nil && os.SameFile(named, opened) {
			return nil
		}
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: "The directory for original files was not found.",
		Hint: "Restore it and restart Footnote.", Err: err,
	}
}

// clearUnfinished removes files in incoming that are older than before.
func (d Directory) clearUnfinished(before time.Time) error {
	entries, err := fs.ReadDir(d.root.FS(), incoming)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.ModTime().Before(before) {
			err = d.root.Remove(path.Join(incoming, entry.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may clear as well
			return err
		}
	}
	return nil
}

// Put stores the bytes of r; see corpus.Blobs. It reads at most limit+1 bytes and removes its file on failure. It
// returns errors of r unchanged, and chat.CodeDiskFull if the disk is full.
func (d Directory) Put(ctx context.Context, r io.Reader, limit int64) (hash string, size int64, err error) {
	temp := path.Join(incoming, rand.Text())
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", 0, fmt.Errorf("store a file: %w", translateError(err))
	}
	hash, size, err = Write(ctx, f, r, limit)
	if closing := f.Close(); err == nil {
		err = translateError(closing)
	}
	if err == nil {
		err = d.storeFile(temp, hash)
	}
	if err != nil {
		if removing := d.root.Remove(temp); !errors.Is(removing, fs.ErrNotExist) {
			err = errors.Join(err, removing)
		}
		return "", 0, fmt.Errorf("store a file: %w", err)
	}
	return hash, size, nil
}

// Write copies at most limit bytes of r (else chat.CodeTooLarge) to f, syncs it, and returns its SHA-256 (hex) and
// size. fsync precedes the rename: otherwise a power cut could leave a name without bytes.
func Write(ctx context.Context, f *os.File, r io.Reader, limit int64) (string, int64, error) {
	sum := sha256.New()
	size, err := io.Copy(writerTo{io.MultiWriter(f, sum)}, io.LimitReader(cancellable{ctx, r}, limit+1))
	if err != nil {
		return "", 0, err
	}
	if size > limit {
		return "", 0, &chat.Error{Code: chat.CodeTooLarge, Message: locale.Say(
			"The file exceeds the limit of {1}.", humanize.IBytes(uint64(limit)),
		)}
	}
	return hex.EncodeToString(sum.Sum(nil)), size, translateError(f.Sync())
}

// storeFile renames a finished file to its hash, durably. It replaces an existing file, which has the same bytes. A
// rename is durable only after the directory is synced, and a new directory only after its parent is.
func (d Directory) storeFile(temp, hash string) error {
	name, _ := Name(hash)
	dir := path.Dir(name)
	if err := d.root.MkdirAll(dir, 0o700); err != nil {
		return translateError(err)
	}
	if err := d.root.Rename(temp, name); err != nil {
		return translateError(err)
	}
	for _, changed := range []string{dir, "."} {
		f, err := d.root.Open(changed)
		if err != nil {
			return translateError(err)
		}
		err = f.Sync()
		if closing := f.Close(); err == nil {
			err = closing
		}
		// not every file system syncs directories
		if err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
			return translateError(err)
		}
	}
	return nil
}

// Name returns the relative path of the blob with a hash; ok is false for an invalid hash. Directories and buckets
// use the same names, so that one can be copied to the other.
func Name(hash string) (name string, ok bool) {
	if !validHash.MatchString(hash) {
		return "", false
	}
	return hash[:2] + "/" + hash[2:], true
}

// validHash matches a SHA-256 in lower-case hexadecimal, the only valid names of blobs.
var validHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

// ErrNone is the error of Open for an unknown hash.
var ErrNone = &chat.Error{Code: chat.CodeNotFound, Message: "Original file not found. Upload it again."}

// Open opens a blob; see corpus.Blobs. The caller closes it. On Unix it stays readable if the blob is deleted
// meanwhile.
func (d Directory) Open(_ context.Context, hash string) (io.ReadSeekCloser, error) {
	name, ok := Name(hash)
	if !ok {
		return nil, ErrNone
	}
	f, err := d.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("open a file: %w", translateError(err))
	}
	return f, nil
}

// Delete removes a blob; see corpus.Blobs. A missing blob is not an error.
func (d Directory) Delete(_ context.Context, hash string) error {
	name, ok := Name(hash)
	if !ok {
		return nil
	}
	if err := d.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a file: %w", translateError(err))
	}
	return nil
}

// cancellable is a reader that fails once ctx has ended. It does not interrupt a running read.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// writerTo translates write errors, since io.Copy does not distinguish them from read errors.
type writerTo struct{ w io.Writer }

func (w writerTo) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	return n, translateError(err)
}

// translateError maps disk errors to a *chat.Error with a code and a user-facing message. It returns other errors
// unchanged.
func translateError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return &chat.Error{
			Code: chat.CodeDiskFull, Message: "The disk is full. Free some space and try again.", Err: err,
		}
	}
	return err
}
