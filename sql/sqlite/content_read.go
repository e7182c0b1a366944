package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"footnote/chat"
	"footnote/corpus"
	"footnote/sql/pack"
)

// eachPiece calls each with every row of a query on the content of a document in scope. The query starts from documents
// (as d), so that it sees one version of the content in one snapshot, whatever is replaced meanwhile.
// args are $4 and so on.
func (ds *Documents) eachPiece(
	ctx context.Context, s chat.Scope, id, columns, from, order string, args []any, each func(scanner) error,
) error {
	n, err := ds.readPieces(ctx, `SELECT `+columns+` FROM documents d JOIN `+from+`
		WHERE d.id = $3 AND`+inScope+`ORDER BY `+order, append(dialect.ScopeArgs(s, id), args...), each)
	if err != nil {
		return fmt.Errorf("content of document %s: %w", id, err)
	}
	if n == 0 {
		_, err = ds.Get(ctx, s, id)
	}
	return err
}

func (ds *Documents) readPieces(
	ctx context.Context, query string, args []any, each func(scanner) error,
) (n int, err error) {
	rows, err := ds.db.queryRows(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for ; rows.Next(); n++ {
		if err := each(rows); err != nil {
			return n, failure(err)
		}
	}
	return n, failure(rows.Err())
}

// textsOf is the condition for the rows of texts (as x) that are a content's.
func textsOf(content string) string {
	return `x.at BETWEEN ` + content + ` << 32 AND ` + content + ` << 32 | 0xffffffff`
}

// Text returns the canonical text; see corpus.Documents.
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

// partPieces is how many pieces a part of a large text has at most.
const partPieces = bytesPerWrite / packedPiece

// TextPart returns some stored pieces of the canonical text; see corpus.Documents.
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

// Blocks returns the blocks without their words; see corpus.Documents.
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

// Words returns word boxes that overlap a range; see corpus.Documents.
func (ds *Documents) Words(ctx context.Context, s chat.Scope, id string, start, end int) ([]corpus.WordBox, error) {
	var found []corpus.WordBox
	err := ds.eachPiece(ctx, s, id, `x.body`, `content_words x ON x.content = d.content AND x.start_off < $4
		AND x.end_off > $5`, `x.piece`,
		[]any{end, start}, func(row scanner) error {
			var body []byte
			if err := row.Scan(&body); err != nil {
				return err
			}
			words, err := corpus.Words(body).Unpack()
			for _, w := range words {
				if w.Start < end && w.End > start {
					found = append(found, w)
				}
			}
			return err
		})
	return found, err
}

// PageSizes returns the size of each page; see corpus.Documents.
func (ds *Documents) PageSizes(ctx context.Context, s chat.Scope, id string) (sizes [][2]float64, err error) {
	err = ds.eachPiece(ctx, s, id, `x.sizes`, `contents x ON x.n = d.content`, `x.n`, nil, func(row scanner) error {
		var body []byte
		if err := row.Scan(&body); err != nil {
			return err
		}
		return json.Unmarshal(body, &sizes)
	})
	return sizes, err
}

// passageText is the text of a passage (as p). Those of a large document have none of their own: it is what stands in
// the document's text, whose pieces have the numbers of their first runes. An earlier version packed them.
const passageText = `CASE WHEN p.text <> '' THEN p.text WHEN p.packed IS NOT NULL THEN unpacked(p.text, p.packed)
	WHEN p.end_off = p.start_off THEN ''
	ELSE (SELECT substr(group_concat(CASE WHEN x.packed IS NULL THEN x.body ELSE unpacked(x.body, x.packed) END, ''
			ORDER BY x.at), p.start_off - (min(x.at) & 0xffffffff) + 1, p.end_off - p.start_off)
		FROM texts x WHERE x.at < p.content << 32 | p.end_off
		AND x.at >= (SELECT max(y.at) FROM texts y WHERE y.at <= p.content << 32 | p.start_off))
	END`

// passageColumns are what scanPassage reads of passages (as p).
const passageColumns = `p.id, p.ordinal, p.start_off, p.end_off, p.first_block, p.last_block, p.page, p.section,
	p.tokens, ` + passageText

func scanPassage(row scanner, p *corpus.Passage, more ...any) error {
	return row.Scan(append([]any{
		&p.ID, &p.Ordinal, &p.Start, &p.End, &p.FirstBlock, &p.LastBlock, &p.Page, &p.Section, &p.Tokens, &p.Text,
	}, more...)...)
}

// Passages returns a document's passages; see corpus.Documents.
func (ds *Documents) Passages(ctx context.Context, s chat.Scope, id string, from, to int) ([]corpus.Passage, error) {
	from = max(from, 0)
	if to < 0 {
		to = math.MaxInt32
	}
	var list []corpus.Passage
	err := ds.eachPiece(ctx, s, id, passageColumns, `contents c ON c.n = d.content JOIN passages p
		ON p.row >= c.first_row + $4 AND p.row < c.first_row + min($5, c.passages)`, `p.row`, []any{from, to},
		func(row scanner) error {
			p := corpus.Passage{DocumentID: id}
			err := scanPassage(row, &p)
			list = append(list, p)
			return err
		})
	return list, err
}

// PassagesByID returns passages in the order of ids; see corpus.Documents.
func (ds *Documents) PassagesByID(ctx context.Context, s chat.Scope, ids []string) ([]corpus.Passage, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var list []corpus.Passage
	_, err := ds.readPieces(ctx, `SELECT `+passageColumns+`, d.id FROM json_each($3) wanted CROSS JOIN passages p
		ON p.id = wanted.value
		JOIN contents c ON c.n = p.content AND c.live = 1 JOIN documents d
		ON d.n = c.document AND`+inScope+`ORDER BY wanted.key`,
		dialect.ScopeArgs(s, names(ids)), func(row scanner) error {
			var p corpus.Passage
			err := scanPassage(row, &p, &p.DocumentID)
			list = append(list, p)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("passages by id: %w", err)
	}
	return list, nil
}
