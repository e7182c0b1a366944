package corpustest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// testCompletions tests autocompletion of a word.
func testCompletions(t *testing.T, open func(*testing.T) LexicalStores) {
	completions := func(t *testing.T, st LexicalStores, s chat.Scope, prefix string, k int) []string {
		t.Helper()
		got, err := st.Lexical.Completions(t.Context(), s, prefix, k)
		if err != nil {
			t.Fatalf("Completions(%q): %v", prefix, err)
		}
		return got
	}
	// Ties are in alphabetical order. Impossible prefixes return nothing, and no error: they are unvalidated user
	// input.
	t.Run("completions are ordered by passage count", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		ingest(t, st.Documents, file("a.md", ""), "claus claim", "claus clamp", "class")
		ingest(t, st.Documents, file("b.md", ""), "claus clamp", "größe großartig", "契約 契印")
		wantStrings(t, "cla", completions(t, st, alice, "cla", 9), []string{"claus", "clamp", "claim", "class"})
		wantStrings(t, "at most k", completions(t, st, alice, "cla", 2), []string{"claus", "clamp"})
		wantStrings(t, "a whole term", completions(t, st, alice, "claus", 9), []string{"claus"})
		wantStrings(t, "capitals", completions(t, st, alice, "CLAI", 9), []string{"claim"})
		wantStrings(t, "gro", completions(t, st, alice, "gr", 9), []string{"großartig", "größe"})
		wantStrings(t, "one sign", completions(t, st, alice, "契", 9), []string{"契印", "契約"})
		for _, prefix := range []string{"", "zz", "cla ", "\x00", "\xff", "a b", strings.Repeat("c", 600),
			`" OR 1=1 --`} {
			wantStrings(t, prefix, completions(t, st, alice, prefix, 9), nil)
		}
		wantStrings(t, "none wanted", completions(t, st, alice, "cla", 0), nil)
	})
	// A completion must not reveal the contents of other users' documents.
	t.Run("terms of other users are unknown", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		theirs := file("theirs.md", "")
		theirs.User = bob.User
		ingest(t, st.Documents, theirs, "secret")
		wantStrings(t, "no documents", completions(t, st, alice, "sec", 9), nil)
		ingest(t, st.Documents, file("own.md", ""), "sector")
		wantStrings(t, "own documents", completions(t, st, alice, "sec", 9), []string{"sector"})
	})
	t.Run("completions are found behind a frequent term", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		// "the" occurs so often that its posting list takes rows of its own
		texts := slices.Repeat([]string{strings.Repeat("the ", 300)}, 4000)
		for i := range 400 {
			texts[i] += fmt.Sprintf(" thea%03d", i)
		}
		ingest(t, st.Documents, file("long.md", ""), append(texts, "theory", "then")...)
		got := completions(t, st, alice, "the", 1000)
		if len(got) != 403 || got[0] != "the" || !slices.Contains(got, "theory") || !slices.Contains(got, "thea399") {
			t.Errorf("found %d terms, the first %q; want the, the 400 of thea, then and theory", len(got), got[:1])
		}
		wantStrings(t, "theo", completions(t, st, alice, "theo", 9), []string{"theory"})
	})
	// Until then a word of a removed document may still be offered, because the index is written in segments.
	t.Run("purged passages are merged away, and new ones are visible", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		d := ingest(t, st.Documents, file("a.md", ""), "gutter")
		wantStrings(t, "before", completions(t, st, alice, "gut", 9), []string{"gutter"})
		ingest(t, st.Documents, file("b.md", ""), "gutters")
		wantStrings(t, "after a change", completions(t, st, alice, "gut", 9), []string{"gutter", "gutters"})
		mustDo(t, "Delete", st.Documents.Delete(t.Context(), alice, d.ID))
		mustDo(t, "Purge", st.Documents.Purge(t.Context(), time.Now().Add(time.Hour)))
		if got := completions(t, st, alice, "gut", 9); !slices.Contains(got, "gutters") {
			t.Errorf("after a removal = %q, want gutters among them", got)
		}
	})
}
