package corpus_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/sql/sqlite"
)

// shelfOf contains documents with known top hits.
var shelfOf = map[string]string{
	"survey.md": "# Roof survey\n\n## Slates\n\nThe slates on the north slope are sound. Three slates slipped " +
		"above the bay window.\n\n## Gutters\n\nThe gutters leak and need replacing. Fault E1234 was logged by " +
		"foo_bar v2.1.",
	"lease.md": "# Lease agreement\n\n## Rent\n\nThe monthly rent is $1,250, payable in advance. The fire door " +
		"must be kept shut. The tenant pays for repairs.",
	"policy.md": "# Insurance policy\n\n## Exclusions\n\nDamage by floods is excluded. Shut the door in a fire. " +
		"Earthquakes are covered up to 2,000,000.",
	"dach.md": "# Gutachten zum Dach\n\n## Zustand\n\nDie Dächer der Häuser sind in gutem Zustand. Die Straße " +
		"ist nass, und die Wärmedämmung fehlt in der Küche des Nachbarn.",
	"ecole.md": "# L'école primaire\n\n## Élèves\n\nLes élèves de l'école ont réparé la fenêtre brisée. Le " +
		"château est fermé, mais la bibliothèque reste ouverte aux familles.",
	"china.md": "# 中国\n\n## 地理\n\n中国的首都是北京。长江是中国最长的河流，流经许多城市。",
	"japan.md": "# 日本\n\n## 地理\n\n日本の首都は東京です。富士山は日本で一番高い山です。",
	"thai.md": "# ประเทศไทย\n\n## ภูมิศาสตร์\n\nกรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย " +
		"อาหารไทยมีชื่อเสียงไปทั่วโลก",
	"korea.md": "# 한국\n\n## 지리\n\n한국의 수도는 서울이다. 한강은 서울을 가로질러 흐른다.",
	"crisis.md": "# Крыша дома\n\n## Осмотр\n\nКрыша дома была осмотрена весной. Трубы находятся в хорошем " +
		"состоянии, окна нужно заменить.",
	"elephant.md": "# Animals\n\n## Elephants\n\nElephants are the largest animals on land. They remember waterholes " +
		"over decades.",
}

func fill(t testing.TB, sh *testLibrary) {
	t.Helper()
	for _, name := range sortedKeys(shelfOf) {
		sh.add(t, name, shelfOf[name])
	}
	sh.wait(t)
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func TestSearchRanksRightDocumentFirst(t *testing.T) {
	plain, semantic := openTestLibrary(t, t.TempDir(), nil), openSemantic(t)
	plain.start(t)
	fill(t, plain)
	fill(t, semantic)
	for _, tt := range []struct{ name, query, want string }{
		{"a question", "What is the condition of the slates?", "survey.md"},
		{"other endings", "leaking gutter", "survey.md"},
		{"an error code", "E1234", "survey.md"},
		{"a name with an underscore", "foo_bar", "survey.md"},
		{"a version", "v2.1", "survey.md"},
		{"a number as it is written", "$1,250", "lease.md"},
		{"a number as it is not written", "2000000", "policy.md"},
		{"a title's word", "insurance", "policy.md"},
		{"a phrase", `"fire door"`, "lease.md"},
		{"German", "Wie ist der Zustand des Daches?", "dach.md"},
		{"German without umlauts", "Waermedaemmung", "dach.md"},
		{"German sharp s", "Strasse", "dach.md"},
		{"French", "Qui a réparé les fenêtres de l'école ?", "ecole.md"},
		{"French without accents", "bibliotheque chateau", "ecole.md"},
		{"Chinese, two signs", "北京", "china.md"},
		{"a Chinese question", "中国最长的河流是什么？", "china.md"},
		{"Japanese", "日本の首都はどこですか", "japan.md"},
		{"Japanese, two signs", "東京", "japan.md"},
		{"Thai", "เมืองหลวงของประเทศไทย", "thai.md"},
		{"Korean", "한국의 수도", "korea.md"},
		{"Russian", "состояние трубы", "crisis.md"},
		{"a typing error", "elefants", "elephant.md"},
		{"two letters swapped", "exlcusions", "policy.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for mode, sh := range map[string]*testLibrary{"lexical": plain, "hybrid": semantic} {
				found := sh.search(t, corpus.Query{Text: tt.query})
				if got := titles(found); len(got) == 0 || got[0] != tt.want {
					t.Errorf("%s search for %q found %q (%v), want %q first", mode, tt.query, got, found.Notes, tt.want)
					continue
				}
				if s := found.Results[0].Score; s <= 0 || s > 1 {
					t.Errorf("%s score of %q is %f; want more than 0 and at most 1", mode, tt.query, s)
				}
			}
		})
	}
}

