package corpustest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// testLimits tests a user's daily and total limits. The local user, who owns the machine, has no limits.
func testLimits(t *testing.T, open func(*testing.T) corpus.Documents) {
	// The size is declared, not that of the bytes, so that tests need no large files.
	sized := func(user, path string, bytes int64) corpus.Document {
		d := file(path, "the bytes of "+path)
		d.User, d.Bytes = user, bytes
		return d
	}
	wantOver := func(t *testing.T, what string, err error, want chat.LimitName) {
		t.Helper()
		if over, ok := errors.AsType[*chat.OverLimit](err); !ok || over.Limit != want {
			t.Errorf("%s: error %v, want one of the limit %s", what, err, want)
		}
	}
	// A new version counts as a file; the same bytes do not.
	t.Run("daily file limit counts duplicates once", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		ds.SetLimits(chat.Limits{chat.FilesPerDay: 2})
		first := mustPut(t, ds, sized("alice", "a.md", 1))
		for range 3 {
			if _, duplicate, err := ds.Put(t.Context(), sized("alice", "a.md", 1)); err != nil || !duplicate {
				t.Fatalf("same file again: duplicate %v, %v", duplicate, err)
			}
		}
		if err := ds.SetState(
			t.Context(), first.ID, first.SHA256, corpus.StateFailed, corpus.Progress{},
			&corpus.Failure{Code: "x", Detail: "X."},
		); err != nil {
			t.Fatal(err)
		}
		mustPut(t, ds, sized("alice", "a.md", 1)) // ingested again
		_, _, err := ds.Put(t.Context(), sized("alice", "b.md", 1))
		wantOver(t, "a third file", err, chat.FilesPerDay)
		// A rejected version must store neither its hash nor a document.
		newer := sized("alice", "a.md", 1)
		newer.SHA256 = hashOf("other bytes")
		_, _, err = ds.Put(t.Context(), newer)
		wantOver(t, "another version", err, chat.FilesPerDay)
		if got := mustGet(t, ds, alice, first.ID); got.SHA256 != first.SHA256 {
			t.Error("rejected version is stored")
		}
		if counts, err := ds.Count(t.Context(), alice); err != nil || counts.Documents != 1 {
			t.Errorf("%d documents, %v; want 1", counts.Documents, err)
		}
		// Limits are per user, and the local user has none.
		mustPut(t, ds, sized("bob", "b.md", 1))
		for i := range 3 {
			mustPut(t, ds, sized(chat.LocalUser, fmt.Sprint(i, ".md"), 1))
		}
	})
	// Otherwise alternating uploads and deletions would evade the limit.
	t.Run("daily byte limit counts deleted files", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		ds.SetLimits(chat.Limits{chat.UploadMiBPerDay: 3})
		first := mustPut(t, ds, sized("alice", "a.md", 2<<20))
		if err := ds.Delete(t.Context(), alice, first.ID); err != nil {
			t.Fatal(err)
		}
		_, _, err := ds.Put(t.Context(), sized("alice", "b.md", 1<<20+1))
		wantOver(t, "more than is left", err, chat.UploadMiBPerDay)
		// The remainder fits exactly: 2 MiB and 1 MiB are the limit of 3 MiB.
		mustPut(t, ds, sized("alice", "c.md", 1<<20))
	})
	// A deleted document still uses disk space while it can be restored.
	t.Run("storage quota is released by a purge", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		ds.SetLimits(chat.Limits{chat.DiskMiB: 3})
		first := mustPut(t, ds, sized("alice", "a.md", 2<<20))
		_, _, err := ds.Put(t.Context(), sized("alice", "b.md", 1<<20+1))
		wantOver(t, "more than fits", err, chat.DiskMiB)
		mustPut(t, ds, sized("alice", "c.md", 1<<20))
		mustPut(t, ds, sized("bob", "b.md", 3<<20))
		if err := ds.Delete(t.Context(), alice, first.ID); err != nil {
			t.Fatal(err)
		}
		_, _, err = ds.Put(t.Context(), sized("alice", "b.md", 1<<20))
		wantOver(t, "while it can be restored", err, chat.DiskMiB)
		// A time a year ahead purges all deleted documents.
		mustDo(t, "Purge", ds.Purge(t.Context(), first.CreatedAt.AddDate(1, 0, 0)))
		mustPut(t, ds, sized("alice", "b.md", 1<<20))
	})
	// The limit on runs bounds these pages.
	t.Run("captured page is not an upload", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		ds.SetLimits(chat.Limits{chat.FilesPerDay: 1, chat.UploadMiBPerDay: 1, chat.DiskMiB: 1})
		for i := range 3 {
			page := sized("alice", fmt.Sprint(i, ".html"), 1<<20)
			page.Namespace = chat.WebNamespace("run")
			mustPut(t, ds, page)
		}
	})
	// Separate statements for counting and inserting would have a race.
	t.Run("parallel puts respect the limit", func(t *testing.T) {
		t.Parallel()
		// Each limit allows seven of these files of one MiB.
		for _, limits := range []chat.Limits{{chat.FilesPerDay: 7}, {chat.UploadMiBPerDay: 7}, {chat.DiskMiB: 7}} {
			ds := open(t)
			ds.SetLimits(limits)
			var done atomic.Int64
			var group sync.WaitGroup
			for i := range 50 {
				group.Go(func() {
					d := sized("alice", fmt.Sprint(i, ".md"), 1<<20)
					d.Namespace = fmt.Sprint("n", i%5)
					_, _, err := ds.Put(t.Context(), d)
					if _, over := errors.AsType[*chat.OverLimit](err); err != nil && !over {
						t.Error(err)
					}
					if err == nil {
						done.Add(1)
					}
				})
			}
			group.Wait()
			if done.Load() != 7 {
				t.Errorf("%d of 50 files with %v, want 7", done.Load(), limits)
			}
		}
	})
}
