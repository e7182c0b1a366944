package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/pack"
	"github.com/footnote/footnote/sql/store"
)

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