func TestSearchDetails(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	sh.start(t)
	fill(t, sh)

	t.Run("phrase is exact", func(t *testing.T) {
		if got := titles(sh.search(t, corpus.Query{Text: `"fire door"`})); !slices.Equal(got, []string{"lease.md"}) {
			t.Errorf("found %q, want only lease.md", got)
		}
		found := sh.search(t, corpus.Query{Text: `"fire doors"`})
		const note = "Nothing found has “fire doors” word for word: these results have some of the words."
		if got := titles(found); !slices.Contains(got, "lease.md") || !slices.Equal(found.Notes, []string{note}) {
			t.Errorf("another form of the phrase found %q, notes %q; want lease.md with %q", got, found.Notes, note)
		}
		if found := sh.search(t, corpus.Query{
			Text: `"quantum chromodynamics"`,
		}); len(found.Results)+len(found.Notes) > 0 {
			t.Errorf("a phrase of unknown words found %q, notes %q; want nothing", titles(found), found.Notes)
		}
		if got := titles(sh.search(t, corpus.Query{Text: `"首都是北京"`})); !slices.Equal(got, []string{"china.md"}) {
			t.Errorf("found %q, want only china.md", got)
		}
	})
	t.Run("typo is reported", func(t *testing.T) {
		found := sh.search(t, corpus.Query{Text: "elefant memory"})
		if found.Corrected["elefant"] != "Elephants" || len(found.Notes) == 0 ||
			!strings.Contains(found.Notes[0], "elefant") {
			t.Errorf("corrected %v, notes %q; want %q, some notes, %q in it",
				found.Corrected, found.Notes, "Elephants", "elefant")
		}
		if found := sh.search(t, corpus.Query{Text: "slates window"}); len(found.Corrected) != 0 ||
			len(found.Notes) != 0 {
			t.Errorf("known words: corrected %v, notes %q; want none and no notes", found.Corrected, found.Notes)
		}
	})
	t.Run("unknown words find nothing", func(t *testing.T) {
		if found := sh.search(t, corpus.Query{Text: "chromodynamics"}); len(found.Results) != 0 ||
			len(found.Corrected) != 0 {
			t.Errorf("found %q, corrected %v, want none", titles(found), found.Corrected)
		}
	})
	t.Run("disabled semantic search is reported", func(t *testing.T) {
		if found := sh.search(t, corpus.Query{Text: "slates", Mode: corpus.ModeSemantic}); len(found.Notes) != 1 ||
			len(found.Results) == 0 {
			t.Errorf("notes %q, %d results; want 1 note and some results", found.Notes, len(found.Results))
		}
		if found := sh.search(t, corpus.Query{Text: "slates"}); len(found.Notes) != 0 {
			t.Errorf("notes %q, want none", found.Notes)
		}
		if found := sh.search(t, corpus.Query{Text: "slates", MinScore: 0.9}); len(found.Notes) != 1 ||
			len(found.Results) == 0 {
			t.Errorf("with a minimum score: notes %q, %d results; want 1 note and some results",
				found.Notes, len(found.Results))
		}
	})
	t.Run("filter and document list both apply", func(t *testing.T) {
		lease, err := sh.Find(t.Context(), chat.Local, "lease.md")
		if err != nil {
			t.Fatal(err)
		}
		if got := titles(
			sh.search(t, corpus.Query{Text: "slates rent", Documents: []string{lease.ID}}),
		); !slices.Equal(got, []string{"lease.md"}) {
			t.Errorf("search in one document = %q", got)
		}
		found := sh.search(t, corpus.Query{
			Text: "slates rent", Documents: []string{lease.ID}, Filter: &corpus.Filter{Text: "survey"},
		})
		if len(found.Results) != 0 || len(found.Notes) != 1 {
			t.Errorf("found %q with notes %q, want 1 note", titles(found), found.Notes)
		}
		if got := titles(
			sh.search(t, corpus.Query{Text: "slates rent", Filter: &corpus.Filter{Text: "survey"}}),
		); !slices.Equal(got, []string{"survey.md"}) {
			t.Errorf("search with a filter = %q", got)
		}
	})
	t.Run("snippet marks words", func(t *testing.T) {
		s := sh.search(t, corpus.Query{Text: "slipped slates"}).Results[0].Snippet
		r := []rune(s.Text)
		var got []string
		for _, m := range s.Matches {
			got = append(got, string(r[m[0]:m[1]]))
		}
		if want := []string{"Slates", "slates", "slates", "slipped"}; !slices.Equal(got, want) {
			t.Errorf("%q marks %q, want %q", s.Text, got, want)
		}
	})
	t.Run("invalid queries are rejected", func(t *testing.T) {
		for _, q := range []corpus.Query{
			{Text: " "}, {Text: "x", Limit: corpus.MostResults + 1},
			{Text: "x", Mode: "fuzzy"}, {Text: "x", MinScore: 2},
		} {
			if _, err := sh.Search(t.Context(), chat.Local, q); chat.CodeOf(err) != chat.CodeInvalid || err == nil {
				t.Errorf("Search(%+v) = %v, want %v", q, err, chat.CodeInvalid)
			}
		}
	})
	t.Run("search is deterministic", func(t *testing.T) {
		q := corpus.Query{Text: "the door and the roof of the house", Limit: 10}
		if a, b := titles(sh.search(t, q)), titles(sh.search(t, q)); !slices.Equal(a, b) {
			t.Errorf("%q, then %q, want %q", a, b, b)
		}
	})
	t.Run("other user's documents are hidden", func(t *testing.T) {
		found, err := sh.Search(t.Context(), chat.Scope{User: "eve"}, corpus.Query{Text: "slates"})
		if err != nil || len(found.Results) != 0 {
			t.Errorf("found %q, %v", titles(found), err)
		}
	})
}

