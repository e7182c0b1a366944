package corpustest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// list returns the paths of one page of documents, and the cursor of the next page.
func list(t *testing.T, ds corpus.Documents, s chat.Scope, f corpus.Filter) (paths []string, next string) {
	t.Helper()
	page, next, err := ds.List(t.Context(), s, f)
	if err != nil {
		t.Fatalf("List(%+v): %v", f, err)
	}
	for _, d := range page {
		paths = append(paths, d.Path)
	}
	return paths, next
}

// testList tests the document list: sorting, pagination, filters and counts.
func testList(t *testing.T, open func(*testing.T) corpus.Documents) {
	// Titles that differ only in case are sorted by age, so that the order is stable across pages.
	t.Run("pages have no gaps or duplicates in any order", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		// Seven documents in pages of three: two full pages and a partial one. Titles are (3i mod 7)/2, so three
		// pairs are equal, one of them except for case.
		var oldest, newest, byTitle []string
		for i := range 7 {
			d := file(fmt.Sprintf("f%d.md", i), fmt.Sprint(i))
			d.Title = fmt.Sprintf("Title %d", (i*3)%7/2) // some are equal
			if i%2 == 0 {
				d.Title = fmt.Sprintf("title %d", (i*3)%7/2)
			}
			mustPut(t, ds, d)
			oldest, newest = append(oldest, d.Path), append([]string{d.Path}, newest...)
		}
		byTitle = []string{"f0.md", "f5.md", "f1.md", "f3.md", "f4.md", "f6.md", "f2.md"}
		for sort, want := range map[string][]string{"": newest, "newest": newest, "oldest": oldest, "title": byTitle} {
			var got []string
			// Each order is read to its end by cursors, as clients do.
			for cursor, more := "", true; more; more = cursor != "" {
				var page []string
				page, cursor = list(t, ds, alice, corpus.Filter{Sort: sort, Limit: 3, Cursor: cursor})
				got = append(got, page...)
			}
			wantStrings(t, "sorted by "+sort, got, want)
		}
	})
	// An empty last page would be displayed as such.
	t.Run("full last page has no cursor", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		mustPut(t, ds, file("a.md", "a"))
		if _, next := list(t, ds, alice, corpus.Filter{Limit: 1}); next != "" {
			t.Errorf("next = %q", next)
		}
	})
	// Cursors come from clients and are not trusted.
	t.Run("invalid order or cursor is rejected", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		_, _, err := ds.List(t.Context(), alice, corpus.Filter{Sort: "size"})
		wantCode(t, "Sort: size", err, chat.CodeInvalid)
		_, _, err = ds.List(t.Context(), alice, corpus.Filter{Cursor: "' OR 1=1"})
		wantCode(t, "Cursor", err, chat.CodeInvalid)
	})
	// Values are compared with their JSON types: the number 1843 is not the string "1843". A stored list matches
	// each of its elements, and itself as a whole.
	t.Run("filters select", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		pdf := file("dir/survey.pdf", "1")
		pdf.MIME, pdf.Meta = "application/pdf", map[string]any{
			"author": "Ada", "year": 1843, "final": true, "tags": []any{"x", "y"},
		}
		// Both have the same keys with values of other types, which detects a store that compares strings.
		survey := mustPut(t, ds, pdf)
		text := file("ÜBER.txt", "2")
		text.MIME, text.Meta = "text/plain", map[string]any{"author": "Bob", "final": false, "year": "1843"}
		mustPut(t, ds, text)
		ingest(t, ds, file("ready.md", ""), "words")
		now := time.Now()
		for _, tt := range []struct {
			name string
			f    corpus.Filter
			want []string
		}{
			// Newest first is the default order.
			{"nothing", corpus.Filter{}, []string{"ready.md", "ÜBER.txt", "dir/survey.pdf"}},
			{"text in the file name, without case", corpus.Filter{Text: "über"}, []string{"ÜBER.txt"}},
			{"text in the title", corpus.Filter{Text: "about READY"}, []string{"ready.md"}},
			// "%" is a wildcard of SQL's LIKE.
			{"text with wildcards is taken literally", corpus.Filter{Text: "%"}, nil},
			{"states", corpus.Filter{
				States: []corpus.State{corpus.StateReady, corpus.StateFailed},
			}, []string{"ready.md"}},
			{"ids", corpus.Filter{IDs: []string{survey.ID, "nowhere"}}, []string{"dir/survey.pdf"}},
			{"the beginning of the MIME type", corpus.Filter{MIME: "text/"}, []string{"ready.md", "ÜBER.txt"}},
			{"a meta string", corpus.Filter{Meta: map[string]any{"author": "Ada"}}, []string{"dir/survey.pdf"}},
			{"a meta number, which is no string", corpus.Filter{Meta: map[string]any{"year": 1843.0}}, []string{
				"dir/survey.pdf",
			}},
			{"a meta truth value", corpus.Filter{Meta: map[string]any{"final": false}}, []string{"ÜBER.txt"}},
			{"a meta list", corpus.Filter{Meta: map[string]any{"tags": []string{"x", "y"}}}, []string{
				"dir/survey.pdf",
			}},
			{"one of a meta list", corpus.Filter{Meta: map[string]any{"tags": "y"}}, []string{"dir/survey.pdf"}},
			{"none of a meta list", corpus.Filter{Meta: map[string]any{"tags": "z"}}, nil},
			// As a filter value, a list equals only the whole list.
			{"a part of a meta list, as a list", corpus.Filter{Meta: map[string]any{"tags": []string{"y"}}}, nil},
			{"any of a list, of a meta list", corpus.Filter{MetaAny: map[string][]any{"tags": {"z", "y"}}}, []string{
				"dir/survey.pdf",
			}},
			{"any of a list, of one meta value", corpus.Filter{
				MetaAny: map[string][]any{"author": {"Eve", "Bob"}},
			}, []string{"ÜBER.txt"}},
			{"any of a list and a meta value, both", corpus.Filter{
				MetaAny: map[string][]any{"author": {"Ada", "Bob"}}, Meta: map[string]any{"final": true},
			}, []string{"dir/survey.pdf"}},
			// An empty list of alternatives matches nothing, not everything.
			{"any of a list, which has none", corpus.Filter{MetaAny: map[string][]any{"author": {}}}, nil},
			{"none of a list", corpus.Filter{MetaAny: map[string][]any{"author": {"Eve", 7}}}, nil},
			{"a meta key", corpus.Filter{HasMeta: "tags"}, []string{"dir/survey.pdf"}},
			{"a meta key that none has", corpus.Filter{HasMeta: "colour"}, nil},
			{"two meta values, both", corpus.Filter{Meta: map[string]any{"author": "Ada", "final": false}}, nil},
			// It would end a quoted string of SQL in a store that concatenates keys into its statements.
			{"a hostile meta key", corpus.Filter{Meta: map[string]any{`a"') OR 1=1 --`: "x"}}, nil},
			{"added after", corpus.Filter{AddedAfter: now.Add(-time.Hour)}, []string{
				"ready.md", "ÜBER.txt", "dir/survey.pdf",
			}},
			{"added before", corpus.Filter{AddedBefore: now.Add(-time.Hour)}, nil},
		} {
			got, _ := list(t, ds, alice, tt.f)
			wantStrings(t, tt.name, got, tt.want)
		}
	})
	// These values are offered as filters. Numbers and nested values are not included.
	t.Run("metadata texts by key", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		for name, author := range map[string]any{
			"one.md": "John Doe", "again.md": "John Doe", "list.md": []any{"Zoë", "Ada", 7, nil, []any{"Eve"}},
			"number.md": 7, "none.md": nil, "object.md": map[string]any{"name": "Eve"},
		} {
			d := file(name, name)
			d.Meta = map[string]any{"author": author, "editor": "Eve"}
			mustPut(t, ds, d)
		}
		// Each string is returned once, in order; a list contributes its own strings, and a key inside an object is
		// not a metadata key.
		for key, want := range map[string][]string{
			"author": {"Ada", "John Doe", "Zoë"}, "editor": {"Eve"}, "name": nil,
		} {
			got, err := ds.MetaTexts(t.Context(), alice, key)
			if err != nil {
				t.Fatal(err)
			}
			wantStrings(t, key, got, want)
		}
		got, err := ds.MetaTexts(t.Context(), bob, "author")
		if err != nil || len(got) > 0 {
			t.Errorf("passages of another user: got %q, %v", got, err)
		}
	})
	// Dates are strings that begin with a year; less exact ones match every range that overlaps them.
	t.Run("document date filters", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		for name, meta := range map[string]map[string]any{
			"day.md": {"date": "1843-03-01"}, "number.md": {"year": 1843}, "text.md": {"published": "1843"},
			// No date that begins with a year, and a key that is not a date key.
			"words.md": {"date": "March 1843"}, "none.md": nil,
			"other.md": {"born": "1843-03-01"},
		} {
			d := file(name, name)
			d.Meta = meta
			mustPut(t, ds, d)
		}
		for _, tt := range []struct {
			name string
			f    corpus.Filter
			want []string
		}{
			{"a year, as a number, as a text and of a date", corpus.Filter{
				Sort: "title", DatedFrom: "1843", DatedTo: "1843",
			}, []string{"day.md", "number.md", "text.md"}},
			// A year without a month may be in March, so it matches.
			{"a month", corpus.Filter{Sort: "title", DatedFrom: "1843-03", DatedTo: "1843-03"}, []string{
				"day.md", "number.md", "text.md",
			}},
			{"another year", corpus.Filter{Sort: "title", DatedFrom: "1844", DatedTo: "1844"}, nil},
			// The day before is excluded; a year alone may be later.
			{"dated from", corpus.Filter{Sort: "title", DatedFrom: "1843-03-02"}, []string{"number.md", "text.md"}},
			{"dated to its day", corpus.Filter{Sort: "title", DatedTo: "1843-03-01"}, []string{
				"day.md", "number.md", "text.md",
			}},
			{"dated to the day before", corpus.Filter{Sort: "title", DatedFrom: "1842", DatedTo: "1842-12-31"}, nil},
		} {
			got, _ := list(t, ds, alice, tt.f)
			wantStrings(t, tt.name, got, tt.want)
		}
	})
	// Counts must not require reading the list. Hidden documents are not counted, missing vectors are.
	t.Run("counts", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		ingest(t, ds, file("a.md", ""), "p0", "p1")
		hidden := ingest(t, ds, file("b.md", ""), "p0")
		mustDo(t, "Delete", ds.Delete(t.Context(), alice, hidden.ID))
		failed := mustPut(t, ds, file("c.md", "c"))
		mustDo(t, "SetState", ds.SetState(
			t.Context(), failed.ID, failed.SHA256, corpus.StateFailed, corpus.Progress{},
			&corpus.Failure{Code: "broken"},
		))
		mustPut(t, ds, file("d.md", "d"))
		// Nine pages with one passage, whose vector is missing.
		paged := mustPut(t, ds, file("e.pdf", "e"))
		c := contentOf(paged, "p0")
		c.Extracted.Pages = 9
		mustPutContent(t, ds, paged.ID, c)
		mustDo(t, "SetSemantic", ds.SetSemantic(t.Context(), paged.ID, paged.SHA256, corpus.SemanticPending))
		// Two of its three passages have vectors, so one is missing: 1 + 1 passages are unembedded.
		long := ingest(t, ds, file("f.md", "f"), "p0", "p1", "p2")
		mustDo(t, "SetSemantic", ds.SetSemantic(t.Context(), long.ID, long.SHA256, corpus.SemanticPending))
		mustDo(t, "SetState", ds.SetState(t.Context(), long.ID, long.SHA256, corpus.StateReady,
			corpus.Progress{Stage: "embedding", Done: 2, Total: 3}, nil))
		got, err := ds.Count(t.Context(), alice)
		want := corpus.Counts{
			Documents: 5, Ready: 3, Failed: 1, Working: 1, Passages: 6, Pages: 9, Unembedded: 2,
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Count: %v, (-want +got):\n%s", err, diff)
		}
		if got, err := ds.Count(t.Context(), bob); err != nil || got != (corpus.Counts{}) {
			t.Errorf("Count of another user = %+v, %v", got, err)
		}
	})
	// The order is by bytes, so that both databases agree.
	t.Run("namespaces with documents are sorted", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		var last corpus.Document
		// In UTF-8, capitals precede lower-case letters, and non-ASCII letters follow both. ".web.1" is hidden.
		for i, namespace := range []string{"b", "B", "ä", "b", ".web.1", "a"} {
			d := file(fmt.Sprintf("f%d.md", i), fmt.Sprint(i))
			d.Namespace = namespace
			last = mustPut(t, ds, d)
		}
		for _, tt := range []struct {
			scope chat.Scope
			limit int
			want  []string
		}{
			{alice, 10, []string{"B", "a", "b", "ä"}}, {alice, 2, []string{"B", "a"}}, {bob, 10, nil},
			{alice.In("b"), 10, []string{"b"}},
			{alice.In(".web.1"), 10, []string{".web.1"}}, {alice.In("c"), 10, nil},
		} {
			got, err := ds.Namespaces(t.Context(), tt.scope, tt.limit)
			mustDo(t, "Namespaces", err)
			wantStrings(t, fmt.Sprintf("Namespaces of %v", tt.scope), got, tt.want)
		}
		// The only document of "a" is deleted, and its namespace with it.
		mustDo(t, "Delete", ds.Delete(t.Context(), alice, last.ID))
		got, err := ds.Namespaces(t.Context(), alice, 10)
		mustDo(t, "Namespaces", err)
		wantStrings(t, "Namespaces after a delete", got, []string{"B", "b", "ä"})
	})
}
