package corpustest

import (
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// readAll calls every method that names a document and returns the errors by method. New methods of the port must
// be added here, or their access checks are not tested.
func readAll(t *testing.T, ds corpus.Documents, s chat.Scope, id string) map[string]error {
	t.Helper()
	ctx, errs := t.Context(), make(map[string]error)
	_, errs["Get"] = ds.Get(ctx, s, id)
	_, errs["Text"] = ds.Text(ctx, s, id)
	_, errs["Blocks"] = ds.Blocks(ctx, s, id)
	_, errs["Words"] = ds.Words(ctx, s, id, 0, 10)
	_, errs["PageSizes"] = ds.PageSizes(ctx, s, id)
	_, errs["Passages"] = ds.Passages(ctx, s, id, 0, -1)
	return errs
}

// testScope checks that out-of-scope documents are indistinguishable from missing ones.
func testScope(t *testing.T, open func(*testing.T) corpus.Documents) {
	for _, tt := range []struct {
		name  string
		scope chat.Scope
	}{
		{"another user's document is not there", bob},
		{"a document of another namespace is not there", alice.In("other")},
		{"a hostile namespace finds nothing", alice.In(`default"] OR 1=1`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ds := open(t)
			d := ingest(t, ds, file("a.md", ""), "secret words")
			ids := passageIDs(t, ds, d.ID, 0, -1)
			errs := readAll(t, ds, tt.scope, d.ID)
			// Writes return the same error as reads, or the difference would reveal that the document exists.
			errs["Delete"] = ds.Delete(t.Context(), tt.scope, d.ID)
			errs["Restore"] = ds.Restore(t.Context(), tt.scope, d.ID)
			errs["Cancel"] = ds.Cancel(t.Context(), tt.scope, d.ID)
			errs["Reread"] = ds.Reread(t.Context(), tt.scope, d.ID)
			for what, err := range errs {
				wantCode(t, what, err, chat.CodeNotFound)
			}
			if found, err := ds.PassagesByID(t.Context(), tt.scope, ids); err != nil || len(found) > 0 {
				t.Errorf("PassagesByID = %v, %v", found, err)
			}
			if paths, _ := list(t, ds, tt.scope, corpus.Filter{IDs: []string{d.ID}}); len(paths) > 0 {
				t.Errorf("List = %q", paths)
			}
			// The calls have not changed the owner's document.
			mustGet(t, ds, alice, d.ID)
		})
	}
	// A conversation may be restricted to some of a user's namespaces.
	t.Run("scope of several namespaces", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		for _, namespace := range []string{"one", "two", "three"} {
			d := file(namespace+".md", "x")
			d.Namespace = namespace
			mustPut(t, ds, d)
		}
		got, _ := list(
			t, ds, chat.Scope{User: alice.User, Namespaces: []string{"three", "one"}}, corpus.Filter{Sort: "oldest"},
		)
		wantStrings(t, "List", got, []string{"one.md", "three.md"})
	})
}

// testHidden checks hidden namespaces, whose names begin with a dot: they hold the pages captured by a run. These
// can be cited, but are not listed among a user's documents.
func testHidden(t *testing.T, open func(*testing.T) corpus.Documents) {
	// A scope of all namespaces does not include hidden ones.
	t.Run("hidden namespace is found by id and name only", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		ingest(t, ds, file("shown.md", ""), "words")
		secret := file("captured.html", "")
		secret.Namespace = ".web.1"
		d := ingest(t, ds, secret, "words")
		for what, err := range readAll(t, ds, alice, d.ID) {
			mustDo(t, what, err)
		}
		if found, err := ds.PassagesByID(t.Context(), alice, passageIDs(t, ds, d.ID, 0, -1)); err != nil ||
			len(found) == 0 {
			t.Errorf("PassagesByID = %v, %v", found, err)
		}
		for _, tt := range []struct {
			scope chat.Scope
			want  []string
		}{
			// A hidden namespace is named alone, or added to others with With. Other runs' namespaces and other
			// users find nothing.
			{alice, []string{"shown.md"}}, {alice.In(chat.DefaultNamespace), []string{"shown.md"}},
			{alice.In(".web.1"), []string{"captured.html"}},
			{alice.In(".web.2"), nil}, {bob.In(".web.1"), nil},
			{alice.In(chat.DefaultNamespace).With(".web.1"), []string{"shown.md", "captured.html"}},
		} {
			got, _ := list(t, ds, tt.scope, corpus.Filter{Sort: "oldest"})
			wantStrings(t, "List", got, tt.want)
			if c, err := ds.Count(t.Context(), tt.scope); err != nil || c.Documents != len(tt.want) {
				t.Errorf("Count in %v = %+v, %v, want %d", tt.scope, c, err, len(tt.want))
			}
		}
	})
}