func TestTyposKeepFirstLetter(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	sh.start(t)
	sh.add(t, "tenants.md", "# Tenants\n\nTenants have rights and duties. That is the law of the house.")
	sh.wait(t)
	for _, typed := range []string{"upright", "what"} {
		found := sh.search(t, corpus.Query{Text: typed + " piano"})
		if len(found.Notes)+len(found.Corrected)+len(found.Results) > 0 {
			t.Errorf("%q found %q with the notes %q, want nothing", typed, titles(found), found.Notes)
		}
	}
	if found := sh.search(t, corpus.Query{Text: "rihgts"}); found.Corrected["rihgts"] != "rights" {
		t.Errorf("corrected %v, want rights", found.Corrected)
	}
}

func TestUncertainCorrectionNeedsAnotherMatch(t *testing.T) {
	for mode, sh := range map[string]*testLibrary{
		"lexical": openTestLibrary(t, t.TempDir(), nil), "hybrid": openSemantic(t),
	} {
		if mode == "lexical" {
			sh.start(t)
		}
		sh.add(t, "bike.md", "# Bike\n\n## Lights\n\nThe plug would come loose after rain.\n\n## Washers\n\n"+
			"The washer breaks when the plant is wet.")
		sh.add(t, "cups.md", "# Cups\n\n## Kitchen\n\nThe cups stand in the kitchen, beside the oven.")
		sh.wait(t)
		for _, tt := range []struct {
			query string
			want  int // results
			meant map[string]string
		}{
			{"xyzzy plugh", 0, nil}, {"world cup", 1, nil}, {"weather", 0, nil}, {"bread", 0, nil}, {"planet", 0, nil},
			{"kitchen planet", 1, nil}, // nothing has both words
			{"washer planet", 1, map[string]string{"planet": "plant"}},
			{"loose plugh", 1, map[string]string{"plugh": "plug"}},
			{"kitchem", 1, map[string]string{"kitchem": "Kitchen"}},
		} {
			found := sh.search(t, corpus.Query{Text: tt.query})
			if mode == "lexical" && len(found.Results) != tt.want || len(found.Notes) != len(tt.meant) ||
				!maps.Equal(found.Corrected, tt.meant) {
				t.Errorf("%s search for %q found %d passages, corrected %v, notes %q; want %d, %v",
					mode, tt.query, len(found.Results), found.Corrected, found.Notes, tt.want, tt.meant)
			}
		}
	}
}

