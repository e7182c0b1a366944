package corpustest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// testContent tests reading a document's content: by parts, by ranges and by IDs.
func testContent(t *testing.T, open func(*testing.T) corpus.Documents) {
	// The uploader's metadata overrides the file's. The text has characters of one to four bytes, and offsets count
	// runes.
	t.Run("content round trip", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		in := file("a.pdf", "bytes")
		in.Meta = map[string]any{"author": "the uploader"}
		d := mustPut(t, ds, in)
		c := contentOf(d, "Première page, 東京.", "Second: 𝔘nicode.")
		c.Extracted.Title, c.Extracted.Pages, c.Extracted.Language = "Große Prüfung", 2, "fr"
		// An A4 portrait page in points, and a landscape page with fractional sizes, which must not be rounded.
		c.Extracted.Sizes = [][2]float64{{595, 842}, {842.5, 595.25}}
		c.Extracted.Meta = map[string]any{"author": "the file", "date": "2026"}
		c.Extracted.Blocks[0].Headings, c.Extracted.Blocks[0].Box = []string{"One", "Two"}, &chat.Box{
			1, 0.1, 0.2, 0.3, 0.4,
		}
		c.Extracted.Blocks[1].Marks = []corpus.Mark{{Kind: "link", Start: 21, End: 25, URL: "https://example.org"}}
		mustPutContent(t, ds, d.ID, c)

		got := mustGet(t, ds, alice, d.ID)
		if got.State != corpus.StateReady || got.Title != "Große Prüfung" || got.Pages != 2 || got.Language != "fr" ||
			got.Passages != 2 {
			t.Errorf("Get = %+v", got)
		}
		if diff := cmp.Diff(map[string]any{"author": "the uploader", "date": "2026"}, got.Meta); diff != "" {
			t.Errorf("meta (-want +got):\n%s", diff)
		}
		if text := mustText(t, ds, d.ID); text != c.Extracted.Text {
			t.Errorf("Text = %q, want %q", text, c.Extracted.Text)
		}
		blocks, err := ds.Blocks(t.Context(), alice, d.ID)
		if diff := cmp.Diff(c.Extracted.Blocks, blocks); err != nil || diff != "" {
			t.Errorf("Blocks: %v, (-want +got):\n%s", err, diff)
		}
		sizes, err := ds.PageSizes(t.Context(), alice, d.ID)
		if diff := cmp.Diff(c.Extracted.Sizes, sizes); err != nil || diff != "" {
			t.Errorf("PageSizes: %v, (-want +got):\n%s", err, diff)
		}
		passages, err := ds.Passages(t.Context(), alice, d.ID, 0, -1)
		if diff := cmp.Diff(c.Passages, passages); err != nil || diff != "" {
			t.Errorf("Passages: %v, (-want +got):\n%s", err, diff)
		}
	})
	// The content exceeds one database row, so it must be split and joined.
	t.Run("large content round trip", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := mustPut(t, ds, file("large.md", "bytes"))
		// 5001 blocks with a text of nearly 6 MB exceed one row of blocks and of text. Three passages are enough,
		// since passages have their own tests.
		parts := make([]string, 5001)
		for i := range parts {
			parts[i] = fmt.Sprintf("%d: ", i) + strings.Repeat("Größe, 東京, 𝔘nicode. ", 40)
		}
		c := contentOf(d, parts...)
		c.Passages, c.Terms = c.Passages[:3], c.Terms[:3]
		mustPutContent(t, ds, d.ID, c)
		if text := mustText(t, ds, d.ID); text != c.Extracted.Text {
			t.Errorf("Text has %d bytes, want %d, the same ones", len(text), len(c.Extracted.Text))
		}
		testParts(t, ds, d.ID, c.Extracted.Text)
		blocks, err := ds.Blocks(t.Context(), alice, d.ID)
		if diff := cmp.Diff(c.Extracted.Blocks, blocks); err != nil || diff != "" {
			t.Errorf("Blocks: %v, (-want +got):\n%.2000s", err, diff)
		}
		passages, err := ds.Passages(t.Context(), alice, d.ID, 0, -1)
		if diff := cmp.Diff(c.Passages, passages); err != nil || diff != "" {
			t.Errorf("Passages: %v, (-want +got):\n%.2000s", err, diff)
		}
	})
	// The page displays such a document during its ingestion.
	t.Run("document without content is no error", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := mustPut(t, ds, file("a.md", "x"))
		blocks, err := ds.Blocks(t.Context(), alice, d.ID)
		mustDo(t, "Blocks", err)
		passages, err := ds.Passages(t.Context(), alice, d.ID, 0, -1)
		mustDo(t, "Passages", err)
		sizes, err := ds.PageSizes(t.Context(), alice, d.ID)
		mustDo(t, "PageSizes", err)
		if text := mustText(t, ds, d.ID); text != "" || len(blocks)+len(passages)+len(sizes) > 0 {
			t.Errorf("got text %q, %d blocks, %d passages, %d sizes, want none",
				text, len(blocks), len(passages), len(sizes))
		}
	})
	// The library fails such a file with NoText before it calls the store, but the store must not depend on that.
	t.Run("document without passages", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		if d := ingest(t, ds, file("a.md", "")); d.State != corpus.StateReady || d.Passages != 0 {
			t.Errorf("got state %s with %d passages, want ready with none", d.State, d.Passages)
		}
	})
	// A negative end means the end of the document. Missing IDs are skipped: passages may be replaced during a
	// search.
	t.Run("passages by range and id keep the requested order", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "p0", "p1", "p2", "p3")
		all := passageIDs(t, ds, d.ID, 0, -1)
		wantStrings(t, "Passages(1, 3)", passageIDs(t, ds, d.ID, 1, 3), all[1:3])
		wantStrings(t, "Passages(2, -1)", passageIDs(t, ds, d.ID, 2, -1), all[2:])
		// Ends beyond the document are no errors: a caller that reads the neighbours of a passage does not know the
		// total.
		wantStrings(t, "Passages(3, 99)", passageIDs(t, ds, d.ID, 3, 99), all[3:])
		wantStrings(t, "Passages(9, 12)", passageIDs(t, ds, d.ID, 9, 12), nil)
		found, err := ds.PassagesByID(t.Context(), alice, []string{all[2], "nowhere", all[0]})
		if err != nil || len(found) != 2 || found[0].ID != all[2] || found[1].ID != all[0] ||
			found[1].DocumentID != d.ID || found[1].Text != "p0" {
			t.Errorf("PassagesByID = %+v, %v", found, err)
		}
	})
	// Words are packed in blocks and unpacked only for a range, so the test includes ranges across blocks.
	// Coordinates are accurate to 1/65535, see corpus.PackWords.
	t.Run("words by overlapping range are in order", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		const n = 10000
		d := mustPut(t, ds, file("a.pdf", "bytes"))
		c := contentOf(d, strings.Repeat("word ", n))
		var want []corpus.WordBox
		for i := range n {
			x := float64(i%97) / 100
			want = append(want, corpus.WordBox{
				Start: 5 * i, End: 5*i + 4, Box: chat.Box{float64(1 + i/500), x, 0.123, x + 0.01, 0.140}, Turn: i % 4,
			})
		}
		c.Extracted.Blocks[0].Words = corpus.PackWords(want)
		mustPutContent(t, ds, d.ID, c)
		// A single word, parts of two words, the gap between two, one across a block, all of them, and beyond the
		// end.
		for _, part := range [][2]int{{0, 4}, {2, 6}, {4, 5}, {5*5000 + 1, 5*5003 + 1}, {0, 5 * n}, {5 * n, 6 * n}} {
			got, err := ds.Words(t.Context(), alice, d.ID, part[0], part[1])
			var overlap []corpus.WordBox
			for _, w := range want {
				if w.Start < part[1] && w.End > part[0] {
					overlap = append(overlap, w)
				}
			}
			close := cmpopts.EquateApprox(0, 1e-4) // of a page: a twelfth of a point
			if diff := cmp.Diff(overlap, got, close, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("Words(%v) = %v, %d words, want %d", part, err, len(got), len(overlap))
			}
		}
	})
	// Characters of one to four bytes, so that a split at a fixed number of bytes would split a character.
	t.Run("long text round trip", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := mustPut(t, ds, file("a.md", "long"))
		c := contentOf(d, "short")
		c.Extracted.Text = strings.Repeat("a€𝔘é\n", 200_000)
		mustPutContent(t, ds, d.ID, c)
		if text := mustText(t, ds, d.ID); text != c.Extracted.Text {
			t.Errorf("%d bytes came back, want %d", len(text), len(c.Extracted.Text))
		}
	})
}

