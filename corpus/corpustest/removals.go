package corpustest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
)

// testRemovals tests removals of data outside the database, which can't be part of its transactions. A removal is
// returned until it is reported as done; removal must be idempotent.
func testRemovals(t *testing.T, open func(*testing.T) corpus.Documents) {
	// The backoff doubles from 20 seconds up to five minutes, for a bucket or a Milvus that is down.
	t.Run("removal is retried with backoff until done", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "words")
		mustDo(t, "Delete", ds.Delete(t.Context(), alice, d.ID))
		mustDo(t, "Purge", ds.Purge(t.Context(), time.Now().Add(time.Hour)))
		want := corpus.Removal{DocumentID: d.ID, SHA256: d.SHA256}
		now := time.Now()
		for _, wait := range []time.Duration{20, 40, 80, 160, 300, 300, 300} {
			wantRemovals(t, ds, now, want)
			now = now.Add(wait*time.Second - time.Millisecond)
			wantRemovals(t, ds, now)
			now = now.Add(time.Millisecond)
		}
		for range 2 {
			mustDo(t, "Removed", ds.Removed(t.Context(), want))
		}
		wantRemovals(t, ds, now.Add(time.Hour))
	})
	// Only once the new version is ready: before that, it may be cancelled.
	t.Run("original of a replaced version is queued for removal", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		old := ingest(t, ds, file("a.md", ""), "words")
		mustDo(t, "PutContent again", ds.PutContent(t.Context(), old.ID, contentOf(old, "words as before")))
		wantRemovals(t, ds, time.Now())
		v := mustPut(t, ds, file("a.md", "new"))
		wantRemovals(t, ds, time.Now())
		mustPutContent(t, ds, v.ID, contentOf(v, "new words"))
		wantRemovals(t, ds, time.Now(), corpus.Removal{SHA256: old.SHA256})
	})
	t.Run("originals of both versions are removed with a document", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		old := ingest(t, ds, file("a.md", ""), "words")
		v := mustPut(t, ds, file("a.md", "new"))
		mustDo(t, "Delete", ds.Delete(t.Context(), alice, v.ID))
		mustDo(t, "Purge", ds.Purge(t.Context(), time.Now().Add(time.Hour)))
		wantRemovals(t, ds, time.Now(), corpus.Removal{SHA256: old.SHA256},
			corpus.Removal{DocumentID: v.ID, SHA256: v.SHA256})
	})
	// Bytes stored without a document, such as those of a failed upload, have no other removal.
	t.Run("original is abandoned once", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		r := corpus.Removal{SHA256: hashOf("nobody's")}
		mustDo(t, "Abandon", ds.Abandon(t.Context(), r))
		wantRemovals(t, ds, time.Now(), r)
		mustDo(t, "Abandon again", ds.Abandon(t.Context(), r))
		wantRemovals(t, ds, time.Now())
	})
	// A batch has at most 100, and a returned removal is due again later, so that several processes share the work.
	t.Run("concurrent removals are due once", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		const n = 150
		for i := range n {
			mustDo(t, "Abandon", ds.Abandon(t.Context(), corpus.Removal{SHA256: hashOf(string(rune('a' + i)))}))
		}
		now, seen := time.Now(), map[string]bool{}
		for _, want := range []int{100, 50, 0} {
			due, err := ds.Removals(t.Context(), now)
			if err != nil || len(due) != want {
				t.Fatalf("%d removals, %v; want %d", len(due), err, want)
			}
			for _, r := range due {
				seen[r.SHA256] = true
			}
		}
		if len(seen) != n {
			t.Errorf("%d different removals, want %d", len(seen), n)
		}
	})
}

// wantRemovals checks the removals that are due.
func wantRemovals(t *testing.T, ds corpus.Documents, now time.Time, want ...corpus.Removal) {
	t.Helper()
	got, err := ds.Removals(t.Context(), now)
	slices.SortFunc(got, func(a, b corpus.Removal) int { return cmp.Compare(a.DocumentID, b.DocumentID) })
	if d := diff.Diff(want, got); err != nil || d != "" {
		t.Fatalf("Removals: %v (-want +got):\n%s", err, d)
	}
}
