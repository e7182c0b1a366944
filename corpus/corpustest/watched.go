package corpustest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// testWatched tests the stored scan results of watched folders, which a watcher on the user's machine reports for
// the page.
func testWatched(t *testing.T, open func(*testing.T) corpus.Documents) {
	// 8000 ns are 8 µs: a store with a precision of milliseconds loses them.
	at := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	seen := func(folder string, at time.Time, left ...corpus.LeftOut) corpus.Watched {
		return corpus.Watched{
			Namespace: chat.DefaultNamespace, Folder: folder, Files: 3, LeftOut: left, More: 2, LookedAt: at,
		}
	}
	put := func(t *testing.T, ds corpus.Documents, user string, w corpus.Watched, forget time.Time) {
		t.Helper()
		if err := ds.SetWatched(t.Context(), user, w, forget); err != nil {
			t.Fatal(err)
		}
	}
	list := func(t *testing.T, ds corpus.Documents, s chat.Scope, since time.Time) []corpus.Watched {
		t.Helper()
		got, err := ds.Watched(t.Context(), s, since)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	// Times have a precision of microseconds, the finest of both databases.
	t.Run("folder round trip is user-specific", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		put(t, ds, alice.User, seen("/papers", at, corpus.LeftOut{Path: "old.mov", Reason: "was there"}), at)
		// User, namespace and path identify a folder, so a second report replaces the first. Names may have any
		// characters.
		now := seen("/papers", at.Add(time.Minute), corpus.LeftOut{Path: "film “a”.mov", Reason: "a film\nof mine"})
		put(t, ds, alice.User, now, at)
		if diff := cmp.Diff([]corpus.Watched{now}, list(t, ds, alice, at)); diff != "" {
			t.Errorf("Watched (-want +got):\n%s", diff)
		}
		if got := list(t, ds, bob, at); len(got) > 0 {
			t.Errorf("another user's folders: %+v, want none", got)
		}
	})
	// SetWatched deletes the user's folders that were not scanned since a time: they are no longer watched.
	t.Run("recent folders of the scope are listed in order", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		// The same folder in two namespaces is two; one in a hidden namespace is not listed.
		house, hidden := seen("/b", at), seen("/c", at)
		house.Namespace, hidden.Namespace = "house", ".hidden"
		old := seen("/z", at.Add(-time.Hour))
		for _, w := range []corpus.Watched{seen("/b", at), house, hidden, seen("/a", at), old} {
			put(t, ds, alice.User, w, at.Add(-2*time.Hour))
		}
		names := func(s chat.Scope, since time.Time) (names []string) {
			for _, w := range list(t, ds, s, since) {
				names = append(names, w.Folder+" "+w.Namespace)
			}
			return names
		}
		want := []string{"/a default", "/b default", "/b house"}
		if diff := cmp.Diff(want, names(alice, at)); diff != "" {
			t.Errorf("all (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"/b house"}, names(alice.In("house"), at)); diff != "" {
			t.Errorf("of one namespace (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(append(want, "/z default"), names(alice, at.Add(-time.Hour))); diff != "" {
			t.Errorf("since an hour before (-want +got):\n%s", diff)
		}
		// This call deletes folders last scanned before at, which is /z.
		put(t, ds, alice.User, seen("/d", at), at)
		if diff := cmp.Diff(append(want, "/d default"), names(alice, at.Add(-time.Hour))); diff != "" {
			t.Errorf("after the old one was forgotten (-want +got):\n%s", diff)
		}
	})
	// A watcher that reports ever new names must not fill the table.
	t.Run("latest folders are kept", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		put(t, ds, bob.User, seen("/bob", at.Add(-time.Hour)), at.Add(-2*time.Hour))
		for i := range corpus.MaxWatched + 2 {
			put(t, ds, alice.User, seen(fmt.Sprintf("/%03d", i), at.Add(time.Duration(i)*time.Second)), at)
		}
		got := list(t, ds, alice, at)
		if len(got) != corpus.MaxWatched || got[0].Folder != "/002" {
			t.Errorf("%d folders from %+v, want %d from /002", len(got), got[:min(1, len(got))], corpus.MaxWatched)
		}
		// The limit is per user.
		if got := list(t, ds, bob, at.Add(-time.Hour)); len(got) != 1 {
			t.Errorf("another user's folders: %+v, want one", got)
		}
	})
	t.Run("dropped folder is removed for its user and namespace", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		house := seen("/a", at)
		house.Namespace = "house"
		put(t, ds, alice.User, house, at)
		for _, folder := range []string{"/a", "/b"} {
			put(t, ds, alice.User, seen(folder, at), at)
			put(t, ds, bob.User, seen(folder, at), at)
		}
		for range 2 { // the second time there is nothing
			if err := ds.DropWatched(t.Context(), alice.User, chat.DefaultNamespace, "/a"); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]corpus.Watched{house, seen("/b", at)}, list(t, ds, alice, at)); diff != "" {
			t.Errorf("Watched (-want +got):\n%s", diff)
		}
		if got := list(t, ds, bob, at); len(got) != 2 {
			t.Errorf("another user's folders: %+v, want both", got)
		}
	})
}
