package corpustest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

// TestDocuments tests the contract of corpus.Documents. open returns an empty store, once per subtest. Each part
// has a function, and each requirement a subtest.
func TestDocuments(t *testing.T, open func(*testing.T) corpus.Documents) {
	t.Run("put", func(t *testing.T) { t.Parallel(); testPut(t, open) })
	t.Run("limits", func(t *testing.T) { t.Parallel(); testLimits(t, open) })
	t.Run("states", func(t *testing.T) { t.Parallel(); testStates(t, open) })
	t.Run("content", func(t *testing.T) { t.Parallel(); testContent(t, open) })
	t.Run("replacing content", func(t *testing.T) { t.Parallel(); testReplace(t, open) })
	t.Run("list", func(t *testing.T) { t.Parallel(); testList(t, open) })
	t.Run("scope", func(t *testing.T) { t.Parallel(); testScope(t, open) })
	t.Run("hidden", func(t *testing.T) { t.Parallel(); testHidden(t, open) })
	t.Run("delete", func(t *testing.T) { t.Parallel(); testDelete(t, open) })
	t.Run("removals", func(t *testing.T) { t.Parallel(); testRemovals(t, open) })
	t.Run("watched", func(t *testing.T) { t.Parallel(); testWatched(t, open) })
	t.Run("version", func(t *testing.T) { t.Parallel(); testVersion(t, open) })
}

