package git

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus/sources"
)

// Limits of a batch of files.
//
// Both are estimates. Each request costs a round trip and set-up at the server, so small files are fetched in a
// batch. At most 32 MiB are cached, so a small server can follow several places.
const (
	together     = 100      // files
	togetherRoom = 32 << 20 // bytes
)

// Prefetch implements sources.Prefetcher. It drops the cache of an earlier announcement. Versions that are not object
// hashes are omitted.
//
// The announcement only saves requests: a file that was not announced is fetched as well.
func (r *repository) Prefetch(items []sources.Item) {
	r.soon, r.held, r.alone = nil, map[string][]byte{}, false
	for _, item := range items {
		if name, err := hex.DecodeString(item.Version); err == nil && len(name) > 0 {
			r.soon = append(r.soon, string(name))
		}
	}
}

// Fetch implements sources.Place. Announced files are fetched in batches. The version is the hash of the content, so
// an equal one needs no request.
func (r *repository) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	if item.Version == known {
		return sources.Content{}, sources.ErrSame
	}
	raw, err := hex.DecodeString(item.Version)
	if err != nil || len(raw) == 0 {
		return sources.Content{}, sources.ErrGone // not a file of a repository
	}
	body, err := r.fetch(ctx, string(raw))
	if err != nil {
		return sources.Content{}, explain(ctx, err)
	}
	return withoutPointer(body)
}

// fetch returns a file by its object hash: from the cache, in a batch with others, or alone. A file that several
// items share stays cached until the last of them was fetched.
//
// The first request of a sync connects to the server; later ones reuse it.
func (r *repository) fetch(ctx context.Context, name string) (io.ReadCloser, error) {
	if r.server == nil {
		if err := r.connect(ctx); err != nil {
			return nil, err
		}
	}
	if r.held[name] == nil {
		if err := r.fetchTogether(ctx, name); err != nil {
			return nil, err
		}
	}
	data := r.held[name] // an empty file is not nil
	if i := slices.Index(r.soon, name); i >= 0 {
		r.soon = r.soon[i+1:]
	}
	if !slices.Contains(r.soon, name) {
		delete(r.held, name)
	}
	if data == nil {
		return r.fetchAlone(ctx, name)
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// fetchTogether fetches a file and the announced ones after it that are not cached, and caches as many as memory
// permits. One missing object makes the server reject the whole batch. From then on files are fetched one by one.
func (r *repository) fetchTogether(ctx context.Context, first string) error {
	room := int64(togetherRoom)
	for _, data := range r.held {
		room -= int64(len(data)) + overhead
	}
	var names []string
	for _, name := range r.soon[max(slices.Index(r.soon, first), 0):] {
		if r.held[name] == nil && !slices.Contains(names, name) && len(names) < together {
			names = append(names, name)
		}
	}
	// A batch needs several announced files and enough free memory.
	if r.alone || len(names) < 2 || names[0] != first || room < togetherRoom/2 {
		return nil
	}
	p, err := r.objects(ctx, want{
		names: names, sent: 3 * togetherRoom, room: room, most: room, skip: togetherRoom,
		keep: func(k kind) bool { return k == blobObject },
	})
	if _, refused := errors.AsType[*refusal](err); refused { // one of the objects may be missing
		r.alone = true
		return nil
	}
	if err != nil {
		return err
	}
	defer p.Close()
	for {
		o, err := p.next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, errRoom): // the others are fetched later
			return nil
		case err != nil:
			return err
		case o.kind == blobObject:
			r.held[o.name] = o.data
		}
	}
}

// notOurs is Git's error message for a missing object.
const notOurs = "not our ref"

// fetchAlone fetches one file, which is never a delta, as there is no base in the pack. It streams the file without
// buffering it.
func (r *repository) fetchAlone(ctx context.Context, name string) (io.ReadCloser, error) {
	p, err := r.objects(ctx, want{names: []string{name}, sent: maxFile})
	if refused, ok := errors.AsType[*refusal](err); ok && strings.Contains(refused.text, notOurs) {
		return nil, sources.ErrGone
	}
	if err != nil {
		return nil, err
	}
	k, size, err := p.head()
	switch {
	case err == nil && k != blobObject:
		err = errPack
	case err == nil && size > maxFile:
		err = errFileTooLarge
	case err == nil:
		err = p.open()
	}
	if err != nil {
		_ = p.Close()
		return nil, err
	}
	sum := p.format.begin(blobObject, size)
	return &file{p, ctx, io.TeeReader(io.LimitReader(p.zipped, size), sum), sum, name}, nil
}

// file is a streamed file. The hash of its content must equal the requested hash.
//
// It is used by one goroutine and has to be closed, even when it was not read to its end.
type file struct {
	*pack
	ctx  context.Context
	data io.Reader // which also writes to sum
	sum  hash.Hash
	name string
}

// Read implements io.Reader. It returns io.EOF only if the hash is right, so a damaged file is never accepted as
// complete.
func (f *file) Read(p []byte) (int, error) {
	n, err := f.data.Read(p)
	if errors.Is(err, io.EOF) {
		if err = f.atEnd(); err == nil && string(f.sum.Sum(nil)) == f.name {
			return n, io.EOF
		}
		err = errors.Join(errPack, err)
	}
	return n, explain(f.ctx, err)
}

// pointer is the first line of a pointer file, whose content is in Git LFS (git-lfs specification, docs/spec.md).
const pointer = "version https://git-lfs.github.com/spec/"

// withoutPointer rejects a file that is only a pointer.
func withoutPointer(body io.ReadCloser) (sources.Content, error) {
	in := bufio.NewReader(body)
	head, err := in.Peek(len(pointer))
	switch {
	case string(head) == pointer:
		err = errLFS
	case err == nil, errors.Is(err, io.EOF):
		return sources.Content{Body: struct {
			io.Reader
			io.Closer
		}{in, body}}, nil
	}
	_ = body.Close()
	return sources.Content{}, err
}
