package corpustest

import (
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// readAll calls every method that names a document, with what it returned. A method that is added to the port and hides
// nothing would be a hole: it has to be added here.
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

// testScope checks that whoever is not meant to see a document can't tell it from one that does not exist.
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
			// What changes a document says the same as what reads it, or a wrong answer would tell that the document
			// exists.
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
			// None of the calls has changed anything for its owner.
			mustGet(t, ds, alice, d.ID)
		})
	}
	// A conversation may be given some of a user's namespaces.
	t.Run("a scope of several namespaces sees all of them and no more", func(t *testing.T) {
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

// testHidden checks namespaces that begin with a point: pages that a run has read are kept in one. They can be cited,
// and don't appear among a person's own documents.
func testHidden(t *testing.T, open func(*testing.T) corpus.Documents) {
	// "In all namespaces" does not mean these.
	t.Run("a hidden namespace is found by id and by its name only", func(t *testing.T) {
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
			// A hidden namespace is named alone, or added to others with With; another run's namespace and another
			// user's find nothing.
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

// testDelete checks the two steps of a deletion: hidden at once, gone for good later.
func testDelete(t *testing.T, open func(*testing.T) corpus.Documents) {
	// Between the two steps the page offers to undo the deletion, so that nothing may be lost yet.
	t.Run("a deleted document is hidden from everything until it is restored", func(t *testing.T) {
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
		// A worker that was reading the document learns that its work is of no use; the document itself is still there,
		// so that this is a conflict.
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
	// The bytes of a blob may be deleted only when this says no. A wrong yes costs disk, a wrong no costs somebody's
	// file.
	t.Run("bytes are in use as long as a document has them, hidden or not", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		used := func(what, sha256 string, want bool) {
			t.Helper()
			if got, err := ds.BytesInUse(t.Context(), sha256); err != nil || got != want {
				t.Errorf("%s: BytesInUse = %v, %v; want %v", what, got, err, want)
			}
		}
		d := ingest(t, ds, file("a.md", ""), "words")
		// IndexedBytes names the bytes that the content which serves was read from: those of the old version until the
		// new content is there.
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
	// Restoring must not push the document out that took the path since.
	t.Run("a path is free again when its document is deleted", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "words")
		mustDo(t, "Delete", ds.Delete(t.Context(), alice, d.ID))
		if other := mustPut(t, ds, file("a.md", "other")); other.ID == d.ID {
			t.Error("other bytes took over the deleted document")
		}
		wantCode(t, "Restore onto a taken path", ds.Restore(t.Context(), alice, d.ID), chat.CodeConflict)
	})
	// What is outside the database, such as vectors and originals, is listed as removals, for the library to do.
	t.Run("purge removes for good what was hidden before", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		gone := ingest(t, ds, file("gone.md", ""), "words")
		kept := ingest(t, ds, file("kept.md", ""), "other words")
		ids := passageIDs(t, ds, gone.ID, 0, -1)
		mustDo(t, "Delete", ds.Delete(t.Context(), alice, gone.ID))
		// What was deleted after that time stays, since it may still be restored.
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
		// Nothing is left to be purged, and the removal that was listed is not due again for 20 seconds.
		mustDo(t, "a second Purge", ds.Purge(t.Context(), time.Now().Add(time.Hour)))
		wantRemovals(t, ds, time.Now())
		// The path and the bytes are free again.
		mustPut(t, ds, file("gone.md", "back"))
	})
}

// testVersion checks the number by which results are kept: a result is used again only while the number is the same.
func testVersion(t *testing.T, open func(*testing.T) corpus.Documents) {
	t.Run("the version changes with whatever a search could see, and only for that user", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		var d corpus.Document
		// Each number is compared with all before it: going back to an old one would bring an old result back.
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
				t.Errorf("after %s the version is %d, as after %s", step.what, v, before)
			}
			seen[v] = step.what
		}
		if v := mustVersion(t, ds, bob); v != theirs {
			t.Errorf("another user's version went from %d to %d", theirs, v)
		}
		before := mustVersion(t, ds, alice)
		mustGet(t, ds, alice, d.ID)
		if v := mustVersion(t, ds, alice); v != before {
			t.Errorf("reading changed the version from %d to %d", before, v)
		}
	})
}
