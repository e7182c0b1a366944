package corpustest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// LexicalStores are a document store and the index that it writes.
type LexicalStores struct {
	Documents corpus.Documents
	Lexical   corpus.Lexical
}

// TestLexical tests the contract of corpus.Lexical. open returns empty stores, once per subtest.
func TestLexical(t *testing.T, open func(*testing.T) LexicalStores) {
	t.Run("ranking", func(t *testing.T) { t.Parallel(); testRanking(t, open) })
	t.Run("phrases", func(t *testing.T) { t.Parallel(); testPhrases(t, open) })
	t.Run("scope", func(t *testing.T) { t.Parallel(); testLexicalScope(t, open) })
	t.Run("fresh", func(t *testing.T) { t.Parallel(); testLexicalFresh(t, open) })
	t.Run("similar", func(t *testing.T) { t.Parallel(); testSimilar(t, open) })
	t.Run("completions", func(t *testing.T) { t.Parallel(); testCompletions(t, open) })
}

// terms returns a query for any of the words.
func terms(words ...string) corpus.LexicalQuery { return corpus.LexicalQuery{Words: Words(words...)} }

// Words returns one term for each word. A query word may have several terms; here it has one. Tests of the stores
// use it too.
func Words(terms ...string) (words [][]string) {
	for _, term := range terms {
		words = append(words, []string{term})
	}
	return words
}

// found returns the texts of the passages found, best first.
func (st LexicalStores) found(t *testing.T, s chat.Scope, q corpus.LexicalQuery, k int) (texts []string) {
	t.Helper()
	hits, err := st.Lexical.SearchLexical(t.Context(), s, q, k)
	if err != nil {
		t.Fatalf("SearchLexical(%+v): %v", q, err)
	}
	for _, hit := range hits {
		// A hit must be readable in its scope, and name its passage's document: the library loads passages by ID
		// and drops missing ones.
		passages, err := st.Documents.PassagesByID(t.Context(), s, []string{hit.PassageID})
		if err != nil || len(passages) != 1 || passages[0].DocumentID != hit.DocumentID {
			t.Fatalf("passages of hit %+v = %v, %v", hit, passages, err)
		}
		texts = append(texts, passages[0].Text)
	}
	return texts
}