func TestHybridSearchHasARelevanceFloor(t *testing.T) {
	sh := openSemantic(t)
	fill(t, sh)
	for _, query := range []string{"xyzzy plugh", "quantum chromodynamics", "blargh"} {
		found := sh.search(t, corpus.Query{Text: query, Limit: 50})
		if len(found.Results) != 0 {
			t.Errorf("%q found %q (similarity of the first: %v), want nothing",
				query, titles(found), *found.Results[0].Similarity)
		}
	}
	everything := sh.search(t, corpus.Query{Text: "slates", Limit: 50, Mode: corpus.ModeSemantic}).Results
	found := sh.search(t, corpus.Query{Text: "slates", Limit: 50}).Results
	if len(found) == 0 || len(found) == len(everything) {
		t.Errorf("%d passages found for a word of one document, want some of %d", len(found), len(everything))
	}
	survey, err := sh.Find(t.Context(), chat.Local, "survey.md")
	if err != nil {
		t.Fatal(err)
	}
	reading, err := sh.Read(t.Context(), chat.Local, corpus.ReadRequest{Document: survey.ID, Focus: "xyzzy plugh"})
	if err != nil || reading.Focused {
		t.Errorf("reading about nothing in the document: focused %v, %v; want the document from its start",
			reading.Focused, err)
	}
}

func TestMinScoreHoldsWithVectors(t *testing.T) {
	sh := openSemantic(t)
	fill(t, sh)
	all := sh.search(t, corpus.Query{Text: "slates on the north slope", Mode: corpus.ModeSemantic, Limit: 50})
	for i, r := range all.Results[1:] {
		if r.Score > all.Results[i].Score {
			t.Fatalf("scores are not in order: %f after %f, want at most %f",
				r.Score, all.Results[i].Score, all.Results[i].Score)
		}
	}
	cut := all.Results[1].Score
	for _, mode := range []corpus.SearchMode{corpus.ModeSemantic, corpus.ModeHybrid} {
		found := sh.search(t, corpus.Query{Text: "slates on the north slope", Mode: mode, Limit: 50, MinScore: cut})
		if len(found.Results) != 2 {
			t.Errorf("%s with MinScore %f: %d results, want 2", mode, cut, len(found.Results))
		}
	}
}

// embeddingServer is an embedder that fails while it is down.
type embeddingServer struct {
	embedtest.Hashing
	down atomic.Bool
}

func (e *embeddingServer) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if e.down.Load() {
		return nil, errors.New("dial tcp 127.0.0.1:1: connection refused")
	}
	return e.Hashing.Embed(ctx, texts)
}

func (e *embeddingServer) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	vectors, err := e.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

