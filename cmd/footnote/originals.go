package main

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"footnote/corpus"
	"footnote/corpus/blobs"
	"footnote/corpus/blobs/s3"
)

// validBlobs reports whether a FOOTNOTE_BLOBS can be the address of a directory or of a bucket.
func validBlobs(address string) bool {
	if path, ok := strings.CutPrefix(address, fileScheme); ok {
		return filepath.IsAbs(path)
	}
	u, err := url.Parse(address)
	return err == nil && strings.HasPrefix(address, s3.Scheme) && u.Host != "" && u.User == nil
}

// openOriginals opens the directory or the bucket of the originals. Of a bucket nothing is asked yet.
func openOriginals(ctx context.Context, set *settings, dir *directory) (corpus.Blobs, error) {
	if strings.HasPrefix(set.Blobs, s3.Scheme) {
		return s3.Open(ctx, set.Blobs)
	}
	return blobs.Open(originalsOf(set, dir))
}
