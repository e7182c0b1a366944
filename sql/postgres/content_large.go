package postgres

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/pack"
	"github.com/footnote/footnote/sql/store"
)

const (
	// bytes of text, or of 100 for each block, from which content is sent in pieces: a parameter of a statement is
	// copied several times
	largeText     = 768 << 10
	bytesPerPiece = 2560 // of text: a passage is read from the one or two that hold it
	blocksPerPart = 2000
)

// isLarge reports whether text and blocks are sent in pieces.
func (w *contentWrite) isLarge() bool {
	return len(w.c.Extracted.Text) >= largeText || 100*len(w.c.Extracted.Blocks) >= largeText
}

// insertLarge stores a content whose packed blocks the database puts together of pieces. string_agg joins the pieces
// inside the database, so the whole is never a parameter of a statement.
const insertLarge = `INSERT INTO contents (document, first_row, passages, lengths, sizes, body, blocks, packed_blocks,
	sha256, filename, mime, bytes)
	SELECT n, $2, $3, $4, $5, '', '', (SELECT string_agg(piece, '' ORDER BY place) FROM large_pieces), sha256, filename,
		mime, bytes FROM documents WHERE id = $1 RETURNING n`

// insertPieces stores a large text and its blocks. The pieces of blocks are in a table of the transaction's own. Pieces
// are sent by COPY as they are made, so memory holds one at a time.
func (w *contentWrite) insertPieces(t *tx) (content int64, err error) {
	if _, err := t.Exec(`CREATE TEMPORARY TABLE large_pieces (place int, piece bytea) ON COMMIT DROP`); err != nil {
		return 0, err
	}
	place := 0
	if err := t.copyPieces("large_pieces", []string{"place", "piece"}, func(yield func([]any, error) bool) {
		for piece, err := range blockPieces(w.c.Extracted.Blocks) {
			packed, failed := pack.Pack(legibleText(piece))
			place++
			if !yield([]any{place, packed}, cmp.Or(err, failed)) {
				return
			}
		}
	}); err != nil {
		return 0, err
	}
	err = t.One(insertLarge, []any{w.id, w.firstRow, len(w.c.Passages), w.lengths, w.sizes}, &content)
	if err != nil {
		return 0, err
	}
	if _, err = t.Exec(`DROP TABLE large_pieces`); err != nil { // its room is free before the rest is written
		return 0, err
	}
	at := 0
	return content, t.copyPieces("texts", []string{"content", "start_off", "packed"}, func(
		yield func([]any, error) bool,
	) {
		for piece := range textPieces(w.c.Extracted.Text) {
			packed, err := pack.Pack(legibleText(piece))
			if !yield([]any{content, at, packed}, err) {
				return
			}
			at += utf8.RuneCountInString(piece)
		}
	})
}

// copyPieces adds rows to a table as they are made. stop ends the iterator's goroutine if the database breaks off. The
// iterator is pulled, as pgx asks for row after row. An error of the iterator ends the COPY, and with it the
// transaction.
func (t *tx) copyPieces(table string, columns []string, rows iter.Seq2[[]any, error]) error {
	next, stop := iter.Pull2(rows)
	defer stop()
	_, err := t.pgx.CopyFrom(t.ctx, pgx.Identifier{table}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		row, err, more := next()
		if err != nil || !more {
			return nil, err
		}
		return row, nil
	}))
	return err
}

// textPieces cuts a text between runes. No piece is empty; an empty text has none.
func textPieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			n := min(len(text), bytesPerPiece)
			for n < len(text) && n > bytesPerPiece-utf8.UTFMax && !utf8.RuneStart(text[n]) {
				n--
			}
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}

// blockPieces cuts the JSON of blocks, which there is never all of at once. The pieces one after another are one JSON
// array: the first begins with its bracket, each further one with a comma.
func blockPieces(blocks []corpus.Block) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		before := "["
		for part := range slices.Chunk(blocks, blocksPerPart) {
			list, err := store.ToJSON(part)
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