func TestSearchWithoutEmbeddingServer(t *testing.T) {
	server := &embeddingServer{}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		c.Embedder, c.Vectors = server, db.Vectors("hashing")
	})
	sh.start(t)
	fill(t, sh)
	server.down.Store(true)
	_, err := sh.Search(t.Context(), chat.Local, corpus.Query{Text: "slates", Mode: corpus.ModeSemantic})
	const want = "Semantic search is unavailable."
	if said := chat.MessageOf(err).String(); chat.CodeOf(err) != chat.CodeUnavailable || !strings.Contains(said, want) {
		t.Errorf("semantic search = %v, %q; want %v and %q in it", err, said, chat.CodeUnavailable, want)
	}
	found := sh.search(t, corpus.Query{Text: "slates"})
	if len(found.Results) == 0 || !found.Partial || len(found.Notes) != 1 {
		t.Errorf("hybrid search: %d results, partial %v, notes %q; want some results and 1 note",
			len(found.Results), found.Partial, found.Notes)
	}
}

func TestRead(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	sh.start(t)
	var b strings.Builder
	b.WriteString("# Handbook\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "## Chapter %d\n\n%s\n\n", i+1, strings.Repeat("Ordinary filler about nothing. ", 30))
		if i == 24 {
			b.WriteString("The wombat sleeps in its burrow.\n\n")
		}
	}
	d := sh.add(t, "handbook.md", b.String())
	sh.settled(t, d.ID, corpus.StateReady)

	var whole strings.Builder
	first := read(t, sh, corpus.ReadRequest{Document: "handbook"})
	for page := range first.Parts {
		r := read(t, sh, corpus.ReadRequest{Document: d.ID, Part: page + 1})
		n := 0
		for _, p := range r.Passages {
			whole.WriteString(p.Text)
			n += len([]rune(p.Text))
		}
		if n > 12000 {
			t.Errorf("page %d has %d runes, want at most 12000", page+1, n)
		}
	}
	text, err := sh.Text(t.Context(), chat.Local, d.ID)
	if err != nil || strings.Join(strings.Fields(whole.String()), "") != strings.Join(strings.Fields(text), "") {
		t.Errorf("pages together differ from the text: %v", err)
	}
	if len(first.Outline) != 41 || first.Outline[1].Title != "Chapter 1" || first.Focused {
		t.Errorf("outline of %d: %+v, want 41", len(first.Outline), first.Outline[:2])
	}

	focused := read(t, sh, corpus.ReadRequest{
		Document: "Handbook.md", Focus: "Where does the wombat sleep?", MaxRunes: 3000,
	})
	joined := ""
	for i, p := range focused.Passages {
		joined += p.Text
		if i > 0 && p.Ordinal <= focused.Passages[i-1].Ordinal {
			t.Error("passages are not in document order")
		}
	}
	if !focused.Focused || !strings.Contains(joined, "wombat") {
		t.Errorf("focused %v on %q, want %q in it", focused.Focused, joined, "wombat")
	}
	if r := read(t, sh, corpus.ReadRequest{Document: d.ID, Focus: "xylophone"}); r.Focused ||
		r.Passages[0].Ordinal != 0 {
		t.Error("focus without matches: got other passages than from the start")
	}
	_, err = sh.Read(t.Context(), chat.Local, corpus.ReadRequest{Document: d.ID, Part: 99})
	if chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("page 99 = %v, want %v", err, chat.CodeNotFound)
	}
}

func read(t *testing.T, sh *testLibrary, r corpus.ReadRequest) corpus.Reading {
	t.Helper()
	got, err := sh.Read(t.Context(), chat.Local, r)
	if err != nil {
		t.Fatalf("Read(%+v): %v, want no error", r, err)
	}
	return got
}

func TestFind(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	sh.start(t)
	fill(t, sh)
	for _, tt := range []struct{ name, ask, want string }{
		{"a title", "Lease agreement", "lease.md"},
		{"a title in another case", "ROOF SURVEY", "survey.md"},
		{"a file name", "policy.md", "policy.md"},
		{"a file name without its extension", "policy", "policy.md"},
		{"a title in quotes", "“Insurance policy”", "policy.md"},
		{"almost a title", "the lease agrement", "lease.md"},
		{"accents left out", "l'ecole primaire", "ecole.md"},
		{"Chinese", "中国", "china.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := sh.Find(t.Context(), chat.Local, tt.ask)
			if err != nil || d.Filename != tt.want {
				t.Errorf("Find(%q) = %q, %v; want %q", tt.ask, d.Filename, err, tt.want)
			}
		})
	}
	_, err := sh.Find(t.Context(), chat.Local, "roof lease policy")
	if chat.CodeOf(err) != chat.CodeNotFound || !strings.Contains(chat.MessageOf(err).String(), "“Roof survey”") {
		t.Errorf("Find of nothing = %v, want a hint", err)
	}
}

