package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"footnote/corpus"
	"footnote/corpus/blobs"
	"footnote/corpus/blobs/s3"
	"footnote/english"
	"footnote/server/api"
	"footnote/sql/sqlite"
)

// validBlobs reports whether a FOOTNOTE_BLOBS can be the address of a directory or of a bucket.
func validBlobs(address string) bool {
	if path, ok := strings.CutPrefix(address, fileScheme); ok {
		return filepath.IsAbs(path)
	}
	u, err := url.Parse(address)
	return err == nil && strings.HasPrefix(address, s3.Scheme) && u.Host != "" && u.User == nil
}

// originals are the bytes of what was added, wherever they are kept.
type originals interface {
	corpus.Blobs
	// Reach reports whether they can be had.
	Reach(ctx context.Context) error
}

// openOriginals opens the directory or the bucket of the originals. Of a bucket nothing is asked yet.
func openOriginals(ctx context.Context, set *settings, dir *directory) (originals, error) {
	if strings.HasPrefix(set.Blobs, s3.Scheme) {
		return s3.Open(ctx, set.Blobs)
	}
	return blobs.Open(originalsOf(set, dir))
}

// originalsOf is the directory of the originals.
func originalsOf(set *settings, dir *directory) string {
	if set.Blobs != "" {
		return strings.TrimPrefix(set.Blobs, fileScheme)
	}
	return dir.filePath("blobs")
}

// originalReader returns what opens an original to read it. A directory is only read, whoever owns it: nothing is
// made in it.
func originalReader(
	ctx context.Context, set *settings, dir *directory,
) (func(hash string) (io.ReadSeekCloser, error), error) {
	if strings.HasPrefix(set.Blobs, s3.Scheme) {
		bucket, err := s3.Open(ctx, set.Blobs)
		if err != nil {
			return nil, err
		}
		return func(hash string) (io.ReadSeekCloser, error) { return bucket.Open(ctx, hash) }, nil
	}
	place := originalsOf(set, dir)
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

// originalsTime is how long a look at the originals may take.
const originalsTime = 2 * time.Second

// originalsCheck is how /health asks for originals that all replicas share. Without them questions are answered all
// the same. It asks every ten seconds at most.
func originalsCheck(kept originals) api.Check {
	return seldom("originals", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, originalsTime)
		defer cancel()
		return kept.Reach(ctx)
	})
}

// tryOriginals is what the doctor finds out about the originals: it stores some bytes, reads them back and removes
// them.
func tryOriginals(ctx context.Context, set *settings, kept originals) checkResult {
	found := checkResult{what: "originals", fine: "can be written and read: " + originalsPlace(set)}
	found.err = func() error {
		hash, _, err := kept.Put(ctx, strings.NewReader(rand.Text()), 1<<10)
		if err != nil {
			return err
		}
		there, err := isIntact(ctx, kept, hash)
		if err == nil && !there {
			err = errors.New("bytes that were stored come back as others")
		}
		return errors.Join(err, kept.Delete(ctx, hash))
	}()
	return found
}

// originalsPlace is where the originals are, for people: without the query, which may hold keys.
func originalsPlace(set *settings) string {
	address, _, _ := strings.Cut(set.Blobs, "?")
	return address
}

// compareOriginals is what the doctor finds out about the originals in a data directory: whether the database beside
// them is the one that they belong to. One that was emptied, or put back from an old copy, opens like any other.
func compareOriginals(ctx context.Context, dir *directory) checkResult {
	f := checkResult{what: "originals"}
	f.err = func() error {
		known, err := sqlite.Originals(ctx, dir.filePath(databaseFile))
		if err != nil {
			return err
		}
		files, err := fs.Glob(os.DirFS(dir.filePath("blobs")), "??/*")
		if err != nil {
			return err
		}
		unknown := make(map[string]bool, len(files))
		for _, name := range files {
			unknown[name] = true
		}
		missing := 0
		for _, hash := range known {
			name, _ := blobs.Name(hash)
			if !unknown[name] {
				missing++
			}
			delete(unknown, name)
		}
		switch {
		case missing > 0:
			return fmt.Errorf("%d of %s are missing in %s; 'footnote restore' brings a backup back",
				missing, english.Count(len(known), "original"), dir.filePath("blobs"))
		case len(known) == 0 && len(unknown) > 0:
			return fmt.Errorf("the database knows no document, though %s holds %s; if documents are missing, "+
				"'footnote restore' brings a backup back", dir.filePath("blobs"),
				english.Count(len(unknown), "original"))
		}
		f.fine = english.Count(len(known), "original") + ", none is missing"
		if len(unknown) > 0 {
			f.fine += "; " + english.Count(len(unknown), "file") + " that no document needs"
		}
		return nil
	}()
	return f
}