// passageIDs returns the IDs of a document's passages in a range.
func passageIDs(t *testing.T, ds corpus.Documents, id string, from, to int) (ids []string) {
	t.Helper()
	passages, err := ds.Passages(t.Context(), alice, id, from, to)
	if err != nil {
		t.Fatalf("Passages(%s, %d, %d): %v", id, from, to, err)
	}
	for _, p := range passages {
		ids = append(ids, p.ID)
	}
	return ids
}

// testReplace tests that a new version replaces the old one atomically.
func testReplace(t *testing.T, open func(*testing.T) corpus.Documents) {
	// Ingestion of a new version may take minutes, and the old one is queried meanwhile.
	t.Run("old content serves until replaced", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		old := ingest(t, ds, file("a.md", ""), "old words", "more old words")
		oldIDs := passageIDs(t, ds, old.ID, 0, -1)
		now := mustPut(t, ds, file("a.md", "new"))
		if text := mustText(t, ds, old.ID); text != "old words\n\nmore old words" {
			t.Errorf("before: %q", text)
		}
		mustPutContent(t, ds, now.ID, contentOf(now, "new words"))
		if text := mustText(t, ds, old.ID); text != "new words" {
			t.Errorf("after: %q", text)
		}
		// The old version's second passage is gone, and is not counted.
		if got := mustGet(t, ds, alice, old.ID); got.State != corpus.StateReady || got.Passages != 1 {
			t.Errorf("got state %s, %d passages, want ready with 1", got.State, got.Passages)
		}
		if left, err := ds.PassagesByID(t.Context(), alice, oldIDs); err != nil || len(left) > 0 {
			t.Errorf("old passages = %v, %v, want none", left, err)
		}
	})
	// A worker that died after it stored the content stores it again.
	t.Run("same content is a no-op", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "p0", "p1")
		before := passageIDs(t, ds, d.ID, 0, -1)
		mustPutContent(t, ds, d.ID, contentOf(d, "p0", "p1"))
		wantStrings(t, "passages", passageIDs(t, ds, d.ID, 0, -1), before)
		if found, err := ds.PassagesByID(t.Context(), alice, before); err != nil || len(found) != 2 {
			t.Errorf("PassagesByID = %v, %v", found, err)
		}
	})
	// 300 passages take several rows, which detects reads outside of a transaction.
	t.Run("readers see one consistent version", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		versions := [2][]string{}
		for i := range 300 {
			versions[0] = append(versions[0], fmt.Sprintf("even %d", i))
			versions[1] = append(versions[1], fmt.Sprintf("odd %d", i))
		}
		d := ingest(t, ds, file("a.md", ""), versions[1]...)
		done := make(chan error, 1)
		go func() {
			// Write six versions, alternately even and odd, while the loop below reads.
			for i := range 6 {
				v, _, err := ds.Put(t.Context(), file("a.md", fmt.Sprint("version ", i)))
				if err == nil {
					err = ds.PutContent(t.Context(), v.ID, contentOf(v, versions[i%2]...))
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		for {
			passages, err := ds.Passages(t.Context(), alice, d.ID, 0, -1)
			if err != nil || len(passages) != 300 {
				t.Fatalf("%d passages, %v; want 300", len(passages), err)
			}
			// All passages must be of the same version as the first one, in order.
			kind, _, _ := strings.Cut(passages[0].Text, " ")
			for i, p := range passages {
				if p.Text != fmt.Sprintf("%s %d", kind, i) {
					t.Fatalf("passage %d = %q, want all %s", i, p.Text, kind)
				}
			}
			select {
			case err := <-done:
				mustDo(t, "replace", err)
				return
			default:
			}
		}
	})
	// The document may have been purged during its ingestion, which the worker learns from this error.
	t.Run("unknown document rejects content", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		wantCode(t, "PutContent", ds.PutContent(
			t.Context(), "nowhere", contentOf(file("a.md", "x"), "words"),
		), chat.CodeNotFound)
	})
	// The failure occurs after parts of the content were written.
	t.Run("failed content keeps the old one serving", func(t *testing.T) {
		t.Parallel()
		ds := open(t)
		d := ingest(t, ds, file("a.md", ""), "old words")
		c := contentOf(d, "new words")
		c.Extracted.Meta = map[string]any{"number": math.Inf(1)} // JSON can't encode it
		if err := ds.PutContent(t.Context(), d.ID, c); err == nil {
			t.Error("PutContent with an infinite number: got no error, want one")
		}
		if text := mustText(t, ds, d.ID); text != "old words" {
			t.Errorf("Text = %q", text)
		}
	})
}

// testParts reads a text by parts and checks that they form the whole text and are small.
func testParts(t *testing.T, ds corpus.Documents, id, want string) {
	t.Helper()
	var got strings.Builder
	at, parts, version := 0, 0, int64(0)
	for {
		// A reader detects a replacement of the text by the version of each part.
		part, err := ds.TextPart(t.Context(), alice, id, at)
		mustDo(t, "TextPart", err)
		if len(part.Text) > 1<<20 || parts > 0 && part.Version != version {
			t.Fatalf("part %d has %d bytes of version %d, want at most 1 MiB of %d",
				parts, len(part.Text), part.Version, version)
		}
		got.WriteString(part.Text)
		parts, version, at = parts+1, part.Version, part.Next
		if at == 0 {
			break
		}
	}
	if got.String() != want || len(want) > 1<<20 && parts < 2 {
		t.Errorf("%d parts have %d bytes, want %d, the same ones", parts, got.Len(), len(want))
	}
}