func TestGrep(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	sh.start(t)
	fill(t, sh)
	grep := func(g corpus.GrepRequest) corpus.Grepped {
		t.Helper()
		out, err := sh.Grep(t.Context(), chat.Local, g)
		if err != nil {
			t.Fatalf("Grep(%+v): %v, want no error", g, err)
		}
		return out
	}
	found := grep(corpus.GrepRequest{Pattern: `e\d{4}`})
	if len(found.Matches) != 1 || found.Literal || found.More || found.Documents != len(shelfOf) {
		t.Fatalf("grep e\\d{4}: %+v; want 1 match, Literal false, More false, Documents %v", found, len(shelfOf))
	}
	m := found.Matches[0]
	text, err := sh.Text(t.Context(), chat.Local, m.Document.ID)
	if err != nil || string([]rune(text)[m.Start:m.End]) != "E1234" || m.Section != "Roof survey › Gutters" ||
		m.PassageID == "" || m.BlockID == "" ||
		!strings.Contains(m.Line, "Fault E1234 was logged") {
		t.Errorf("match %+v, %v; want Section %q, something, something, %q in it",
			m, err, "Roof survey › Gutters", "Fault E1234 was logged")
	}
	if found := grep(corpus.GrepRequest{Pattern: "the ( door"}); !found.Literal || len(found.Matches) != 0 {
		t.Errorf("a broken pattern: %+v; want Literal true and no matches", found)
	}
	if found := grep(corpus.GrepRequest{Pattern: "首都"}); len(found.Matches) != 2 {
		t.Errorf("首都: %d matches, want 2", len(found.Matches))
	}
	if found := grep(corpus.GrepRequest{Pattern: "a", Max: 3}); len(found.Matches) != 3 || !found.More {
		t.Errorf("at most 3: %d, more %v, want 3 matches", len(found.Matches), found.More)
	}
	if found := grep(corpus.GrepRequest{Pattern: "x*", Max: 100}); found.Literal {
		t.Errorf("a pattern that may be empty: %+v, want Literal false", found)
	}
	for _, bad := range []string{" ", strings.Repeat("a", 1001), "((a{1,100}){1,100}){1,9}"} {
		if _, err := sh.Grep(t.Context(), chat.Local, corpus.GrepRequest{Pattern: bad}); err != nil &&
			chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("Grep(%.20q) = %v", bad, err)
		}
	}
}

func TestRerankSearchesAgain(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	sh.start(t)
	sh.add(
		t, "Scattered.md",
		"# Overview\n\nCost, cost and cost again. The gutter is old. Gutter! Snow clearing is done by the town. "+
			"Clearing is done weekly.\n",
	)
	sh.add(t, "Together.md",
		"# Works\n\nThe house was visited on a dry day in spring and all its rooms were seen from the inside. The "+
			"neighbour told of a storm two years ago. "+
			"The cost of clearing the gutter is 180 pounds. The ladder was lent by the owner, who also opened "+
			"the loft, "+
			"the cellar, the shed and the summer house for us to look around.\n")
	sh.wait(t)
	for _, tt := range []struct {
		rerank bool
		want   string
	}{{false, "Scattered.md"}, {true, "Together.md"}} {
		for _, mode := range []corpus.SearchMode{corpus.ModeHybrid, corpus.ModeLexical, corpus.ModeSemantic} {
			found := sh.search(t, corpus.Query{
				Text: "cost of clearing the gutter", Limit: 1, Mode: mode, Rerank: tt.rerank,
			})
			if got := titles(found); len(got) != 1 || got[0] != tt.want {
				t.Errorf("%s, rerank %v: %q, want %s", mode, tt.rerank, got, tt.want)
			}
		}
	}
}

