package postgres

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/pack"
	"github.com/footnote/footnote/sql/postings"
	"github.com/footnote/footnote/sql/store"
)

const (
	wordsPerPiece = 4000
	contentTime   = 10 * time.Minute // for storing or removing content
)

// contentWrite is one PutContent under way. Everything that can be computed before the transaction is in it, since the
// transaction holds locks.
type contentWrite struct {
	ds       *Documents
	id       string
	c        corpus.Content
	firstRow int64
	lengths  []byte
	sizes    string
	blocks   string // empty of a large content
	postings *postings.Builder
	owner    string
}

// PutContent replaces a document's content; see corpus.Documents. One transaction adds the new and removes the old. The
// document is locked at its end only, so that it can be cancelled meanwhile. The steps: look whether the version is
// still wanted; take a run of passage numbers in a statement of its own, as the row of corpus_state is one that every
// change locks; count terms; write. Numbers of a write that fails are never used again, which leaves a gap and does no
// harm.
func (ds *Documents) PutContent(ctx context.Context, id string, c corpus.Content) error {
	if err := store.CheckContent(c); err != nil {
		return err
	}
	w := &contentWrite{ds: ds, id: id, c: c}
	err := ds.db.inTx(ctx, longTime, w.checkVersion) // no use going on if it is no longer wanted
	if err == nil {
		err = ds.db.queryRow(
			ctx, longTime, `UPDATE corpus_state SET next_row = next_row + $1 RETURNING next_row - $1`,
			[]any{len(c.Passages)}, &w.firstRow,
		)
	}
	if err == nil {
		err = w.encodeContent()
	}
	if err == nil {
		err = ds.db.inTx(ctx, contentTime, func(t *tx) error {
			if err := w.writeContent(t); err != nil {
				return err
			}
			return ds.db.tellOf(t, id)
		})
	}
	if err != nil {
		return fmt.Errorf("put content of document %s: %w", id, err)
	}
	if err := postings.Compact(ctx, ds.db.newPostingStore(), w.owner, false); err != nil { // nobody waits for it
		ds.db.log.WarnContext(ctx, "searches are a little slower until the index is tidied", "error", err)
	}
	return nil
}

// encodeContent encodes what is not stored as it is, and counts the terms. It is the long part, and done before the
// transaction begins.
func (w *contentWrite) encodeContent() (err error) {
	if w.sizes, err = store.ToJSON(w.c.Extracted.Sizes); err != nil {
		return err
	}
	if !w.isLarge() {
		if w.blocks, err = store.ToJSON(w.c.Extracted.Blocks); err != nil {
			return err
		}
	}
	w.lengths = make([]byte, 0, 2*len(w.c.Passages))
	w.postings = postings.NewBuilder(uint32(w.firstRow))
	for terms := range w.c.EachTerms() {
		w.lengths = binary.LittleEndian.AppendUint16(w.lengths, uint16(min(w.postings.Add(terms), 1<<16-1)))
	}
	return nil
}

// checkVersion fails unless the document still wants this version. It locks the document's row until the transaction
// ends.
func (w *contentWrite) checkVersion(t *tx) error { return w.ds.CheckVersion(t, w.id, w.c.SHA256) }

// insertContent stores the content but for its passages and words.
func (w *contentWrite) insertContent(t *tx) (content int64, err error) {
	if w.isLarge() {
		return w.insertPieces(t)
	}
	err = t.One(`INSERT INTO contents (document, first_row, passages, lengths, sizes, body, blocks, sha256,
		filename, mime, bytes)
		SELECT n, $2, $3, $4, $5, $6, $7, sha256, filename, mime, bytes FROM documents WHERE id = $1 RETURNING n`,
		[]any{w.id, w.firstRow, len(w.c.Passages), w.lengths, w.sizes, w.c.Extracted.Text, w.blocks}, &content)
	return content, err
}

