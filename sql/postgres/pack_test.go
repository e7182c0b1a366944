package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/pack"
)

// TestLargeDocumentIsPacked checks that text, blocks and passages of a large document are packed and restored
// unchanged. Those of a small document must be stored without packing.
func TestLargeDocumentIsPacked(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	ds := db.Documents()
	const words = "Words of a text – "
	for _, n := range []int{1000, pack.TextFrom/len(words) + 1} {
		d, _, err := ds.Put(t.Context(), corpus.Document{User: chat.LocalUser, Path: "a.md", SHA256: fmt.Sprint(n)})
		if err != nil {
			t.Fatal(err)
		}
		c := corpus.Content{SHA256: d.SHA256, Extracted: corpus.Extracted{Text: strings.Repeat(words, n)}}
		for i := range 3000 {
			c.Extracted.Blocks = append(c.Extracted.Blocks, corpus.Block{
				ID: fmt.Sprintf("b%d", i+1), Kind: corpus.BlockParagraph, Start: 10 * i, End: 10*i + 8,
			})
		}
		runes := []rune(c.Extracted.Text)
		add := func(start, end int) {
			i := len(c.Passages)
			c.Passages = append(c.Passages, corpus.Passage{
				ID: fmt.Sprint(n, "-", i), DocumentID: d.ID, Ordinal: i, Start: start, End: end,
				Text: string(runes[start:end]),
			})
		}
		add(0, 1)
		add(len(runes)-200, len(runes))
		add(7, 7)
		for start := 0; start+1500 < len(runes); start += 1501 { // some cross a piece boundary
			add(start, start+1500)
		}
		if err := ds.PutContent(t.Context(), d.ID, c); err != nil {
			t.Fatal(err)
		}
		text, err := ds.Text(t.Context(), chat.Local, d.ID)
		if err != nil || text != c.Extracted.Text {
			t.Errorf("%d bytes of text come back as %d, %v; want the same", len(c.Extracted.Text), len(text), err)
		}
		blocks, err := ds.Blocks(t.Context(), chat.Local, d.ID)
		if diff := cmp.Diff(c.Extracted.Blocks, blocks); err != nil || diff != "" {
			t.Errorf("blocks: %v (-want +got):\n%s", err, diff)
		}
		passages, err := ds.Passages(t.Context(), chat.Local, d.ID, 0, -1)
		if diff := cmp.Diff(c.Passages, passages); err != nil || diff != "" {
			t.Errorf("passages: %v (-want +got):\n%s", err, diff)
		}
		var ids []string
		for _, p := range c.Passages {
			ids = append(ids, p.ID)
		}
		passages, err = ds.PassagesByID(t.Context(), chat.Local, ids)
		if diff := cmp.Diff(c.Passages, passages); err != nil || diff != "" {
			t.Errorf("passages by id: %v (-want +got):\n%.2000s", err, diff)
		}
		var plain, packed int
		err = db.queryRow(t.Context(), longTime,
			`SELECT (SELECT sum(length(body) + length(blocks)) FROM contents) + (SELECT sum(length(body)) FROM `+
				`passages),
			(SELECT sum(length(packed) + length(packed_blocks)) FROM contents) + (SELECT sum(length(packed)) FROM `+
				`passages) + (SELECT coalesce(sum(length(packed)), 0) FROM texts)`, nil, &plain, &packed)
		if large := n > 1000; err != nil || large != (packed > 0) || large != (plain < 100) || packed > len(text)/4 {
			t.Errorf("%d bytes are stored as %d plain and %d packed, %v; want at most %d",
				len(text), plain, packed, err, len(text)/4)
		}
	}
}