// testRanking tests only the order: scores differ between stores and their versions.
func testRanking(t *testing.T, open func(*testing.T) LexicalStores) {
	// These are the two factors of BM25: term frequency and inverse document frequency.
	t.Run("more and rarer terms score higher", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		ingest(t, st.Documents, file(
			"a.md", "",
		), "roof gutter tiles slate", "roof house garden fence", "roof lawn path gate",
			"house garden hedge lawn", "nothing of the kind")
		wantStrings(t, "roof slate", st.found(t, alice, terms("roof", "slate"), 1), []string{"roof gutter tiles slate"})
		// All passages have four words. The first has all three terms. The second has only "lawn", which is in two
		// passages; "roof" is in three, so passages with only "roof" come last, in either order.
		got := st.found(t, alice, terms("roof", "lawn", "path"), 10)
		if len(got) != 4 || got[0] != "roof lawn path gate" || got[1] != "house garden hedge lawn" {
			t.Errorf("roof lawn path = %q", got)
		}
		wantStrings(t, "an unknown term", st.found(t, alice, terms("submarine"), 10), nil)
		wantStrings(
			t, "an unknown term beside a known one", st.found(t, alice, terms("submarine", "slate"), 10),
			[]string{"roof gutter tiles slate"},
		)
		wantStrings(t, "no terms", st.found(t, alice, terms(), 10), nil)
	})
	// The best hit may still be a poor match, which only Share shows. The bounds are wide, since they must hold for
	// every implementation.
	t.Run("share is the matched part of the words", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		ingest(t, st.Documents, file("a.md", ""), "roof gutter tiles slate", "roof house garden fence",
			"hedge lawn path gate")
		for _, tt := range []struct {
			name     string
			words    [][]string
			min, max float64 // of the best
		}{
			{"each word once", Words("roof", "slate"), 0.99, 1.01},
			{"the forms of a word are one word", [][]string{{"roof", "gutter"}, {"slate"}}, 1.2, 2},
			{"a form that nothing has", [][]string{{"roof", "roofs"}}, 0.99, 1.01},
			{"one of two words, the rarer one", Words("hedge", "roof"), 0.5, 0.99},
			{"a word that nothing has counts most", Words("roof", "submarine"), 0.01, 0.5},
		} {
			hits, err := st.Lexical.SearchLexical(t.Context(), alice, corpus.LexicalQuery{Words: tt.words}, 10)
			if err != nil || len(hits) == 0 || hits[0].Share < tt.min || hits[0].Share > tt.max {
				t.Errorf("%s: %+v, %v; want a best share from %v to %v", tt.name, hits, err, tt.min, tt.max)
			}
		}
	})
	// The better passage has the word only in its title, which detects a store that does not index titles.
	t.Run("title outweighs body", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		d := mustPut(t, st.Documents, file("a.md", "x"))
		c := contentOf(d, "one two three four slate", "one two three four five", "six seven eight nine ten")
		c.Terms[1].Title = "slate"
		mustPutContent(t, st.Documents, d.ID, c)
		got := st.found(t, alice, terms("slate"), 10)
		wantStrings(t, "slate", got, []string{"one two three four five", "one two three four slate"})
	})
	// Without a tie-break, pages of results would change between requests.
	t.Run("ties are ordered by passage id within k", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		for i := range 5 {
			ingest(t, st.Documents, file(
				fmt.Sprintf("%d.md", i), "",
			), "same words here", "same words here", "other text there")
		}
		all, err := st.Lexical.SearchLexical(t.Context(), alice, terms("same"), 100)
		if err != nil || len(all) != 10 || !slices.IsSortedFunc(all, func(a, b corpus.Hit) int {
			return map[bool]int{true: -1, false: 1}[a.PassageID < b.PassageID]
		}) {
			t.Fatalf("SearchLexical = %+v, %v", all, err)
		}
		// Fewer hits must be a prefix of more hits, also in stores with early termination.
		for k := range 10 {
			if some, err := st.Lexical.SearchLexical(t.Context(), alice, terms("same"), k); err != nil ||
				!slices.Equal(some, all[:k]) {
				t.Errorf("k = %d: %+v, %v; want the first of %+v", k, some, err, all)
			}
		}
	})
	// A store must not tokenise or fold terms: package text has done that, for documents and queries alike.
	t.Run("terms of any script match exactly", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		words := []string{
			"naïve", "東京", "हिन्दी", "ภาษา", "c++", "foo_bar", "e-mail", "3.14", "don't", "straße", "𝔘𝔫𝔦", "א״ב", "👍🏽",
		}
		for i, word := range words {
			ingest(t, st.Documents, file(fmt.Sprintf("%d.md", i), ""), word)
		}
		for _, word := range words {
			wantStrings(t, word, st.found(t, alice, terms(word), 10), []string{word})
			wantStrings(t, "phrase "+word, st.found(
				t, alice, corpus.LexicalQuery{Phrases: [][]string{{word}}}, 10,
			), []string{word})
		}
		// Parts and other spellings of terms, which a database's own tokenizer would match.
		for _, word := range []string{"naive", "京", "हिन", "foo", "mail", "3", "strasse"} {
			wantStrings(t, word, st.found(t, alice, terms(word), 10), nil)
		}
	})
	// Syntax of the query languages of SQLite's FTS5 and PostgreSQL, and invalid text.
	t.Run("hostile terms are harmless", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		ingest(t, st.Documents, file("a.md", ""), "roof tiles")
		// Some contain "roof" with an operator: none may match, as no passage has the whole string as a term.
		for _, term := range []string{
			`" OR 1=1 NEAR(`, `roof"`, `"`, `*`, `roof*`, `b:roof`, `^roof`, `roof OR tiles`, "AND", "NOT", "\x00",
			"roof\x00",
			"\xff\xfe", "", " ", `'; DROP TABLE passages; --`, `\`, "roof & tiles", "!roof", "roof:*", "<->",
		} {
			wantStrings(t, fmt.Sprintf("term %q", term), st.found(t, alice, terms(term), 10), nil)
			wantStrings(t, fmt.Sprintf("phrase %q", term), st.found(
				t, alice, corpus.LexicalQuery{Phrases: [][]string{{term}}}, 10,
			), nil)
		}
		// A hostile term must not affect a valid one.
		wantStrings(t, "roof", st.found(t, alice, terms("roof", `"`, ""), 10), []string{"roof tiles"})
	})
	// Such words may be skipped for speed, but not if the query has no others.
	t.Run("frequent word alone finds its passages", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		var texts []string
		// 3000 passages with the same word exceed any threshold for frequent words.
		for i := range 3000 {
			texts = append(texts, fmt.Sprintf("common passage%d", i))
		}
		texts[1234] += " slate"
		ingest(t, st.Documents, file("a.md", ""), texts...)
		if got := st.found(t, alice, terms("common"), 5); len(got) != 5 {
			t.Errorf("common = %q", got)
		}
		if got := st.found(t, alice, terms("common", "slate"), 5); len(got) == 0 ||
			got[0] != "common passage1234 slate" {
			t.Errorf("common slate = %q", got)
		}
	})
}

