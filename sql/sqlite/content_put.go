package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/pack"
	"github.com/footnote/footnote/sql/postings"
	"github.com/footnote/footnote/sql/store"
)

// Sizes of the pieces that content is written in. A transaction holds about one, so that a big document doesn't keep
// the writes of running answers waiting.
const (
	passagesPerWrite = 64
	bytesPerWrite    = 512 << 10
	plainPiece       = 1300 // bytes of a large text: a passage is read from those that hold it; 3 fill a page
	packedPiece      = 2560 // bytes of a text that is packed: 2 of them fill a page
	blocksPerPiece   = 2000
	wordsPerPiece    = 4000
)

// contentWrite is one PutContent under way. Its pieces are written under a content number that nothing points to; the
// last transaction makes that number the document's content. Whoever reads meanwhile sees the old content. A crash in
// between leaves rows that no document points to; leftContents finds them by their age. It is used by one goroutine.
// content is 0 before its row is there, and again after its transaction was undone.
type contentWrite struct {
	ds       *Documents
	id       string
	c        corpus.Content
	document int64
	content  int64
	firstRow int64
	segment  int64  // of the index of words
	owner    string // the document's user
	steps    []step // what is to write, in order

	nextTerms func() (corpus.Terms, bool) // of the next passage
	postings  *postings.Builder           // of the passages so far
	lengths   []byte                      // of the passages so far
}

// PutContent replaces a document's content; see corpus.Documents. When it fails, the old content serves as before. The
// steps: cut everything into pieces in memory, write them in transactions of about bytesPerWrite, publish in the last
// one, then tidy up. Removing what a failed write left, and the old content after a good one, go on without the
// caller's context, since nobody would come back for them before the next purge. After publishing an error is only
// logged: the document serves.
func (ds *Documents) PutContent(ctx context.Context, id string, c corpus.Content) error {
	if err := store.CheckContent(c); err != nil {
		return err
	}
	w := &contentWrite{ds: ds, id: id, c: c, lengths: []byte{}}
	var stop func()
	w.nextTerms, stop = iter.Pull(c.EachTerms())
	defer stop()
	if err := w.planSteps(); err != nil {
		return err
	}
	old, err := w.writeSteps(ctx)
	if err != nil {
		if w.content > 0 {
			err = errors.Join(err, ds.removeContent(context.WithoutCancel(ctx), w.content),
				ds.db.newPostingStore().Drop(
					context.WithoutCancel(ctx), w.segment,
				))
		}
		return err
	}
	if err := postings.Compact(ctx, ds.db.newPostingStore(), w.owner, false); err != nil { // nobody waits for it
		ds.db.log.WarnContext(ctx, "searches are a little slower until the index is tidied", "error", err)
	}
	if old > 0 {
		if err := ds.removeContent(context.WithoutCancel(ctx), old); err != nil { // the new content serves all the same
			ds.db.log.WarnContext(ctx, "old content stays until the next purge", "document", id, "error", err)
		}
	}
	return nil
}

// largeText is from what length on, in bytes, the text of a document stands for those of its passages: kept once more
// they would take the disk beyond four times the file and 1 MiB.
const largeText = 768 << 10

// isLarge reports whether passages have no text of their own.
func (w *contentWrite) isLarge() bool { return len(w.c.Extracted.Text) >= largeText }

// planSteps cuts the content into steps. Nothing is written yet. The order is that of writing: text, blocks, words of
// pages, passages.
func (w *contentWrite) planSteps() error {
	w.planText()
	blocks := w.c.Extracted.Blocks
	for piece := 0; len(blocks) > 0; piece++ {
		n := min(blocksPerPiece, len(blocks))
		body, err := store.ToJSON(blocks[:n])
		if err != nil {
			return err
		}
		blocks = blocks[n:]
		var packed []byte
		if len(body) >= pack.BlocksFrom {
			if packed, err = pack.Pack(body); err != nil {
				return err
			}
			body = ""
		}
		w.addStep(len(body)+len(packed), func(t *tx) error {
			_, err := t.Exec(`INSERT INTO content_blocks VALUES (?, ?, ?, ?)`, w.content, piece, body, packed)
			return err
		})
	}
	if err := w.planWords(); err != nil {
		return err
	}
	const passageCost = bytesPerWrite / passagesPerWrite // indexing is the work, not the bytes
	for i := range w.c.Passages {
		w.steps = append(w.steps, step{cost: max(passageCost, len(w.c.Passages[i].Text)), passage: i + 1})
	}
	return nil
}

