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
	contentTime   = 10 * time.Minute // timeout for storing or removing content
)

// contentWrite is one PutContent in progress. It holds everything that can be computed before the transaction, since
// the transaction holds locks.
type contentWrite struct {
	ds       *Documents
	id       string
	c        corpus.Content
	firstRow int64
	lengths  []byte
	sizes    string
	blocks   string // empty for a large content
	postings *postings.Builder
	owner    string
}

// PutContent replaces a document's content; see corpus.Documents. One transaction adds the new content and removes
// the old one. It locks the document only at its end, so that the document can be cancelled meanwhile.
//
// It first checks that the version is still wanted. Then it allocates a range of passage numbers in a separate
// statement, since every change locks the row of corpus_state. It counts terms and writes. A failed write leaves a
// harmless gap in the numbers.
func (ds *Documents) PutContent(ctx context.Context, id string, c corpus.Content) error {
	if err := store.CheckContent(c); err != nil {
		return err
	}
	w := &contentWrite{ds: ds, id: id, c: c}
	err := ds.db.inTx(ctx, longTime, w.checkVersion) // stop early if the version is outdated
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
			return ds.db.notifyDocument(t, id)
		})
	}
	if err != nil {
		return fmt.Errorf("put content of document %s: %w", id, err)
	}
	if err := postings.Compact(ctx, ds.db.newPostingStore(), w.owner, false); err != nil { // not urgent
		ds.db.log.WarnContext(ctx, "searches are a little slower until the index is tidied", "error", err)
	}
	return nil
}

// encodeContent encodes the content and counts its terms. It is the slow part and runs before the transaction.
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

// checkVersion returns an error unless the document still wants this version. It locks the document's row until the
// transaction ends.
func (w *contentWrite) checkVersion(t *tx) error { return w.ds.CheckVersion(t, w.id, w.c.SHA256) }

// insertContent stores the content without its passages and words.
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

// writeContent writes everything in one transaction: content, words, passages, index pages, then the document's
// reference. checkVersion locks the document after the slow part, and NextChange in publishContent locks the change
// counter last. So other writers wait only briefly.
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
			if !w.isLarge() { // large documents read passages from their text
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

// copyWords stores the bounding boxes of words in pieces, indexed by their text range, so a quote reads one or two
// pieces.
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

// copyFrom inserts n rows into a table with COPY, which streams one row at a time.
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

// publishContent makes the content the locked document's current one and removes the one it replaces. Readers see
// the old content until the commit, as each reads in its own snapshot.
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
	if err := store.PublishSegment(
		t, postings.Segment{Number: segment, Changed: change, Passages: w.postings.Passages()},
	); err != nil {
		return err
	}
	if _, err := t.Exec(dialect.MarkChanged, served.N, change); err != nil {
		return err
	}
	return w.ds.Serve(t, served, content, w.c)
}

// removeContents deletes contents with all dependent rows. Unknown numbers are ignored. Passages are found by their
// range of numbers, by the primary key.
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
	// Bytes of text, or of 100 for each block, from which content is sent in pieces, as a statement's parameter is
	// copied several times in memory.
	largeText     = 768 << 10
	bytesPerPiece = 2560 // of text: a passage is in one or two pieces
	blocksPerPart = 2000
)

// isLarge reports whether text and blocks are sent in pieces.
func (w *contentWrite) isLarge() bool {
	return len(w.c.Extracted.Text) >= largeText || 100*len(w.c.Extracted.Blocks) >= largeText
}

// insertLarge stores a content and assembles its compressed blocks in the database. string_agg joins the pieces, so
// the whole is never a parameter of a statement.
const insertLarge = `INSERT INTO contents (document, first_row, passages, lengths, sizes, body, blocks, packed_blocks,
	sha256, filename, mime, bytes)
	SELECT n, $2, $3, $4, $5, '', '', (SELECT string_agg(piece, '' ORDER BY place) FROM large_pieces), sha256, filename,
		mime, bytes FROM documents WHERE id = $1 RETURNING n`

// insertPieces stores a large text and its blocks, with the pieces of blocks in a temporary table. COPY streams the
// pieces, so memory holds one at a time.
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
	if _, err = t.Exec(`DROP TABLE large_pieces`); err != nil { // frees its space before the rest is written
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

// copyPieces inserts rows into a table with COPY as a stream. pgx pulls row after row from the iterator; stop ends
// its goroutine after an error. An error of the iterator aborts the COPY, and with it the transaction.
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

// textPieces splits a text between runes into non-empty pieces; an empty text has none.
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

// blockPieces encodes blocks as JSON in pieces, which are never all in memory. The concatenated pieces are one JSON
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