// writeContent writes everything in one transaction: content, words, passages, pages of the index, then what makes it
// the document's. The document is locked near the end by checkVersion, after the long part, and NextChange in
// publishContent locks the counter of changes last, so that other writers wait for a moment only.
func (w *contentWrite) writeContent(t *tx) error {
	content, err := w.insertContent(t)
	if err != nil {
		return store.NotFound(err, "store content", "document")
	}
	if err := w.copyWords(t, content); err != nil {
		return err
	}
	if err := t.copyFrom("passages",
		[]string{
			"row", "id", "content", "ordinal", "start_off", "end_off", "first_block", "last_block", "page", "section",
			"tokens", "body", "packed",
		}, len(w.c.Passages), func(i int) ([]any, error) {
			p := &w.c.Passages[i]
			body := ""
			if !w.isLarge() { // else it is read from the document's text
				body = legibleText(p.Text)
			}
			return []any{
				w.firstRow + int64(i), p.ID, content, i, p.Start, p.End, p.FirstBlock, p.LastBlock, p.Page, p.Section,
				p.Tokens, body, []byte{},
			}, nil
		}); err != nil {
		return err
	}
	var segment int64
	if err := t.One(
		`INSERT INTO segments (owner) SELECT user_id FROM documents WHERE id = $1 RETURNING n, owner`, []any{w.id},
		&segment, &w.owner,
	); err != nil {
		return err
	}
	if err := putPages(t, segment, w.postings.Pages()); err != nil {
		return err
	}
	if err := w.checkVersion(t); err != nil {
		return err
	}
	return w.publishContent(t, content, segment)
}

// copyWords stores the boxes of words in pieces that are found by their range of the text, so a quote reads one or two
// of them and not a whole document's.
func (w *contentWrite) copyWords(t *tx, content int64) error {
	var pieces []corpus.WordPiece
	for piece, err := range corpus.WordPieces(w.c.Extracted.Blocks, wordsPerPiece) {
		if err != nil {
			return err
		}
		pieces = append(pieces, piece)
	}
	return t.copyFrom("content_words", []string{"content", "piece", "start_off", "end_off", "body"}, len(pieces), func(
		i int,
	) ([]any, error) {
		return []any{content, i, pieces[i].Start, pieces[i].End, []byte(pieces[i].Words)}, nil
	})
}

// copyFrom adds n rows to a table. COPY takes a row at a time, so nothing but the row is copied in memory.
func (t *tx) copyFrom(table string, columns []string, n int, values func(int) ([]any, error)) error {
	if n == 0 {
		return nil
	}
	_, err := t.pgx.CopyFrom(t.ctx, pgx.Identifier{table}, columns, pgx.CopyFromSlice(n, func(i int) ([]any, error) {
		row, err := values(i)
		return storableArgs(row), err
	}))
	return err
}

// publishContent makes the content the locked document's and removes the one it replaces. Readers see the old content
// until the commit and the new one after it, as each reads in a snapshot of its own.
func (w *contentWrite) publishContent(t *tx, content, segment int64) error {
	served, err := w.ds.BeginServing(t, w.id, w.c.SHA256)
	if err != nil {
		return err
	}
	if err := removeContents(t, []int64{served.Content}); err != nil {
		return err
	}
	change, err := store.NextChange(t, served.User)
	if err != nil {
		return err
	}
	if err := store.ShowSegment(
		t, postings.Segment{Number: segment, Changed: change, Passages: w.postings.Passages()},
	); err != nil {
		return err
	}
	if _, err := t.Exec(dialect.MarkChanged, served.N, change); err != nil {
		return err
	}
	return w.ds.Serve(t, served, content, w.c)
}

// removeContents takes contents away with all that was made of them. Numbers of none do nothing. Passages are found by
// their run of numbers, which the primary key serves.
func removeContents(t *tx, contents []int64) error {
	for _, statement := range []string{
		`DELETE FROM passages USING contents c WHERE c.n = ANY ($1) AND row >= c.first_row
			AND row < c.first_row + c.passages`,
		`DELETE FROM content_words WHERE content = ANY ($1)`,
		`DELETE FROM unindexed WHERE content = ANY ($1)`,
		`DELETE FROM texts WHERE content = ANY ($1)`,
		`DELETE FROM contents WHERE n = ANY ($1)`,
	} {
		if _, err := t.Exec(statement, contents); err != nil {
			return err
		}
	}
	return nil
}

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
