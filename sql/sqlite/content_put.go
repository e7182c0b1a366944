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

// Sizes of the pieces that content is written in. A transaction writes about one, so that a large document doesn't
// block the writes of running answers.
const (
	passagesPerWrite = 64
	bytesPerWrite    = 512 << 10
	plainPiece       = 1300 // bytes of a large text: a passage is in one or several; 3 fill a page
	packedPiece      = 2560 // bytes of a text to compress: 2 of them fill a page
	blocksPerPiece   = 2000
	wordsPerPiece    = 4000
)

// contentWrite is one PutContent in progress. Its pieces are written under a content number without references; the
// last transaction makes it the document's content. Concurrent readers see the old content. After a crash
// unreferenced rows remain; unreferencedContents finds them by their age. It is used by one goroutine. content is 0
// before its row exists, and after a rollback of its transaction.
type contentWrite struct {
	ds       *Documents
	id       string
	c        corpus.Content
	document int64
	content  int64
	firstRow int64
	segment  int64  // of the lexical index
	owner    string // the document's user
	steps    []step // pending writes, in order

	nextTerms func() (corpus.Terms, bool) // of the next passage
	postings  *postings.Builder           // of the passages so far
	lengths   []byte                      // of the passages so far
}

// PutContent replaces a document's content; see corpus.Documents. After a failure, the old content stays. It splits
// everything into pieces in memory, writes them in transactions of about bytesPerWrite, and publishes in the last
// one. Cleaning up, after success or failure, ignores the caller's cancelled context, since otherwise only the next
// purge would do it. After publishing, errors are only logged.
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
	if err := postings.Compact(ctx, ds.db.newPostingStore(), w.owner, false); err != nil { // not urgent
		ds.db.log.WarnContext(ctx, "searches are a little slower until the index is tidied", "error", err)
	}
	if old > 0 {
		if err := ds.removeContent(context.WithoutCancel(ctx), old); err != nil { // the new content is already visible
			ds.db.log.WarnContext(ctx, "old content stays until the next purge", "document", id, "error", err)
		}
	}
	return nil
}

// largeText is the minimum length in bytes of a document's text from which passages are read from it. Storing them
// separately would take more disk space than four times the file and 1 MiB.
const largeText = 768 << 10

// isLarge reports whether passages have no text of their own.
func (w *contentWrite) isLarge() bool { return len(w.c.Extracted.Text) >= largeText }

// planSteps splits the content into steps without writing: text, blocks, words of pages, passages, in this order.
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
	const passageCost = bytesPerWrite / passagesPerWrite // the cost is mostly indexing, not bytes
	for i := range w.c.Passages {
		w.steps = append(w.steps, step{cost: max(passageCost, len(w.c.Passages[i].Text)), passage: i + 1})
	}
	return nil
}

// planText splits the text into pieces. A piece's number is the offset of its first rune, so that a passage finds
// its pieces by its own offsets (passageText). The upper 32 bits of a row's key are the content's number, the lower
// ones that of the piece.
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

// step is one pending write.
type step struct {
	cost    int             // in bytes
	fn      func(*tx) error // nil: a passage
	passage int             // from 1
}

// addStep adds a write with a cost in bytes.
func (w *contentWrite) addStep(cost int, fn func(*tx) error) {
	w.steps = append(w.steps, step{cost: cost, fn: fn})
}

// analyseTerms counts the terms of the passages of some steps. Analysis is most of the work, so it runs before the
// transaction, while the writer serves others.
func (w *contentWrite) analyseTerms(steps []step) {
	for _, s := range steps {
		if s.passage == 0 {
			continue
		}
		terms, _ := w.nextTerms() // PutContent has validated their number
		w.lengths = binary.LittleEndian.AppendUint16(w.lengths, uint16(min(w.postings.Add(terms), 1<<16-1)))
	}
}

// writeStep writes one step. Passages have a number instead of a function.
func (w *contentWrite) writeStep(t *tx, s step) error {
	if s.passage > 0 {
		return w.putPassage(t, s.passage-1)
	}
	return s.fn(t)
}

// textCut returns the end of the first piece of text: at most so many bytes, between two runes.
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

// planWords splits the bounding boxes of words into pieces, indexed by their text range, so a quote reads one or two
// pieces.
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