// testDelete checks the two steps of a deletion: hide immediately, purge later.
func testDelete(t *testing.T, open func(*testing.T) corpus.Documents) {
	// Until the purge the page offers to undo the deletion, so all data is kept.
	t.Run("deleted document is hidden until restored", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "words")
		ids := passageIDs(t, ds, d.ID, 0, -1)
		mustDo(t, "Delete", ds.Delete(t.Context(), alice, d.ID))
		errs := readAll(t, ds, alice, d.ID)
		errs["Delete"] = ds.Delete(t.Context(), alice, d.ID)
		errs["Cancel"] = ds.Cancel(t.Context(), alice, d.ID)
		errs["Reread"] = ds.Reread(t.Context(), alice, d.ID)
		errs["SetState"] = ds.SetState(t.Context(), d.ID, d.SHA256, corpus.StateReady, corpus.Progress{}, nil)
		for what, err := range errs {
			wantCode(t, what, err, chat.CodeNotFound)
		}
		// A worker that was ingesting the document gets a conflict, since the document still exists but needs no
		// content.
		wantCode(t, "PutContent", ds.PutContent(t.Context(), d.ID, contentOf(d, "words")), chat.CodeConflict)
		if found, err := ds.PassagesByID(t.Context(), alice, ids); err != nil || len(found) > 0 {
			t.Errorf("PassagesByID = %v, %v", found, err)
		}
		if paths, _ := list(t, ds, alice, corpus.Filter{}); len(paths) > 0 {
			t.Errorf("List = %q", paths)
		}
		mustDo(t, "Restore", ds.Restore(t.Context(), alice, d.ID))
		if text := mustText(t, ds, d.ID); text != "words" {
			t.Errorf("Text = %q", text)
		}
	})
	// A blob may be deleted only if BytesInUse is false. A wrong true wastes disk space, a wrong false loses a
	// user's file.
	t.Run("bytes are in use while any document has them", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		used := func(what, sha256 string, want bool) {
			t.Helper()
			if got, err := ds.BytesInUse(t.Context(), sha256); err != nil || got != want {
				t.Errorf("%s: BytesInUse = %v, %v; want %v", what, got, err, want)
			}
		}
		d := ingest(t, ds, file("a.md", ""), "words")
		// IndexedBytes returns the hash of the content being served: the old version's until the new content is
		// stored.
		indexed := func(what, want string) {
			t.Helper()
			if got, err := ds.IndexedBytes(t.Context(), d.ID); err != nil || got != want {
				t.Errorf("%s: IndexedBytes = %q, %v; want %q", what, got, err, want)
			}
		}
		indexed("a ready document", d.SHA256)
		used("unknown bytes", hashOf("unknown"), false)
		used("a ready document", d.SHA256, true)
		v := mustPut(t, ds, file("a.md", "new"))
		used("an old version that serves", d.SHA256, true)
		used("a new version on its way", v.SHA256, true)
		indexed("an old version that serves", d.SHA256)
		mustPutContent(t, ds, v.ID, contentOf(v, "new words"))
		used("an old version that is replaced", d.SHA256, false)
		indexed("a new version", v.SHA256)
		mustDo(t, "Delete", ds.Delete(t.Context(), alice, d.ID))
		used("a hidden document", v.SHA256, true)
		mustDo(t, "Purge", ds.Purge(t.Context(), time.Now().Add(time.Hour)))
		used("a purged document", v.SHA256, false)
	})
	// Restore must not replace the document that now has the path.
	t.Run("path of a deleted document is free", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "words")
		mustDo(t, "Delete", ds.Delete(t.Context(), alice, d.ID))
		if other := mustPut(t, ds, file("a.md", "other")); other.ID == d.ID {
			t.Error("new content reuses the deleted document, want a new one")
		}
		wantCode(t, "Restore onto a taken path", ds.Restore(t.Context(), alice, d.ID), chat.CodeConflict)
	})
	// Data outside the database, such as vectors and originals, is listed as removals for the library.
	t.Run("purge deletes hidden documents", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		gone := ingest(t, ds, file("gone.md", ""), "words")
		kept := ingest(t, ds, file("kept.md", ""), "other words")
		ids := passageIDs(t, ds, gone.ID, 0, -1)
		mustDo(t, "Delete", ds.Delete(t.Context(), alice, gone.ID))
		// Documents deleted after that time can still be restored.
		mustDo(t, "Purge(an hour ago)", ds.Purge(t.Context(), time.Now().Add(-time.Hour)))
		wantRemovals(t, ds, time.Now())
		mustDo(t, "Purge", ds.Purge(t.Context(), time.Now().Add(time.Hour)))
		wantRemovals(t, ds, time.Now(), corpus.Removal{DocumentID: gone.ID, SHA256: gone.SHA256})
		wantCode(t, "Restore", ds.Restore(t.Context(), alice, gone.ID), chat.CodeNotFound)
		if found, err := ds.PassagesByID(t.Context(), alice, ids); err != nil || len(found) > 0 {
			t.Errorf("PassagesByID = %v, %v", found, err)
		}
		if text := mustText(t, ds, kept.ID); text != "other words" {
			t.Errorf("the other document's text = %q", text)
		}
		// Nothing is left to purge, and the listed removal is not due again for 20 seconds.
		mustDo(t, "a second Purge", ds.Purge(t.Context(), time.Now().Add(time.Hour)))
		wantRemovals(t, ds, time.Now())
		// The path and the bytes are free again.
		mustPut(t, ds, file("gone.md", "back"))
	})
}

