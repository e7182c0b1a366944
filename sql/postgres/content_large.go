package postgres

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"footnote/corpus"
	"footnote/sql/pack"
)

const (
	// bytes of text, or of 100 for each block, from which content is sent in pieces: a parameter of a statement is
	// copied several times
	largeText     = 1 << 20
	bytesPerPiece = 256 << 10 // of text
	blocksPerPart = 2000
)

// isLarge reports whether text and blocks are sent in pieces.
func (w *contentWrite) isLarge() bool {
	return len(w.c.Extracted.Text) >= largeText || 100*len(w.c.Extracted.Blocks) >= largeText
}

// insertLarge stores a content whose text and blocks, both packed, the database puts together of pieces.
const insertLarge = `INSERT INTO contents (document, first_row, passages, lengths, sizes, body, blocks, packed,
	packed_blocks, sha256, filename, mime, bytes)
	SELECT n, $2, $3, $4, $5, '', '', (SELECT coalesce(string_agg(piece, '' ORDER BY place), '') FROM large_pieces
		WHERE what = 'body'),
		(SELECT string_agg(piece, '' ORDER BY place) FROM large_pieces WHERE what = 'blocks'), sha256, filename, mime,
		bytes FROM documents WHERE id = $1 RETURNING n`

// insertPieces stores a large text and its blocks. The pieces are in a table of the transaction's own.
func (w *contentWrite) insertPieces(t *tx) (content int64, err error) {
	if _, err := t.exec(
		`CREATE TEMPORARY TABLE large_pieces (what text, place int, piece bytea) ON COMMIT DROP`,
	); err != nil {
		return 0, err
	}
	for what, pieces := range map[string]iter.Seq2[string, error]{
		"body": textPieces(w.c.Extracted.Text), "blocks": blockPieces(w.c.Extracted.Blocks),
	} {
		if err := t.copyPieces(what, pieces); err != nil {
			return 0, err
		}
	}
	err = t.queryRow(insertLarge, []any{w.id, w.firstRow, len(w.c.Passages), w.lengths, w.sizes}, &content)
	if err != nil {
		return 0, err
	}
	_, err = t.exec(`DROP TABLE large_pieces`) // its room is free before the rest is written
	return content, err
}

func (t *tx) copyPieces(what string, pieces iter.Seq2[string, error]) error {
	next, stop := iter.Pull2(pieces)
	defer stop()
	place := 0
	_, err := t.pgx.CopyFrom(t.ctx, pgx.Identifier{
		"large_pieces",
	}, []string{"what", "place", "piece"}, pgx.CopyFromFunc(func() ([]any, error) {
		piece, err, more := next()
		if err != nil || !more {
			return nil, err
		}
		place++
		packed, err := pack.Pack(legibleText(piece))
		return []any{what, place, packed}, err
	}))
	return err
}

// textPieces cuts a text between runes.
func textPieces(text string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for len(text) > 0 {
			n := min(len(text), bytesPerPiece)
			for n < len(text) && n > bytesPerPiece-utf8.UTFMax && !utf8.RuneStart(text[n]) {
				n--
			}
			if !yield(text[:n], nil) {
				return
			}
			text = text[n:]
		}
	}
}

// blockPieces cuts the JSON of blocks, which there is never all of at once.
func blockPieces(blocks []corpus.Block) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		before := "["
		for part := range slices.Chunk(blocks, blocksPerPart) {
			list, err := toJSON(part)
			if !yield(before+strings.TrimSuffix(strings.TrimPrefix(list, "["), "]"), err) || err != nil {
				return
			}
			before = ","
		}
		if len(blocks) == 0 {
			yield("null", nil)
			return
		}
		yield("]", nil)
	}
}