// testPhrases tests quoted words: passages must have all phrases, in any order.
func testPhrases(t *testing.T, open func(*testing.T) LexicalStores) {
	// Sort the results before comparing, since a store may score a phrase's words or not.
	t.Run("phrase matches exactly", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		ingest(t, st.Documents, file(
			"a.md", "",
		), "the red roof leaks", "the roof is red", "red and roof", "a red roof and a blue door", "blue door")
		for _, tt := range []struct {
			name string
			q    corpus.LexicalQuery
			want []string
		}{
			{"one phrase", corpus.LexicalQuery{Phrases: [][]string{{"red", "roof"}}}, []string{
				"a red roof and a blue door", "the red roof leaks",
			}},
			{"two phrases, both", corpus.LexicalQuery{Phrases: [][]string{{"red", "roof"}, {"blue", "door"}}}, []string{
				"a red roof and a blue door",
			}},
			{"terms beside a phrase only rank", corpus.LexicalQuery{
				Words: Words("leaks", "blue"), Phrases: [][]string{{"red", "roof"}},
			},
				[]string{"a red roof and a blue door", "the red roof leaks"}},
			{"a phrase that is nowhere", corpus.LexicalQuery{
				Words: Words("roof"), Phrases: [][]string{{"roof", "red"}},
			}, nil},
		} {
			got := st.found(t, alice, tt.q, 10)
			slices.Sort(got)
			wantStrings(t, tt.name, got, tt.want)
		}
	})
}

// testLexicalScope tests that a search returns exactly the matches within its scope.
func testLexicalScope(t *testing.T, open func(*testing.T) LexicalStores) {
	t.Run("search is limited to passages in scope", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		mine, other, theirs, captured := file("mine.md", ""), file("other.md", ""), file(
			"theirs.md", "",
		), file("captured.html", "")
		other.Namespace, theirs.User, captured.Namespace = "other", bob.User, ".web.1"
		ingest(t, st.Documents, mine, "roof of mine")
		second := ingest(t, st.Documents, other, "roof of other", "more roof of other")
		third := ingest(t, st.Documents, theirs, "roof of theirs")
		ingest(t, st.Documents, captured, "roof of the web")
		for _, tt := range []struct {
			name  string
			scope chat.Scope
			docs  []string
			want  []string
		}{
			{"all of a user's namespaces", alice, nil, []string{"more roof of other", "roof of mine", "roof of other"}},
			{"one namespace", alice.In("other"), nil, []string{"more roof of other", "roof of other"}},
			{"a hidden namespace that is named", alice.In(".web.1"), nil, []string{"roof of the web"}},
			{"another user", bob, nil, []string{"roof of theirs"}},
			{"an unknown namespace", alice.In("nowhere"), nil, nil},
			{"one document", alice, []string{second.ID}, []string{"more roof of other", "roof of other"}},
			{"another user's document", alice, []string{third.ID}, nil},
			{"a document outside the namespace", alice.In(chat.DefaultNamespace), []string{second.ID}, nil},
		} {
			got := st.found(t, tt.scope, corpus.LexicalQuery{Words: Words("roof"), Documents: tt.docs}, 10)
			slices.Sort(got)
			wantStrings(t, tt.name, got, tt.want)
		}
	})
	// This detects a store that filters only after it has selected the k best.
	t.Run("passages out of scope do not displace others", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		theirs := file("theirs.md", "")
		theirs.User = bob.User
		// 500 passages, many times k, and each of them shorter and with the word three times.
		ingest(t, st.Documents, theirs, slices.Repeat([]string{"roof roof roof"}, 500)...)
		ingest(t, st.Documents, file(
			"mine.md", "",
		), "a long passage that holds the word roof once and much else beside it")
		if got := st.found(t, alice, terms("roof"), 3); len(got) != 1 {
			t.Errorf("roof = %q", got)
		}
	})
}