// writeSteps writes the steps, then the index, and publishes the content. Small content takes a single transaction.
// Every transaction checks that the document still wants this version, so a cancelled or replaced one stops early.
// Index pages are written after all passages were counted; they may take several more transactions, and the last one
// publishes.
func (w *contentWrite) writeSteps(ctx context.Context) (old int64, err error) {
	if err := w.ds.db.writeBulk(ctx, false, w.beginContent); err != nil {
		w.content = 0 // it was rolled back
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
				return err // stop early
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

// somePages returns the pages for one transaction. last is true at the end or after an error, so that an incomplete
// index is never continued.
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

// beginContent allocates a content number, a range of passage numbers and a segment of the index. Passage numbers
// are from one counter for all documents, so index rows are in the order of indexing. The file's name and hash are
// copied from the document, as this content is served with them even while a newer version is parsed.
func (w *contentWrite) beginContent(t *tx) error {
	if err := w.ds.CheckVersion(t, w.id, w.c.SHA256); err != nil {
		return err // stop early
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

// putPassage inserts a passage's row. Its number is also its row in the lexical index. The last column is for texts
// that an earlier version compressed.
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

// publishContent makes the content the document's current one and returns the number of the replaced one. Both are
// marked with one change number, so that search directories swap them at once.
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
	if err := store.PublishSegment(
		t, postings.Segment{Number: w.segment, Changed: change, Passages: w.postings.Passages()},
	); err != nil {
		return 0, err
	}
	return old, w.ds.Serve(t, served, w.content, w.c)
}

// eachPiece calls each with every row of store.ReadPieces, for callers that collect results themselves.
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

// textsOf returns the condition for the rows of texts (x) of a content. They are one range of the table's key.
func textsOf(content string) string {
	return `x.at BETWEEN ` + content + ` << 32 AND ` + content + ` << 32 | 0xffffffff`
}

// Text returns the canonical text; see corpus.Documents. sql.RawBytes avoids a copy of each piece.
func (ds *Documents) Text(ctx context.Context, s chat.Scope, id string) (string, error) {
	var text strings.Builder
	err := ds.eachPiece(ctx, s, id, `x.body, x.packed, (SELECT bytes FROM contents WHERE n = d.content)`,
		`texts x ON `+textsOf("d.content"), `x.at`, nil, func(row scanner) error {
			var body, packed sql.RawBytes
			var size int
			if err := row.Scan(&body, &packed, &size); err != nil {
				return err
			}
			if text.Len() == 0 && size >= largeText { // avoids copies of a large text as the buffer grows
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

// partPieces is the maximum number of pieces in a part of a large text, so that a part has about bytesPerWrite bytes
// for every kind of piece.
const partPieces = bytesPerWrite / packedPiece

// TextPart returns some stored pieces of the canonical text; see corpus.Documents. Next is the number of the first
// piece after the part, which is the offset of its first rune; 0 at the end. Version is the content's number, with
// which a reader detects a change between two parts.
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

// Blocks returns the blocks without their words; see corpus.Documents. The buffer for a piece is cleared before
// reuse: json.Unmarshal keeps old values of omitted fields.
func (ds *Documents) Blocks(ctx context.Context, s chat.Scope, id string) (blocks []corpus.Block, err error) {
	const last = `(SELECT max(y.piece) FROM content_blocks y WHERE y.content = d.content)`
	var piece []corpus.Block // reused buffer
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
			if last > 0 && blocks == nil { // avoids copies of many blocks as the slice grows
				blocks = make([]corpus.Block, 0, (last+1)*len(piece))
			}
			blocks = append(blocks, piece...)
			return err
		})
	return blocks, err
}

// passageText is the SQL expression of a passage's text (p). Passages of a large document have no text of their own:
// it is read from the document's text, whose pieces are numbered by their first rune. It concatenates the pieces
// from the last one that starts at or before the passage to the one with its end, and cuts out its runes. An earlier
// version compressed passages.
const passageText = `CASE WHEN p.text <> '' THEN p.text WHEN p.packed IS NOT NULL THEN unpacked(p.text, p.packed)
	WHEN p.end_off = p.start_off THEN ''
	ELSE (SELECT substr(group_concat(CASE WHEN x.packed IS NULL THEN x.body ELSE unpacked(x.body, x.packed) END, ''
			ORDER BY x.at), p.start_off - (min(x.at) & 0xffffffff) + 1, p.end_off - p.start_off)
		FROM texts x WHERE x.at < p.content << 32 | p.end_off
		AND x.at >= (SELECT max(y.at) FROM texts y WHERE y.at <= p.content << 32 | p.start_off))
	END`
