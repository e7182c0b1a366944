package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"footnote/chat"
	"footnote/corpus"
	"footnote/sql/pack"
)

func TestTheBlocksOfALargeDocumentArePacked(t *testing.T) {
	t.Parallel()
	s := newShelf(t, filepath.Join(t.TempDir(), "x.db"))
	for _, n := range []int{20, 2*blocksPerPiece + 1} {
		name := fmt.Sprint(n)
		s.version(t, name)
		c := corpus.Content{SHA256: name}
		for i := range n {
			c.Extracted.Blocks = append(c.Extracted.Blocks, corpus.Block{
				ID: fmt.Sprintf("b%d", i+1), Kind: corpus.BlockParagraph, Start: 10 * i, End: 10*i + 8,
			})
		}
		if err := s.ds.PutContent(t.Context(), s.id, c); err != nil {
			t.Fatal(err)
		}
		got, err := s.ds.Blocks(t.Context(), chat.Local, s.id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Extracted.Blocks, got); diff != "" {
			t.Errorf("%d blocks (-want +got):\n%s", n, diff)
		}
		var plain, kept int // bytes, as JSON and in the file
		err = s.db.queryRow(t.Context(),
			`SELECT sum(length(unpacked(x.body, x.packed))), sum(length(x.body) + coalesce(length(x.packed), 0))
			FROM content_blocks x JOIN documents d ON d.content = x.content WHERE d.id = ?`, []any{s.id}, &plain, &kept)
		if err != nil {
			t.Fatal(err)
		}
		// pieces have brackets of their own
		if want, err := toJSON(got); err != nil || plain < len(want)-2 || plain > len(want)+2 {
			t.Errorf("%d blocks are %d bytes of JSON, want %d; %v", n, plain, len(want), err)
		}
		if small := kept == plain; small != (n == 20) || !small && kept*4 > plain {
			t.Errorf("%d blocks take %d of %d bytes", n, kept, plain)
		}
	}
}

func TestTheTextOfALargeDocumentIsPacked(t *testing.T) {
	t.Parallel()
	s := newShelf(t, filepath.Join(t.TempDir(), "x.db"))
	for _, n := range []int{1000, pack.TextFrom/len("Words of a text – ") + 1} {
		name := fmt.Sprint(n)
		s.version(t, name)
		c := corpus.Content{SHA256: name, Extracted: corpus.Extracted{Text: strings.Repeat("Words of a text – ", n)}}
		if err := s.ds.PutContent(t.Context(), s.id, c); err != nil {
			t.Fatal(err)
		}
		got, err := s.ds.Text(t.Context(), chat.Local, s.id)
		if err != nil || got != c.Extracted.Text {
			t.Errorf("%d bytes come back as %d, %v; want %v", len(c.Extracted.Text), len(got), err, c.Extracted.Text)
		}
		var same bool
		var kept int
		err = s.db.queryRow(t.Context(),
			`SELECT group_concat(unpacked(x.body, x.packed), '' ORDER BY x.piece) = ?, sum(length(x.body) + `+
				`coalesce(length(x.packed), 0))
			FROM content_texts x JOIN documents d ON d.content = x.content WHERE d.id = ?`,
			[]any{c.Extracted.Text, s.id}, &same, &kept)
		if err != nil || !same {
			t.Errorf("the text that is copied is the same: %v, %v", same, err)
		}
		if packed := kept < len(got)/4; packed != (n > 1000) {
			t.Errorf("%d bytes take %d", len(got), kept)
		}
	}
}

func TestThePassagesOfALargeDocumentArePacked(t *testing.T) {
	t.Parallel()
	s := newShelf(t, filepath.Join(t.TempDir(), "x.db"))
	for _, n := range []int{1000, pack.TextFrom} {
		name := fmt.Sprint(n)
		s.version(t, name)
		c := corpus.Content{SHA256: name, Extracted: corpus.Extracted{Text: strings.Repeat("x", n)}}
		// one that becomes shorter, and two that don't
		for i, text := range []string{strings.Repeat("Words of a text – ", 60), "é", ""} {
			c.Passages = append(c.Passages, corpus.Passage{
				ID: fmt.Sprint(name, "-", i), DocumentID: s.id, Ordinal: i, Start: i, End: i + 1, Text: text,
			})
		}
		if err := s.ds.PutContent(t.Context(), s.id, c); err != nil {
			t.Fatal(err)
		}
		got, err := s.ds.Passages(t.Context(), chat.Local, s.id, 0, -1)
		if diff := cmp.Diff(c.Passages, got); err != nil || diff != "" {
			t.Errorf("%d bytes: %v (-want +got):\n%s", n, err, diff)
		}
		var kept int
		var same bool
		err = s.db.queryRow(t.Context(),
			`SELECT sum(length(text) + coalesce(length(packed), 0)), max(unpacked(text, packed)) = ? FROM passages `+
				`WHERE id GLOB ?`,
			[]any{c.Passages[1].Text, name + "-*"}, &kept, &same)
		if err != nil || !same {
			t.Errorf("the passages that are copied are the same: %v, %v", same, err)
		}
		if packed := kept < len(c.Passages[0].Text)/4; packed != (n > 1000) {
			t.Errorf("%d bytes of text: the passages take %d", n, kept)
		}
	}
}