// planText cuts the text into pieces. Each has the number of its first rune. The number of a piece is the number of its
// first rune, so that a passage finds its pieces by its own offsets (passageText). Upper 32 bits of a row's key are the
// content's number, lower ones that of the piece.
func (w *contentWrite) planText() {
	most, packs := bytesPerWrite, len(w.c.Extracted.Text) >= pack.TextFrom
	switch {
	case packs:
		most = packedPiece
	case w.isLarge():
		most = plainPiece
	}
	for text, piece := w.c.Extracted.Text, 0; len(text) > 0; {
		part, number := text[:textCut(text, most)], piece
		text, piece = text[len(part):], piece+utf8.RuneCountInString(part)
		w.addStep(len(part), func(t *tx) error {
			if !packs {
				_, err := t.Exec(`INSERT INTO texts VALUES (? << 32 | ?, ?, NULL)`, w.content, number, part)
				return err
			}
			packed, err := pack.Pack(part)
			if err == nil {
				_, err = t.Exec(`INSERT INTO texts VALUES (? << 32 | ?, '', ?)`, w.content, number, packed)
			}
			return err
		})
	}
}

// step is one thing to write.
type step struct {
	cost    int             // in bytes
	fn      func(*tx) error // nil: a passage
	passage int             // from 1
}

// addStep adds a thing to write that costs so many bytes.
func (w *contentWrite) addStep(cost int, fn func(*tx) error) {
	w.steps = append(w.steps, step{cost: cost, fn: fn})
}

// analyseTerms counts the terms of the passages that some steps write, before their transaction begins. Analysing is
// most of the work, so it is done outside the transaction, where the writer serves others meanwhile.
func (w *contentWrite) analyseTerms(steps []step) {
	for _, s := range steps {
		if s.passage == 0 {
			continue
		}
		terms, _ := w.nextTerms() // PutContent has seen to it that there are enough
		w.lengths = binary.LittleEndian.AppendUint16(w.lengths, uint16(min(w.postings.Add(terms), 1<<16-1)))
	}
}

// writeStep writes one step. Passages are told by their number, as their rows are made from what was counted before.
func (w *contentWrite) writeStep(t *tx, s step) error {
	if s.passage > 0 {
		return w.putPassage(t, s.passage-1)
	}
	return s.fn(t)
}

