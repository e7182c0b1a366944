package git

import (
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

// Limits of files that are asked for together.
//
// Both are choices. A request costs a round trip and some setting up at the server, so many small files come in one;
// more than 32 MiB are not held, so that several places can be followed by a small server.
const (
	together     = 100      // files
	togetherRoom = 32 << 20 // bytes
)

// Soon implements sources.Ahead. What was held for an earlier announcement is dropped. Versions that are no names of
// objects are left out.
//
// A list is only told ahead to save requests: a file that was not announced is fetched as well.
func (r *repository) Soon(items []sources.Item) {
	r.soon, r.held, r.alone = nil, map[string][]byte{}, false
	for _, item := range items {
		if name, err := hex.DecodeString(item.Version); err == nil && len(name) > 0 {
			r.soon = append(r.soon, string(name))
		}
	}
}

// Fetch implements sources.Place. Files that are wanted soon are asked for together. The version is the name of the
// content, so an equal one needs no request.
func (r *repository) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	if item.Version == known {
		return sources.Content{}, sources.ErrSame
	}
	raw, err := hex.DecodeString(item.Version)
	if err != nil || len(raw) == 0 {
		return sources.Content{}, sources.ErrGone // no file of a repository
	}
	body, err := r.fetch(ctx, string(raw))
	if err != nil {
		return sources.Content{}, explain(ctx, err)
	}
	return withoutPointer(body)
}

// fetch returns a file by its name as an object: from what is held, asked for together with others, or alone. A file
// that several items have is held until the last of them took it.
//
// The first request of a look finds out where the repository is; later ones use the same server.
func (r *repository) fetch(ctx context.Context, name string) (_ io.ReadCloser, err error) {
	if r.server == nil {
		if r.server, err = r.connect(ctx); err != nil {
			return nil, err
		}
	}
	if _, there := r.held[name]; !there {
		if err := r.fetchTogether(ctx, name); err != nil {
			return nil, err
		}
	}
	data, there := r.held[name]
	if i := slices.Index(r.soon, name); i >= 0 {
		r.soon = r.soon[i+1:]
	}
	if !slices.Contains(r.soon, name) {
		delete(r.held, name)
	}
	if !there {
		return r.fetchAlone(ctx, name)
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// fetchTogether asks for a file and those that are wanted after it, and holds as many as there is memory for. One
// missing object refuses the whole request, so from then on files are asked for one by one.
func (r *repository) fetchTogether(ctx context.Context, first string) error {
	room := int64(togetherRoom)
	for _, data := range r.held {
		room -= int64(len(data)) + overhead
	}
	names := r.after(first)
	// Asking together pays for several files, and only while there is room for them.
	if r.alone || len(names) < 2 || room < togetherRoom/2 {
		return nil
	}
	from, err := r.objects(ctx, r.server, want{
		names: names, sent: 3 * togetherRoom, room: room, most: room, skip: togetherRoom,
		keep: func(k kind) bool { return k == blobObject },
	})
	var refused *refusal
	if errors.As(err, &refused) { // one of them may be gone
		r.alone = true
		return nil
	}
	if err != nil {
		return err
	}
	defer from.close()
	for {
		o, err := from.next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, errRoom): // the rest comes later
			return nil
		case err != nil:
			return err
		case o.kind == blobObject:
			r.held[o.name] = o.data
		}
	}
}

// after are a file and those that are wanted after it and not here yet, each once. Those before the file in the
// announcement are past and not asked for again.
func (r *repository) after(first string) []string {
	names := []string{first}
	at := slices.Index(r.soon, first)
	if at < 0 {
		return names
	}
	for _, name := range r.soon[at:] {
		if _, there := r.held[name]; !there && !slices.Contains(names, name) && len(names) < together {
			names = append(names, name)
		}
	}
	return names
}

// notOurs is what Git says of an object that is not there.
const notOurs = "not our ref"

// fetchAlone asks for one file, which comes whole: there is nothing from which it could differ. It streams: a file of
// this size is never in memory.
func (r *repository) fetchAlone(ctx context.Context, name string) (io.ReadCloser, error) {
	from, err := r.objects(ctx, r.server, want{
		names: []string{name}, sent: maxFile, keep: func(kind) bool { return true },
	})
	var refused *refusal
	if errors.As(err, &refused) && strings.Contains(refused.text, notOurs) {
		return nil, sources.ErrGone
	}
	if err != nil {
		return nil, err
	}
	k, size, err := from.head()
	switch {
	case err == nil && k != blobObject:
		err = errPack
	case err == nil && size > maxFile:
		err = errFileTooLarge
	case err == nil:
		err = from.open()
	}
	if err != nil {
		from.close()
		return nil, err
	}
	return &file{ctx: ctx, from: from, left: size, sum: from.format.begin(blobObject, size), name: name}, nil
}

// file is a file that is being sent. The hash of what was read must be the name that was asked for.
//
// It is used by one goroutine and has to be closed, also when it was not read to its end.
type file struct {
	ctx  context.Context
	from reply
	left int64
	sum  hash.Hash
	name string
}

// Read implements io.Reader. The end is told only when the hash is right, so a reader never takes a damaged file for a
// whole one.
func (f *file) Read(p []byte) (int, error) {
	if f.left == 0 {
		if err := atEnd(f.from.zipped); err != nil || string(f.sum.Sum(nil)) != f.name {
			return 0, explain(f.ctx, errors.Join(errPack, err))
		}
		return 0, io.EOF
	}
	n, err := f.from.zipped.Read(p[:min(int64(len(p)), f.left)])
	_, _ = f.sum.Write(p[:n])
	f.left -= int64(n)
	switch {
	case f.left == 0:
		err = nil
	case errors.Is(err, io.EOF):
		err = explain(f.ctx, io.ErrUnexpectedEOF)
	case err != nil:
		err = explain(f.ctx, err)
	}
	return n, err
}

// Close implements io.Closer.
func (f *file) Close() error {
	f.from.close()
	return nil
}

// pointer begins a file of which Git LFS keeps the content elsewhere. It is the first line of a pointer file (git-lfs
// specification, docs/spec.md).
const pointer = "version https://git-lfs.github.com/spec/"

// withoutPointer refuses a file that is only a pointer.
func withoutPointer(body io.ReadCloser) (sources.Content, error) {
	head := make([]byte, len(pointer))
	n, err := io.ReadFull(body, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		_ = body.Close()
		return sources.Content{}, err
	}
	if string(head[:n]) == pointer {
		_ = body.Close()
		return sources.Content{}, errLFS
	}
	return sources.Content{Body: struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head[:n]), body), body}}, nil
}
