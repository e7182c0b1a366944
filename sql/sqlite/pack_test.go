package sqlite

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/pack"
	"github.com/footnote/footnote/sql/store"
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
		if want, err := store.ToJSON(got); err != nil || plain < len(want)-2 || plain > len(want)+2 {
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
			`SELECT group_concat(unpacked(x.body, x.packed), '' ORDER BY x.at) = ?, sum(length(x.body) + `+
				`coalesce(length(x.packed), 0))
			FROM texts x JOIN documents d ON d.content = x.at >> 32 WHERE d.id = ?`,
			[]any{c.Extracted.Text, s.id}, &same, &kept)
		if err != nil || !same {
			t.Errorf("the text that is copied is the same: %v, %v", same, err)
		}
		if packed := kept < len(got)/4; packed != (n > 1000) {
			t.Errorf("%d bytes take %d", len(got), kept)
		}
	}
}

func TestThePassagesOfALargeDocumentAreReadFromItsText(t *testing.T) {
	t.Parallel()
	s := newShelf(t, filepath.Join(t.TempDir(), "x.db"))
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1000, largeText, pack.TextFrom} {
		name := fmt.Sprint(n)
		s.version(t, name)
		var text []rune
		for size := 0; size < n; { // of one to four bytes each
			r := [...]rune{'x', 'é', '水', '𝄞'}[random.IntN(4)]
			text, size = append(text, r), size+utf8.RuneLen(r)
		}
		c := corpus.Content{SHA256: name, Extracted: corpus.Extracted{Text: string(text)}}
		add := func(start, end int) {
			i := len(c.Passages)
			c.Passages = append(c.Passages, corpus.Passage{
				ID: fmt.Sprint(name, "-", i), DocumentID: s.id, Ordinal: i, Start: start, End: end,
				Text: string(text[start:end]),
			})
		}
		add(0, 1)
		add(len(text)-200, len(text))
		add(7, 7)
		for start := 0; start+500 < len(text); start += 501 { // some go over the end of a piece
			add(start, start+500)
		}
		if err := s.ds.PutContent(t.Context(), s.id, c); err != nil {
			t.Fatal(err)
		}
		check := func(what string, got []corpus.Passage, err error) {
			t.Helper()
			if diff := cmp.Diff(c.Passages, got); err != nil || diff != "" {
				t.Errorf("%d bytes, %s: %v (-want +got):\n%.2000s", n, what, err, diff)
			}
		}
		got, err := s.ds.Passages(t.Context(), chat.Local, s.id, 0, -1)
		check("in order", got, err)
		var ids []string
		for _, p := range c.Passages {
			ids = append(ids, p.ID)
		}
		got, err = s.ds.PassagesByID(t.Context(), chat.Local, ids)
		check("by id", got, err)
		var kept int
		if err := s.db.queryRow(t.Context(), `SELECT sum(length(text) + coalesce(length(packed), 0)) FROM passages
			WHERE id GLOB ?`, []any{name + "-*"}, &kept); err != nil {
			t.Fatal(err)
		}
		if (kept == 0) != (n > 1000) {
			t.Errorf("%d bytes of text: the passages take %d themselves, want none of a large one", n, kept)
		}
		// as an earlier version wrote them
		for _, p := range c.Passages[:3] {
			packed, err := pack.Pack(p.Text)
			if err != nil {
				t.Fatal(err)
			}
			s.exec(t, fmt.Sprintf(`UPDATE passages SET text = '', packed = x'%x' WHERE id = '%s'`, packed, p.ID))
		}
		got, err = s.ds.Passages(t.Context(), chat.Local, s.id, 0, -1)
		check("of an earlier version", got, err)
	}
}