// textCut returns where the first piece of text ends, between two runes, behind at most so many bytes. It goes back at
// most three bytes to where a rune starts.
func textCut(text string, most int) int {
	if len(text) <= most {
		return len(text)
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return cut
}

// planWords cuts the boxes of words into pieces that are found by their range of the text. A piece has the range of the
// text that its words stand in, so a look for the boxes of a quote reads one or two pieces.
func (w *contentWrite) planWords() error {
	n := 0
	for piece, err := range corpus.WordPieces(w.c.Extracted.Blocks, wordsPerPiece) {
		if err != nil {
			return err
		}
		number := n
		w.addStep(len(piece.Words), func(t *tx) error {
			_, err := t.Exec(
				`INSERT INTO content_words VALUES (?, ?, ?, ?, ?)`, w.content, number, piece.Start, piece.End,
				[]byte(piece.Words),
			)
			return err
		})
		n++
	}
	return nil
}

// writeSteps writes the steps, then the index, and makes the content the document's. A content of one transaction's
// size takes just one. Every transaction checks that the document still wants this version, so a cancelled or replaced
// one stops early. Pages of the index are written when all passages are counted; they may take several more
// transactions, and the last of those publishes.
func (w *contentWrite) writeSteps(ctx context.Context) (old int64, err error) {
	if err := w.ds.db.writeBulk(ctx, false, w.beginContent); err != nil {
		w.content = 0 // it was undone
		return 0, fmt.Errorf("put content of document %s: %w", w.id, err)
	}
	w.postings = postings.NewBuilder(uint32(w.firstRow))
	nextPage, stop := iter.Pull2(w.postings.Pages())
	defer stop()
	for from, last := 0, false; !last; {
		to, cost := from, 0
		for to < len(w.steps) && (to == from || cost+w.steps[to].cost <= bytesPerWrite) {
			cost += w.steps[to].cost
			to++
		}
		w.analyseTerms(w.steps[from:to])
		var pages []postings.Page
		if to == len(w.steps) {
			if pages, last, err = somePages(nextPage); err != nil {
				return 0, fmt.Errorf("put content of document %s: %w", w.id, err)
			}
		}
		err = w.ds.db.writeBulk(ctx, last, func(t *tx) error {
			if err := w.ds.CheckVersion(t, w.id, w.c.SHA256); err != nil {
				return err // no use going on
			}
			for _, s := range w.steps[from:to] {
				if err := w.writeStep(t, s); err != nil {
					return err
				}
			}
			if err := putPages(t, w.segment, pages); err != nil || !last {
				return err
			}
			old, err = w.publishContent(t)
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("put content of document %s: %w", w.id, err)
		}
		from = to
	}
	return old, nil
}

// somePages takes pages for one transaction. last says that there are no more. An error ends the pages too, so that
// nobody goes on from half an index.
func somePages(next func() (postings.Page, error, bool)) (pages []postings.Page, last bool, err error) {
	for size := 0; size < bytesPerWrite; {
		p, err, more := next()
		if !more || err != nil {
			return pages, true, err
		}
		pages = append(pages, p)
		size += len(p.Key) + len(p.Body)
	}
	return pages, false, nil
}

// beginContent takes a content number, a run of passage numbers and a segment of the index. The numbers of the passages
// are taken from one counter for all documents, so rows of the index are numbered by the order in which documents came
// in. The file's name and hash are copied from the document: this content serves under them even while a newer version
// is being read.
func (w *contentWrite) beginContent(t *tx) error {
	if err := w.ds.CheckVersion(t, w.id, w.c.SHA256); err != nil {
		return err // no use going on
	}
	sizes, err := store.ToJSON(w.c.Extracted.Sizes)
	if err != nil {
		return err
	}
	if err := t.One(`UPDATE corpus_state SET next_row = next_row + ? RETURNING next_row - ?`,
		[]any{len(w.c.Passages), len(w.c.Passages)}, &w.firstRow); err != nil {
		return err
	}
	err = t.One(`INSERT INTO contents (document, first_row, passages, lengths, sizes, sha256, filename, mime,
		bytes, started_at)
		SELECT n, ?, ?, ?, ?, sha256, filename, mime, bytes, ? FROM documents WHERE id = ? RETURNING n, document`,
		[]any{w.firstRow, len(w.c.Passages), []byte{}, sizes, time.Now().UnixMicro(), w.id}, &w.content, &w.document)
	if err != nil {
		return err
	}
	if err := t.One(`SELECT user_id FROM documents WHERE n = ?`, []any{w.document}, &w.owner); err != nil {
		return err
	}
	w.segment, err = store.BeginSegment(t, w.owner)
	return err
}

// putPassage writes a passage's row. The last column is for texts that an earlier version packed. The row's number is
// its place in the index of words too: one number finds both.
func (w *contentWrite) putPassage(t *tx, i int) error {
	p := &w.c.Passages[i]
	row := w.firstRow + int64(i)
	body := p.Text
	if w.isLarge() { // it is read from the document's text
		body = ""
	}
	_, err := t.Exec(`INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)`, row, p.ID, w.content, i,
		p.Start, p.End, p.FirstBlock, p.LastBlock, p.Page, p.Section, p.Tokens, body)
	return err
}

// publishContent makes the content the document's and returns the number of the one it replaces. Marking old and new
// content as changed under one number lets directories of searches drop the one and add the other at once.
func (w *contentWrite) publishContent(t *tx) (old int64, err error) {
	served, err := w.ds.BeginServing(t, w.id, w.c.SHA256)
	if err != nil {
		return 0, err
	}
	old = served.Content
	change, err := store.NextChange(t, served.User)
	if err != nil {
		return 0, err
	}
	if _, err := t.Exec(
		`UPDATE contents SET live = n = ?, changed = ? WHERE n IN (?, ?)`, w.content, change, w.content, old,
	); err != nil {
		return 0, err
	}
	if _, err := t.Exec(`UPDATE contents SET lengths = ? WHERE n = ?`, w.lengths, w.content); err != nil {
		return 0, err
	}
	if err := store.ShowSegment(
		t, postings.Segment{Number: w.segment, Changed: change, Passages: w.postings.Passages()},
	); err != nil {
		return 0, err
	}
	return old, w.ds.Serve(t, served, w.content, w.c)
}

// eachPiece calls each with every row of store.ReadPieces. It adapts its generic result to callers that collect by
// themselves.
func (ds *Documents) eachPiece(
	ctx context.Context, s chat.Scope, id, columns, from, order string, args []any, each func(scanner) error,
) error {
	_, err := store.ReadPieces(ctx, ds.Documents, s, id, columns, from, order, func(
		row scanner,
	) (none struct{}, err error) {
		return none, each(row)
	}, args...)
	return err
}

// textsOf is the condition for the rows of texts (as x) that are a content's. A content's pieces are neighbours in the
// table, so this is one range of its key.
func textsOf(content string) string {
	return `x.at BETWEEN ` + content + ` << 32 AND ` + content + ` << 32 | 0xffffffff`
}

// Text returns the canonical text; see corpus.Documents. sql.RawBytes lend the driver's memory for one row, which saves
// a copy of each piece.
func (ds *Documents) Text(ctx context.Context, s chat.Scope, id string) (string, error) {
	var text strings.Builder
	err := ds.eachPiece(ctx, s, id, `x.body, x.packed, (SELECT bytes FROM contents WHERE n = d.content)`,
		`texts x ON `+textsOf("d.content"), `x.at`, nil, func(row scanner) error {
			var body, packed sql.RawBytes
			var size int
			if err := row.Scan(&body, &packed, &size); err != nil {
				return err
			}
			if text.Len() == 0 && size >= largeText { // else a large text is copied as it grows
				text.Grow(size + size/16)
			}
			if len(packed) > 0 {
				return pack.Unpack(&text, packed)
			}
			text.Write(body)
			return nil
		})
	return text.String(), err
}

// partPieces is how many pieces a part of a large text has at most. A part has at most bytesPerWrite bytes or so,
// whichever kind of piece the text is in.
const partPieces = bytesPerWrite / packedPiece

// TextPart returns some stored pieces of the canonical text; see corpus.Documents. Next is the number of the first
// piece behind the part, which is also the rune it begins at; 0 at the end. Version is the content's number, by which a
// reader notices that the document changed between two parts.
func (ds *Documents) TextPart(ctx context.Context, s chat.Scope, id string, at int) (part corpus.TextPart, err error) {
	var text strings.Builder
	n := 0
	err = ds.eachPiece(ctx, s, id, `x.at & 0xffffffff, x.body, x.packed, d.content`,
		`texts x ON `+textsOf("d.content")+` AND x.at >= d.content << 32 | $4`,
		fmt.Sprintf(`x.at LIMIT %d`, partPieces+1),
		[]any{at}, func(row scanner) error {
			var body, packed sql.RawBytes
			var piece int
			if err := row.Scan(&piece, &body, &packed, &part.Version); err != nil {
				return err
			}
			if n++; n > partPieces || text.Len() >= bytesPerWrite {
				if part.Next == 0 {
					part.Next = piece
				}
				return nil
			}
			if len(packed) > 0 {
				return pack.Unpack(&text, packed)
			}
			text.Write(body)
			return nil
		})
	part.Text = text.String()
	return part, err
}

// Blocks returns the blocks without their words; see corpus.Documents. The slice for a piece is cleared before it is
// used again: json.Unmarshal would keep old values in fields that the next piece leaves out.
func (ds *Documents) Blocks(ctx context.Context, s chat.Scope, id string) (blocks []corpus.Block, err error) {
	const last = `(SELECT max(y.piece) FROM content_blocks y WHERE y.content = d.content)`
	var piece []corpus.Block // used again for each
	err = ds.eachPiece(ctx, s, id, `x.body, x.packed, `+last, `content_blocks x ON x.content = d.content`,
		`x.piece`, nil, func(
			row scanner,
		) error {
			var body, packed sql.RawBytes
			var last int
			if err := row.Scan(&body, &packed, &last); err != nil {
				return err
			}
			plain, err := pack.Unpacked(body, packed)
			if err != nil {
				return err
			}
			clear(piece[:cap(piece)])
			err = json.Unmarshal(plain, &piece)
			if last > 0 && blocks == nil { // else many blocks are copied again and again as they grow
				blocks = make([]corpus.Block, 0, (last+1)*len(piece))
			}
			blocks = append(blocks, piece...)
			return err
		})
	return blocks, err
}

// passageText is the text of a passage (as p). Those of a large document have none of their own: it is what stands in
// the document's text, whose pieces have the numbers of their first runes. An earlier version packed them. It reads
// from the last piece that begins at or before the passage to the one that holds its end, and cuts the runes out by the
// first piece's number.
const passageText = `CASE WHEN p.text <> '' THEN p.text WHEN p.packed IS NOT NULL THEN unpacked(p.text, p.packed)
	WHEN p.end_off = p.start_off THEN ''
	ELSE (SELECT substr(group_concat(CASE WHEN x.packed IS NULL THEN x.body ELSE unpacked(x.body, x.packed) END, ''
			ORDER BY x.at), p.start_off - (min(x.at) & 0xffffffff) + 1, p.end_off - p.start_off)
		FROM texts x WHERE x.at < p.content << 32 | p.end_off
		AND x.at >= (SELECT max(y.at) FROM texts y WHERE y.at <= p.content << 32 | p.start_off))
	END`
