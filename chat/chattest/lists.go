package chattest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
)

// testLists checks the order of sessions, paging by cursor, and the search in titles and questions.
func testLists(t *testing.T, open func(*testing.T) chat.Store) {
	parallel(t, open, "sessions are sorted by latest activity", func(t *testing.T, b suite) {
		old := b.ask("old", "q")
		b.ask("middle", "q")
		b.ask("new", "q")
		b.finish(old.ID)
		sessions, next := b.mustSessions(chat.SessionQuery{})
		if got, want := ids(sessions), []string{"old", "new", "middle"}; !slices.Equal(got, want) || next != "" {
			t.Fatalf("Sessions = %v, cursor %q; want %v and no cursor", got, next, want)
		}
		if diff := cmp.Diff(b.mustSession("old"), sessions[0]); diff != "" {
			t.Errorf("session in the list (-Session +got):\n%s", diff)
		}
	})
	parallel(t, open, "pages have each session once", func(t *testing.T, b suite) {
		const n = 23
		var want []string
		for i := range n {
			id := fmt.Sprintf("s%d", i)
			b.ask(id, "q")
			want = append([]string{id}, want...)
		}
		for _, limit := range []int{1, 7, 22, 23, 24} {
			var got []string
			for cursor := ""; ; {
				sessions, next := b.mustSessions(chat.SessionQuery{Limit: limit, Cursor: cursor})
				if len(sessions) > limit || len(got) > n {
					t.Fatalf("limit %d: got a page of %d after %d", limit, len(sessions), len(got))
				}
				got = append(got, ids(sessions)...)
				if cursor = next; cursor == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("limit %d: %v, want %v", limit, got, want)
			}
		}
	})
	parallel(t, open, "count excludes hidden sessions", func(t *testing.T, b suite) {
		count := func(s chat.Scope, want int) {
			t.Helper()
			if n, err := b.CountSessions(t.Context(), s); err != nil || n != want {
				t.Errorf("CountSessions = %d, %v; want %d", n, err, want)
			}
		}
		count(anna, 0)
		for _, id := range []string{"a", "a", "b", "c"} {
			b.ask(id, "q")
		}
		count(anna, 3)
		count(bert, 0)
		if err := b.DeleteSession(t.Context(), anna, "b"); err != nil {
			t.Fatal(err)
		}
		count(anna, 2)
		if err := b.RestoreSession(t.Context(), anna, "b"); err != nil {
			t.Fatal(err)
		}
		count(anna, 3)
	})
	parallel(t, open, "search is case-insensitive in titles and questions", func(t *testing.T, b suite) {
		b.ask("roof", "The ROOF of Haus Über")
		b.ask("wall", "The wall")
		b.ask("wall", "and its Gutter, 100% of it")
		for text, want := range map[string][]string{
			"roof": {"roof"}, "the": {"wall", "roof"}, "GUTTER": {"wall"}, "über": {"roof"}, "ÜBER": {"roof"},
			"100%": {"wall"}, "%": {"wall"}, "_": nil,
			"zzz": nil,
		} {
			sessions, _ := b.mustSessions(chat.SessionQuery{Text: text})
			if got := ids(sessions); !slices.Equal(got, want) {
				t.Errorf("search for %q = %v, want %v", text, got, want)
			}
		}
		if err := b.RenameSession(t.Context(), anna, "roof", "Ärger"); err != nil {
			t.Fatal(err)
		}
		if sessions, _ := b.mustSessions(chat.SessionQuery{Text: "ärg"}); !slices.Equal(
			ids(sessions), []string{"roof"},
		) {
			t.Errorf("search for the new title = %v", ids(sessions))
		}
	})
	parallel(t, open, "search is paged", func(t *testing.T, b suite) {
		for i := range 5 {
			b.ask(fmt.Sprintf("yes%d", i), "needle")
			b.ask(fmt.Sprintf("no%d", i), "hay")
		}
		first, cursor := b.mustSessions(chat.SessionQuery{Text: "needle", Limit: 3})
		second, end := b.mustSessions(chat.SessionQuery{Text: "needle", Limit: 3, Cursor: cursor})
		if got := ids(append(first, second...)); !slices.Equal(got, []string{"yes4", "yes3", "yes2", "yes1", "yes0"}) ||
			end != "" {
			t.Errorf("pages = %v, cursor %q", got, end)
		}
	})
	parallel(t, open, "foreign cursor is invalid", func(t *testing.T, b suite) {
		for _, cursor := range []string{"x", "-", "!", "1-", "a-b-c", "' OR 1"} {
			_, _, err := b.Sessions(t.Context(), anna, chat.SessionQuery{Cursor: cursor})
			wantCode(t, cursor, err, chat.CodeInvalid)
		}
	})
}