// testPut tests Put without an existing document, with the same bytes, with an older version, and with a deleted
// document.
func testPut(t *testing.T, open func(*testing.T) corpus.Documents) {
	// Put and Get return the same document, except for Fresh, which only Put sets.
	t.Run("new document is queued under a new id with all fields", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		in := file("notes/roof.md", "tiles")
		in.Meta = map[string]any{"author": "Ada", "year": 1843.0, "tags": []any{"a", "b"}}
		got := mustPut(t, ds, in)
		want := in
		// Set by the store: the ID, the file name as the title until content has a better one, and the initial
		// states.
		want.ID, want.Title, want.State, want.Semantic, want.Progress.Stage = got.ID, "roof.md", corpus.StateQueued,
			corpus.SemanticOff, "queued"
		want.Fresh = true
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(corpus.Document{}, "CreatedAt", "UpdatedAt")); diff != "" ||
			got.ID == "" {
			t.Errorf("Put returned (-want +got):\n%s", diff)
		}
		got.Fresh = false
		if diff := cmp.Diff(got, mustGet(t, ds, alice, got.ID)); diff != "" {
			t.Errorf("Get after Put (-Put +Get):\n%s", diff)
		}
		// Times are UTC in every store, so that all databases sort alike. An hour is the tolerance for a database's
		// clock.
		if age := time.Since(got.CreatedAt); age < 0 || age > time.Hour || got.CreatedAt.Location() != time.UTC {
			t.Errorf("CreatedAt = %v", got.CreatedAt)
		}
	})
	// A second copy of a file must not duplicate search results. The first path is kept.
	t.Run("same bytes under another path are the existing document", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		first := mustPut(t, ds, file("a.md", "same"))
		second, duplicate, err := ds.Put(t.Context(), file("b.md", "same"))
		if err != nil || !duplicate || second.ID != first.ID || second.Path != "a.md" || second.Fresh {
			t.Errorf(
				"Put = %s (%q), duplicate %v, %v; want %s, a duplicate", second.ID, second.Path, duplicate, err,
				first.ID,
			)
		}
	})
	// Nil metadata keeps the existing values, other metadata replaces earlier values, and metadata extracted from
	// the file is kept in both cases. MetaIfFresh is for default values.
	t.Run("same bytes with other metadata update it", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		in := file("a.md", "")
		in.Meta = map[string]any{"author": "Ada", "draft": true}
		in.SHA256 = hashOf("same")
		d := mustPut(t, ds, in)
		content := contentOf(d, "words")
		content.Extracted.Meta = map[string]any{"lang": "en"}
		mustPutContent(t, ds, d.ID, content)
		again := file("b.md", "same")
		version := mustVersion(t, ds, alice)
		put := func() corpus.Document {
			t.Helper()
			got, duplicate, err := ds.Put(t.Context(), again)
			if err != nil || !duplicate || got.ID != d.ID {
				t.Fatalf("Put = %s, duplicate %v, %v; want %s", got.ID, duplicate, err, d.ID)
			}
			return got
		}
		// Search results have not changed, so the version must stay and cached results remain valid.
		if got := put(); got.Meta["author"] != "Ada" || mustVersion(t, ds, alice) != version {
			t.Errorf("metadata after a put without = %v, want it unchanged", got.Meta)
		}
		again.Meta = map[string]any{"author": "Zed"}
		if diff := cmp.Diff(map[string]any{"author": "Zed", "lang": "en"}, put().Meta); diff != "" ||
			mustVersion(t, ds, alice) == version {
			t.Errorf("with meta, version %d before and %d now (-want +got):\n%s", version, mustVersion(
				t, ds, alice,
			), diff)
		}
		fresh := again
		fresh.Meta, fresh.MetaIfFresh = map[string]any{"author": "Eve"}, true
		if got, _, err := ds.Put(t.Context(), fresh); err != nil || got.Meta["author"] != "Zed" {
			t.Errorf("with meta for a document that is not there yet: %v, %v, want Zed's", got.Meta, err)
		}
		fresh.Path, fresh.SHA256 = "fresh.md", hashOf("another")
		if got := mustPut(t, ds, fresh); got.Meta["author"] != "Eve" {
			t.Errorf("a new document has %v, want Eve's", got.Meta)
		}
		// Filters must match the new metadata, and no longer the old.
		for author, want := range map[string]int{"Ada": 0, "Zed": 1} {
			if found, _, err := ds.List(
				t.Context(), alice, corpus.Filter{Meta: map[string]any{"author": author}},
			); err != nil || len(found) != want {
				t.Errorf("%d documents by %s, %v; want %d", len(found), author, err, want)
			}
		}
		// An empty map differs from nil: it removes the given metadata and keeps that of the file.
		again.Meta = map[string]any{}
		if diff := cmp.Diff(map[string]any{"lang": "en"}, put().Meta); diff != "" {
			t.Errorf("with empty meta (-want +got):\n%s", diff)
		}
	})
	// Whether bytes exist elsewhere must not be visible.
	t.Run("same bytes in another scope are another document", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		first := mustPut(t, ds, file("a.md", "same"))
		elsewhere, theirs := file("a.md", "same"), file("a.md", "same")
		elsewhere.Namespace, theirs.User = "other", bob.User
		if second, third := mustPut(t, ds, elsewhere), mustPut(t, ds, theirs); second.ID == first.ID ||
			third.ID == first.ID || third.ID == second.ID {
			t.Errorf("ids %s, %s and %s should differ", first.ID, second.ID, third.ID)
		}
	})
	// Users retry by adding the file again.
	t.Run("same bytes requeue a failed or cancelled document", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := mustPut(t, ds, file("a.md", "same"))
		mustDo(t, "SetState", ds.SetState(
			t.Context(), d.ID, d.SHA256, corpus.StateFailed, corpus.Progress{},
			&corpus.Failure{Code: "broken", Detail: "It is broken."},
		))
		if again := mustPut(t, ds, file("a.md", "same")); again.ID != d.ID || again.State != corpus.StateQueued ||
			again.Error != nil {
			t.Errorf(
				"after a failure: id %s, state %s, error %v; want %s queued", again.ID, again.State, again.Error, d.ID,
			)
		}
		mustDo(t, "Cancel", ds.Cancel(t.Context(), alice, d.ID))
		if again := mustPut(t, ds, file("a.md", "same")); again.ID != d.ID || again.State != corpus.StateQueued {
			t.Errorf("after a cancel: id %s, state %s; want %s queued", again.ID, again.State, d.ID)
		}
	})
	// The ID is kept, so that links and citations stay valid.
	t.Run("other bytes under the same path are a new version", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "old words")
		got := mustPut(t, ds, file("a.md", "new words"))
		if got.ID != d.ID || got.State != corpus.StateQueued || got.SHA256 != hashOf("new words") ||
			!got.CreatedAt.Equal(d.CreatedAt) || got.Fresh {
			t.Errorf("Put = %+v, want document %s queued with the new hash", got, d.ID)
		}
	})
	// The file is not ingested again: its content exists until the purge.
	t.Run("same bytes restore a deleted document", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "old words")
		mustDo(t, "Delete", ds.Delete(t.Context(), alice, d.ID))
		again := file("a.md", "")
		again.SHA256 = d.SHA256
		got, duplicate, err := ds.Put(t.Context(), again)
		if err != nil || !duplicate || got.ID != d.ID || got.State != corpus.StateReady || !got.Fresh {
			t.Fatalf("Put = %s %s, duplicate %v, %v; want %s ready", got.ID, got.State, duplicate, err, d.ID)
		}
		if text := mustText(t, ds, d.ID); text != "old words" {
			t.Errorf("Text = %q", text)
		}
	})
	// Another name may mean another format, so the file is ingested again.
	t.Run("same bytes restore a deleted document under a new name", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "old words")
		mustDo(t, "Delete", ds.Delete(t.Context(), alice, d.ID))
		again := file("b.txt", "")
		again.SHA256, again.MIME = d.SHA256, "text/plain"
		got, _, err := ds.Put(t.Context(), again)
		if err != nil || got.Filename != "b.txt" || got.Path != "b.txt" || got.MIME != "text/plain" ||
			got.State != corpus.StateQueued {
			t.Errorf("Put = %s %s, %s, %s, %v; want b.txt, text/plain, queued", got.Filename, got.Path, got.MIME,
				got.State, err)
		}
	})
	// Only the database can decide a race.
	t.Run("concurrent puts of the same bytes make one document", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		const n = 16
		ids := make(chan string, n)
		for range n {
			go func() {
				d, _, err := ds.Put(t.Context(), file("a.md", "same"))
				if err != nil {
					t.Errorf("Put: %v", err)
				}
				ids <- d.ID
			}()
		}
		first := <-ids
		for range n - 1 {
			if id := <-ids; id != first {
				t.Errorf("got ids %s and %s, want one", first, id)
			}
		}
	})
}