// testLexicalFresh tests that indexes reflect each change immediately: users ask about a file right after adding
// it.
func testLexicalFresh(t *testing.T, open func(*testing.T) LexicalStores) {
	t.Run("search sees each change immediately", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		roof := func(want ...string) {
			t.Helper()
			wantStrings(t, "roof", st.found(t, alice, terms("roof"), 10), want)
		}
		roof()
		d := ingest(t, st.Documents, file("a.md", ""), "old roof")
		roof("old roof")
		mustDo(t, "Delete", st.Documents.Delete(t.Context(), alice, d.ID))
		roof()
		mustDo(t, "Restore", st.Documents.Restore(t.Context(), alice, d.ID))
		roof("old roof")
		// The new version has no content yet, so the old one is found.
		v := mustPut(t, st.Documents, file("a.md", "new version"))
		roof("old roof")
		mustPutContent(t, st.Documents, v.ID, contentOf(v, "brand new roof"))
		roof("brand new roof")
		mustDo(t, "Delete", st.Documents.Delete(t.Context(), alice, d.ID))
		mustDo(t, "Purge", st.Documents.Purge(t.Context(), time.Now().Add(time.Hour)))
		roof()
		ingest(t, st.Documents, file("b.md", ""), "another roof")
		roof("another roof")
	})
}

// testSimilar tests typo corrections: indexed terms that are similar to the query term.
func testSimilar(t *testing.T, open func(*testing.T) LexicalStores) {
	similar := func(t *testing.T, st LexicalStores, s chat.Scope, term string, k int) []string {
		t.Helper()
		got, err := st.Lexical.Similar(t.Context(), s, term, k)
		if err != nil {
			t.Fatalf("Similar(%q): %v", term, err)
		}
		return got
	}
	// Each is one edit or spelling variant away from the correct term. "assurance" and "conditional" are less
	// similar.
	t.Run("typo finds similar terms in order", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		ingest(t, st.Documents, file(
			"a.md", "",
		), "insurance policy assurance endure", "condition conditional", "größe straße")
		for typed, meant := range map[string]string{
			"insurence": "insurance", "conditon": "condition", "polcy": "policy", "grösse": "größe",
		} {
			if got := similar(t, st, alice, typed, 2); len(got) == 0 || got[0] != meant {
				t.Errorf("Similar(%q) = %q, want %q first", typed, got, meant)
			}
		}
		if got := similar(t, st, alice, "conditiom", 1); len(got) != 1 {
			t.Errorf("k = 1 gave %q", got)
		}
		wantStrings(t, "nothing alike", similar(t, st, alice, "xyzzyx", 5), nil)
		wantStrings(t, "hostile", similar(t, st, alice, `" OR 1=1 --`, 5), nil)
	})
	// A suggestion is a word from a document, which the user must be allowed to read.
	t.Run("words out of scope are unknown", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		theirs, other := file("theirs.md", ""), file("other.md", "")
		theirs.User, other.Namespace = bob.User, "other"
		ingest(t, st.Documents, theirs, "insurance")
		ingest(t, st.Documents, other, "insurances")
		hidden := ingest(t, st.Documents, file("hidden.md", ""), "insurancex")
		mustDo(t, "Delete", st.Documents.Delete(t.Context(), alice, hidden.ID))
		wantStrings(t, "default namespace", similar(t, st, alice.In(chat.DefaultNamespace), "insurence", 5), nil)
		wantStrings(t, "all namespaces", similar(t, st, alice, "insurence", 5), []string{"insurances"})
		// A cached word list from the first call would miss the new word.
		ingest(t, st.Documents, file("late.md", ""), "instrument")
		wantStrings(t, "after a change", similar(t, st, alice, "insurence", 5), []string{"insurances", "instrument"})
	})
}