// testVersion checks Version, the cache key of search results: a cached result is valid while the number is the
// same.
func testVersion(t *testing.T, open func(*testing.T) corpus.Documents) {
	t.Run("version changes with searchable data of its user", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		var d corpus.Document
		// Compare with all earlier numbers: a reused number would revive an old cached result.
		seen := map[int64]string{mustVersion(t, ds, alice): "the start"}
		theirs := mustVersion(t, ds, bob)
		for _, step := range []struct {
			what string
			do   func() error
		}{
			{"ready", func() error { d = ingest(t, ds, file("a.md", ""), "words"); return nil }},
			{"semantic", func() error { return ds.SetSemantic(t.Context(), d.ID, d.SHA256, corpus.SemanticReady) }},
			{"deleted", func() error { return ds.Delete(t.Context(), alice, d.ID) }},
			{"restored", func() error { return ds.Restore(t.Context(), alice, d.ID) }},
			{"replaced", func() error { d = ingest(t, ds, file("a.md", ""), "new words"); return nil }},
		} {
			mustDo(t, step.what, step.do())
			v := mustVersion(t, ds, alice)
			if before, ok := seen[v]; ok {
				t.Errorf("after %s the version is %d, as after %s, want a new one", step.what, v, before)
			}
			seen[v] = step.what
		}
		if v := mustVersion(t, ds, bob); v != theirs {
			t.Errorf("version of another user changed from %d to %d", theirs, v)
		}
		before := mustVersion(t, ds, alice)
		mustGet(t, ds, alice, d.ID)
		if v := mustVersion(t, ds, alice); v != before {
			t.Errorf("reading changed the version from %d to %d", before, v)
		}
	})
}
