package corpus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/embed/embedtest"
	"footnote/sql/sqlite"
)

// once fails the first time that it is asked, if err is set.
type once struct{ err error }

func (o *once) failure() error {
	err := o.err
	o.err = nil
	return err
}

// laterBatch is a database that fails at a batch after those that it has removed.
type laterBatch struct {
	corpus.Documents
	once
}

func (l *laterBatch) Purge(ctx context.Context, before time.Time) ([]corpus.Document, error) {
	gone, err := l.Documents.Purge(ctx, before)
	return gone, errors.Join(err, l.failure())
}

type blobsFailing struct {
	corpus.Blobs
	once
}

func (b *blobsFailing) Delete(ctx context.Context, sha256 string) error {
	if err := b.failure(); err != nil {
		return err
	}
	return b.Blobs.Delete(ctx, sha256)
}

type vectorsFailing struct {
	corpus.Vectors
	once
	asked map[string]bool // ids of documents whose vectors were to go
}

func (v *vectorsFailing) DeleteVectors(ctx context.Context, id string, keep []string) error {
	v.asked[id] = true
	if err := v.failure(); err != nil {
		return err
	}
	return v.Vectors.DeleteVectors(ctx, id, keep)
}

func TestAFailureOfAPurgeKeepsNothingElse(t *testing.T) {
	errAway := errors.New("away")
	for what, originals := range map[string]int{"documents": 0, "vectors": 0, "blobs": 1} {
		t.Run(what, func(t *testing.T) {
			docs, bodies, vectors := &laterBatch{}, &blobsFailing{}, &vectorsFailing{asked: map[string]bool{}}
			sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
				docs.Documents, bodies.Blobs, vectors.Vectors = c.Documents, c.Blobs, db.Vectors()
				c.Documents, c.Blobs, c.Vectors, c.Embedder = docs, bodies, vectors, embedtest.Hashing{}
			})
			var added []corpus.Document
			for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
				d := sh.add(t, name, "The file "+name+".")
				added = append(added, d)
				if err := sh.Delete(t.Context(), chat.Local, d.ID); err != nil {
					t.Fatal(err)
				}
			}
			map[string]*once{
				"documents": &docs.once, "vectors": &vectors.once, "blobs": &bodies.once,
			}[what].err = errAway
			if err := sh.PurgeBefore(t.Context(), time.Now().Add(time.Second)); !errors.Is(err, errAway) {
				t.Errorf("purge = %v, want %v", err, errAway)
			}
			left := 0
			for _, d := range added {
				if !vectors.asked[d.ID] {
					t.Errorf("the vectors of %s stayed", d.Filename)
				}
				if body, err := sh.Blobs.Open(t.Context(), d.SHA256); err == nil {
					_ = body.Close()
					left++
				}
			}
			if left != originals {
				t.Errorf("got %d originals left, want %d", left, originals)
			}
		})
	}
}
