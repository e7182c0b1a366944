// Package originals gives access to the original files, in the store that the settings name: the data directory, a
// directory shared by replicas, or a bucket.
//
// An original is named by the SHA-256 of its bytes, so that a copy can be verified ([Intact], [Copy]).
package originals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/blobs"
	"github.com/footnote/footnote/corpus/blobs/s3"
)

// Store stores the original files.
type Store interface {
	corpus.Blobs
	// Ping reports an error if the store is unreachable.
	Ping(ctx context.Context) error
}

// Open opens the directory or the bucket of the originals. It sends no request to a bucket yet.
func Open(ctx context.Context, set *settings.Settings, dir *datadir.Dir) (Store, error) {
	if strings.HasPrefix(set.Blobs, s3.Scheme) {
		return s3.Open(ctx, set.Blobs)
	}
	return blobs.Open(dirOf(set, dir))
}

// dirOf returns the directory of the originals.
func dirOf(set *settings.Settings, dir *datadir.Dir) string {
	if set.Blobs != "" {
		return strings.TrimPrefix(set.Blobs, settings.FileScheme)
	}
	return dir.Path("blobs")
}

// Reader returns a function that opens an original for reading. A directory is read-only, whatever its owner is: no
// files are created in it.
func Reader(
	ctx context.Context, set *settings.Settings, dir *datadir.Dir,
) (func(hash string) (io.ReadSeekCloser, error), error) {
	if strings.HasPrefix(set.Blobs, s3.Scheme) {
		bucket, err := s3.Open(ctx, set.Blobs)
		if err != nil {
			return nil, err
		}
		return func(hash string) (io.ReadSeekCloser, error) { return bucket.Open(ctx, hash) }, nil
	}
	place := dirOf(set, dir)
	return func(hash string) (io.ReadSeekCloser, error) {
		name, ok := blobs.Name(hash)
		if !ok {
			return nil, blobs.ErrNone
		}
		file, err := os.Open(filepath.Join(place, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, blobs.ErrNone
		}
		return file, err
	}, nil
}

// Place returns the location of the originals for messages, without the query, which may contain keys.
func Place(set *settings.Settings) string {
	address, _, _ := strings.Cut(set.Blobs, "?")
	return address
}

// Intact reports whether a blob is stored with the right bytes.
func Intact(ctx context.Context, in corpus.Blobs, hash string) (bool, error) {
	file, err := in.Open(ctx, hash)
	if chat.CodeOf(err) == chat.CodeNotFound && err != nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, UntilEnd(ctx, file))
	return hex.EncodeToString(sum.Sum(nil)) == hash, errors.Join(err, file.Close())
}

// Copy copies a blob and reports whether its bytes match its name.
func Copy(ctx context.Context, from, to corpus.Blobs, hash string) (bool, error) {
	file, err := from.Open(ctx, hash)
	if err != nil {
		return false, err
	}
	defer file.Close()
	got, _, err := to.Put(ctx, file, math.MaxInt64-1)
	return got == hash, err
}

// UntilEnd returns a reader that fails once ctx ends, so that an interrupt cancels a long copy.
func UntilEnd(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

// contextReader is the reader of UntilEnd.
type contextReader struct {
	ctx context.Context //nolint:containedctx // lives as long as one copy
	r   io.Reader
}

// Read implements io.Reader. It fails once ctx has ended.
func (u contextReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