// testStates tests the state transitions. Each update names its version by hash.
func testStates(t *testing.T, open func(*testing.T) corpus.Documents) {
	// The page displays all three, also after a restart.
	t.Run("state is stored with progress and failure", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := mustPut(t, ds, file("a.md", "x"))
		progress := corpus.Progress{Stage: "parsing", Done: 3, Total: 7}
		mustDo(t, "SetState", ds.SetState(t.Context(), d.ID, d.SHA256, corpus.StateParsing, progress, nil))
		if got := mustGet(t, ds, alice, d.ID); got.State != corpus.StateParsing || got.Progress != progress {
			t.Errorf("got state %s, progress %v, want parsing", got.State, got.Progress)
		}
		broken := corpus.Failure{Code: "encrypted", Detail: locale.Say("It has {1} pages.", 2)}
		mustDo(t, "SetState", ds.SetState(t.Context(), d.ID, d.SHA256, corpus.StateFailed, progress, &broken))
		if got := mustGet(t, ds, alice, d.ID); got.State != corpus.StateFailed || got.Error == nil ||
			*got.Error != broken {
			t.Errorf("got state %s, error %v, want failed", got.State, got.Error)
		}
	})
	// A document that is retried must not show its old failure.
	t.Run("only failed state has a failure", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := mustPut(t, ds, file("a.md", "x"))
		err := ds.SetState(
			t.Context(), d.ID, d.SHA256, corpus.StateParsing, corpus.Progress{}, &corpus.Failure{Code: "broken"},
		)
		wantCode(t, "SetState(parsing, failure)", err, chat.CodeInvalid)
	})
	// Conflicts tell a worker that its work is outdated.
	t.Run("replaced or cancelled version is final", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		old := mustPut(t, ds, file("a.md", "old"))
		now := mustPut(t, ds, file("a.md", "new"))
		// Each of a worker's three calls returns the conflict, since any of them may be the first.
		wantCode(t, "SetState of the old version", ds.SetState(
			t.Context(), old.ID, old.SHA256, corpus.StateParsing, corpus.Progress{}, nil,
		), chat.CodeConflict)
		wantCode(t, "SetSemantic of the old version", ds.SetSemantic(
			t.Context(), old.ID, old.SHA256, corpus.SemanticReady,
		), chat.CodeConflict)
		wantCode(t, "PutContent of the old version", ds.PutContent(
			t.Context(), old.ID, contentOf(old, "words"),
		), chat.CodeConflict)
		mustDo(t, "Cancel", ds.Cancel(t.Context(), alice, now.ID))
		wantCode(t, "SetState when cancelled", ds.SetState(
			t.Context(), now.ID, now.SHA256, corpus.StateParsing, corpus.Progress{}, nil,
		), chat.CodeConflict)
		wantCode(t, "PutContent when cancelled", ds.PutContent(
			t.Context(), now.ID, contentOf(now, "words"),
		), chat.CodeConflict)
		if got := mustGet(t, ds, alice, now.ID); got.State != corpus.StateCancelled || mustText(t, ds, now.ID) != "" {
			t.Errorf("state %s", got.State)
		}
	})
	// Two workers may run the same job for a while, if one was presumed dead.
	t.Run("late worker cannot reset a ready version", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "words")
		for _, state := range []corpus.State{corpus.StateParsing, corpus.StateFailed} {
			var failure *corpus.Failure
			if state == corpus.StateFailed {
				failure = &corpus.Failure{Code: "internal", Detail: "Something went wrong."}
			}
			wantCode(t, "SetState of a ready document", ds.SetState(
				t.Context(), d.ID, d.SHA256, state, corpus.Progress{Stage: "parsing"}, failure,
			), chat.CodeConflict)
		}
		if got := mustGet(t, ds, alice, d.ID); got.State != corpus.StateReady {
			t.Errorf("state = %s, want %s", got.State, corpus.StateReady)
		}
	})
	// A ready document has no work to cancel; Delete removes its content.
	t.Run("only active versions can be cancelled", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "words")
		wantCode(t, "Cancel of a ready document", ds.Cancel(t.Context(), alice, d.ID), chat.CodeConflict)
	})
	// The old version is complete and ready, since it was served all the time.
	t.Run("cancellation restores the old version", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		old := ingest(t, ds, file("a.md", ""), "old words")
		mustPut(t, ds, file("a.md", "new"))
		mustDo(t, "Cancel", ds.Cancel(t.Context(), alice, old.ID))
		got := mustGet(t, ds, alice, old.ID)
		if got.State != corpus.StateReady || got.SHA256 != old.SHA256 || mustText(t, ds, old.ID) != "old words" {
			t.Errorf("state %s, hash %s; want ready with the old hash %s", got.State, got.SHA256, old.SHA256)
		}
		// The cancelled version is no duplicate: its bytes were never ingested.
		if again := mustPut(t, ds, file("a.md", "new")); again.State != corpus.StateQueued {
			t.Errorf("state of the repeated version = %s, want queued", again.State)
		}
	})
	// Reread is for a newer extractor; the content's vectors are created again.
	t.Run("ready document can be reingested while serving", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "old words")
		mustDo(t, "SetSemantic", ds.SetSemantic(t.Context(), d.ID, d.SHA256, corpus.SemanticReady))
		mustDo(t, "Reread", ds.Reread(t.Context(), alice, d.ID))
		got := mustGet(t, ds, alice, d.ID)
		if got.State != corpus.StateQueued || got.Semantic != corpus.SemanticOff ||
			mustText(t, ds, d.ID) != "old words" {
			t.Errorf("state %s, semantic %s; want it queued with its content", got.State, got.Semantic)
		}
		// A second job would repeat the work: the first one already uses the newer extractor.
		wantCode(t, "Reread of one that is under way", ds.Reread(t.Context(), alice, d.ID), chat.CodeConflict)
		mustDo(t, "PutContent", ds.PutContent(t.Context(), d.ID, contentOf(d, "new words")))
		text := mustText(t, ds, d.ID)
		if got := mustGet(t, ds, alice, d.ID); got.State != corpus.StateReady || text != "new words" {
			t.Errorf("state %s, text %q; want it ready with the new words", got.State, text)
		}
	})
	// A document can be found by words long before all its vectors exist.
	t.Run("semantic state is independent", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "words")
		mustDo(t, "SetSemantic", ds.SetSemantic(t.Context(), d.ID, d.SHA256, corpus.SemanticPending))
		if got := mustGet(t, ds, alice, d.ID); got.State != corpus.StateReady ||
			got.Semantic != corpus.SemanticPending {
			t.Errorf("got state %s, semantic %s, want ready and pending", got.State, got.Semantic)
		}
	})
}