func TestSimilaritiesMatchSemanticSearch(t *testing.T) {
	sh := openSemantic(t)
	fill(t, sh)
	const query = "slates, rent and elephants"
	want := map[string]float64{}
	for _, r := range sh.search(t, corpus.Query{Text: query, Mode: corpus.ModeSemantic, Limit: 50}).Results {
		want[r.Passage.ID] = r.Score
	}
	for name, q := range map[string]corpus.Query{
		"by words":  {Text: query, Mode: corpus.ModeLexical, Cosines: true},
		"both ways": {Text: query, Cosines: true},
		"reranked":  {Text: query, Rerank: true},
	} {
		found := sh.search(t, q)
		if len(found.Results) < 3 {
			t.Errorf("%s: %q", name, titles(found))
		}
		for _, r := range found.Results {
			if r.Similarity == nil || *r.Similarity != want[r.Passage.ID] {
				t.Errorf("%s: similarity of %s differs from %v", name, r.Document.Filename, want[r.Passage.ID])
			}
		}
	}
	r := sh.search(t, corpus.Query{Text: query, Mode: corpus.ModeLexical}).Results[0]
	if r.Cosine != nil || r.Similarity != nil {
		t.Errorf("lexical search computed similarities: %v", r)
	}
	found := sh.search(t, corpus.Query{Text: query, Mode: corpus.ModeLexical, MinScore: 0.9})
	if len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "a search by words does not look at") {
		t.Errorf("notes %q; want 1 note and %q in it", found.Notes, "a search by words does not look at")
	}
}

// byWord is a fake reranker: a passage with the word has the score 0.9, others 0.1.
type byWord struct {
	word string
	err  error
	wait bool // blocks until the search times out
	asks *[]int
}

func (r byWord) Scores(ctx context.Context, _ string, passages []string) ([]float64, error) {
	*r.asks = append(*r.asks, len(passages))
	if r.wait {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var out []float64
	for _, p := range passages {
		score := 0.1
		if strings.Contains(p, r.word) {
			score = 0.9
		}
		out = append(out, score)
	}
	return out, r.err
}

func TestRerankerFailureKeepsResults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		r     byWord
		first string
		score float64
		noted bool
	}{
		{"it answers", byWord{word: "slate"}, "Second.md", 0.9, false},
		{"it fails", byWord{word: "slate", err: errors.New("boom")}, "First.md", 0, true},
		{"it is slow", byWord{word: "slate", wait: true}, "First.md", 0, true},
	} {
		var asks []int
		tt.r.asks = &asks
		sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) {
			c.Reranker, c.RerankTime = tt.r, 100*time.Millisecond
		})
		sh.start(t)
		sh.add(t, "First.md", "# Roof\n\nThe roof, the roof, the roof is old.\n")
		sh.add(t, "Second.md", "# House\n\nAll that is above the rooms is of slate, a roof of sorts, they say.\n")
		sh.wait(t)
		found := sh.search(t, corpus.Query{Text: "roof", Rerank: true})
		if got := titles(found); len(got) != 2 || got[0] != tt.first ||
			tt.score > 0 && found.Results[0].Score != tt.score ||
			(len(found.Notes) > 0) != tt.noted {
			t.Errorf("%s: %q with score %v, notes %q; want %s first with %v, a note: %v", tt.name, got,
				found.Results[0].Score, found.Notes, tt.first, tt.score, tt.noted)
		}
		if len(asks) != 1 || asks[0] != 2 {
			t.Errorf("%s: it was asked about %v passages, want 2 once", tt.name, asks)
		}
		if found = sh.search(t, corpus.Query{Text: "roof"}); len(asks) != 1 || titles(found)[0] != "First.md" {
			t.Errorf("%s: without Rerank got %d requests and %q first", tt.name, len(asks), titles(found)[0])
		}
	}
}
