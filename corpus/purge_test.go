package corpus_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/sql/sqlite"
)

// once fails the first time that it is asked, if err is set.
type once struct{ err error }

func (o *once) failure() error {
	err := o.err
	o.err = nil
	return err
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
	asked map[string]int // how often a document's vectors were to go
}

func (v *vectorsFailing) DeleteVectors(ctx context.Context, id string, keep []string) error {
	v.asked[id]++
	if err := v.failure(); err != nil {
		return err
	}
	return v.Vectors.DeleteVectors(ctx, id, keep)
}

// What can't be removed keeps nothing else, and is removed later, by whatever process: with a deleted document, with a
// replaced version, and with a file that was refused.
func TestWhatCannotBeRemovedIsRemovedLater(t *testing.T) {
	errAway := errors.New("away")
	for what, originals := range map[string]int{"vectors": 1, "blobs": 1} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			bodies, vectors := &blobsFailing{}, &vectorsFailing{asked: map[string]int{}}
			sh := openShelf(t, dir, func(c *corpus.Config, db *sqlite.DB) {
				bodies.Blobs, vectors.Vectors = c.Blobs, db.Vectors("hashing")
				c.Blobs, c.Vectors, c.Embedder = bodies, vectors, embedtest.Hashing{}
			})
			var added []corpus.Document
			for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
				d := sh.add(t, name, "The file "+name+".")
				added = append(added, d)
				if err := sh.Delete(t.Context(), chat.Local, d.ID); err != nil {
					t.Fatal(err)
				}
			}
			map[string]*once{"vectors": &vectors.once, "blobs": &bodies.once}[what].err = errAway
			if err := sh.PurgeBefore(t.Context(), time.Now().Add(time.Second)); !errors.Is(err, errAway) {
				t.Errorf("purge = %v, want %v", err, errAway)
			}
			if left := sh.originals(t, added); left != originals {
				t.Errorf("got %d originals left, want %d", left, originals)
			}
			for _, d := range added {
				if vectors.asked[d.ID] == 0 {
					t.Errorf("the vectors of %s were not to go, want them to", d.Filename)
				}
			}
			if err := sh.RemoveAt(t.Context(), time.Now()); err != nil || sh.originals(t, added) != originals {
				t.Errorf("%d originals left at once, %v; want %d, no error", sh.originals(t, added), err, originals)
			}
			if err := sh.RemoveAt(t.Context(), time.Now().Add(20*time.Second)); err != nil {
				t.Errorf("removing later: %v, want no error", err)
			}
			asked := 0
			for _, n := range vectors.asked {
				asked += n
			}
			if left := sh.originals(t, added); left != 0 || asked != len(added)+1 {
				t.Errorf("%d originals left, vectors removed %d times; want 0, %d", left, asked, len(added)+1)
			}
			if due, err := sh.DB.Documents().Removals(t.Context(), time.Now().Add(time.Hour)); err != nil ||
				len(due) > 0 {
				t.Errorf("%v are still to be removed, %v; want none", due, err)
			}
		})
	}
}

// originals counts the documents whose original is there.
func (sh *shelf) originals(t *testing.T, docs []corpus.Document) (n int) {
	t.Helper()
	for _, d := range docs {
		body, err := sh.Blobs.Open(t.Context(), d.SHA256)
		if err == nil {
			_ = body.Close()
			n++
		} else if chat.CodeOf(err) != chat.CodeNotFound {
			t.Fatal(err)
		}
	}
	return n
}

func TestAnOriginalThatCannotBeRemovedIsRemovedLater(t *testing.T) {
	for what, leave := range map[string]func(*shelf, func()) (sha256 string){
		"of a replaced version": func(sh *shelf, fail func()) string {
			sh.start(t)
			first := sh.settled(t, sh.add(t, "a.txt", "The first version.").ID, corpus.StateReady)
			fail()
			sh.add(t, "a.txt", "The second version.")
			sh.wait(t)
			return first.SHA256
		},
		"of a refused file": func(sh *shelf, fail func()) string { // nothing works beside it, which would try again
			fail()
			sh.DB.Documents().SetLimits(chat.Limits{chat.DiskMiB: 1})
			text := strings.Repeat("0123456789abcde\n", 1<<16+1)
			if _, _, err := sh.Add(t.Context(), corpus.Upload{
				User: "alice", Filename: "a.txt", Body: strings.NewReader(text),
			}); err == nil {
				t.Fatal("a file over the limit was taken, want an error")
			}
			return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		},
	} {
		t.Run(what, func(t *testing.T) {
			bodies := &blobsFailing{}
			sh := openShelf(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) {
				bodies.Blobs, c.Blobs = c.Blobs, bodies
			})
			left := []corpus.Document{{SHA256: leave(sh, func() { bodies.err = errors.New("away") })}}
			if n := sh.originals(t, left); n != 1 {
				t.Fatalf("%d originals left, want 1: nothing failed", n)
			}
			if err := sh.RemoveAt(t.Context(), time.Now().Add(time.Minute)); err != nil {
				t.Errorf("removing later: %v, want no error", err)
			}
			if n := sh.originals(t, left); n != 0 {
				t.Errorf("%d originals left, want 0", n)
			}
		})
	}
}
