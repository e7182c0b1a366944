package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/pack"
	"github.com/footnote/footnote/sql/store"
)

// readColumn reads one column of a document's content, plain or from its compressed column. It returns an empty text
// for a document without content, and chat.CodeNotFound for one outside of the scope (store.ReadPieces).
func (ds *Documents) readColumn(ctx context.Context, s chat.Scope, id, name, packed string) (string, error) {
	read := func(row scanner) (text string, err error) {
		var short []byte
		if err = row.Scan(&text, &short); err == nil {
			text, err = unpackText(text, short)
		}
		return text, err
	}
	list, err := store.ReadPieces(
		ctx, ds.Documents, s, id, `c.`+name+`, `+packed, `contents c ON c.n = d.content`, `c.n`, read,
	)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[0], nil
}

// Text returns the canonical text; see corpus.Documents. It is stored in one of three formats: plain, compressed as
// a whole (copied from SQLite), or compressed in pieces.
func (ds *Documents) Text(ctx context.Context, s chat.Scope, id string) (string, error) {
	text, err := ds.readColumn(ctx, s, id, `body`, `c.packed`)
	if err != nil || text != "" {
		return text, err
	}
	pieces, err := store.ReadPieces(
		ctx, ds.Documents, s, id, `x.packed`, `texts x ON x.content = d.content`, `x.start_off`, scanValue[[]byte],
	)
	if err != nil {
		return "", err
	}
	var whole strings.Builder
	for _, packed := range pieces {
		if err := pack.Unpack(&whole, packed); err != nil {
			return "", err
		}
	}
	return whole.String(), nil
}

const (
	// partBytes is the length of a part of a text, for a reader that may be slow.
	partBytes = 512 << 10
	// partPieces is the number of pieces in a part of a large text.
	partPieces = partBytes / bytesPerPiece
	// copiedPiece is the text length of a piece of a copied content.
	copiedPiece = 256 << 10
	// packedPart is the number of compressed bytes read at once: at least one piece, even if it compressed badly.
	packedPart = copiedPiece + copiedPiece/8
)

// TextPart returns a part of the canonical text; see corpus.Documents. The meaning of `at` depends on the format: a
// rune of a large text, a compressed byte of a copied text, or a byte of a plain text. So only Next of the previous
// part is valid.
func (ds *Documents) TextPart(ctx context.Context, s chat.Scope, id string, at int) (corpus.TextPart, error) {
	read := func(row scanner) (part corpus.TextPart, err error) {
		var body, packed []byte
		var length int
		if err := row.Scan(&body, &packed, &length, &part.Version); err != nil {
			return part, err
		}
		n := len(body)
		if len(packed) > 0 {
			if body, n, err = firstPieces(packed); err != nil {
				return part, err
			}
		}
		if part.Text = string(body); at+n < length {
			part.Next = at + n
		}
		return part, nil
	}
	list, err := store.ReadPieces(ctx, ds.Documents, s, id, `substring(convert_to(c.body, 'UTF8') from $4 for $5),
		substring(c.packed from $4 for $6), greatest(octet_length(c.body), octet_length(c.packed)), c.n`,
		`contents c ON c.n = d.content`, `c.n`, read, at+1, partBytes, packedPart)
	if err != nil || len(list) == 0 {
		return corpus.TextPart{}, err
	}
	if list[0].Text != "" || list[0].Next != 0 {
		return list[0], nil
	}
	part, err := ds.largePart(ctx, s, id, at)
	part.Version = list[0].Version
	return part, err
}

// largePart returns a part of a large text from the piece at a rune.
func (ds *Documents) largePart(ctx context.Context, s chat.Scope, id string, at int) (part corpus.TextPart, err error) {
	var text strings.Builder
	n := 0
	_, err = queryList(ctx, ds.db, longTime, func(row scanner) (none struct{}, err error) {
		var packed []byte
		var start int
		if err = row.Scan(&start, &packed); err != nil {
			return none, err
		}
		if n++; n > partPieces {
			part.Next = start
			return none, nil
		}
		return none, pack.Unpack(&text, packed)
	}, fmt.Sprintf(`SELECT x.start_off, x.packed FROM documents d JOIN texts x ON x.content = d.content
		AND x.start_off >= $4 WHERE d.id = $3 AND`+dialect.Shown()+`ORDER BY x.start_off LIMIT %d`, partPieces+1),
		dialect.ScopeArgs(s, id, at)...)
	if err != nil {
		return part, fmt.Errorf("text of document %s: %w", id, err)
	}
	part.Text = text.String()
	return part, nil
}

// firstPieces decompresses the first piece, and further complete ones that fit into a part. n is their compressed
// length in bytes. Consecutive pieces have no separator; where one ends, the next begins.
func firstPieces(packed []byte) (plain []byte, n int, err error) {
	plain, n, err = pack.First(packed)
	for err == nil && n < len(packed) && len(plain)+copiedPiece <= partBytes {
		next, length, err := pack.First(packed[n:])
		if err != nil { // truncated: it begins the next part
			break
		}
		plain, n = append(plain, next...), n+length
	}
	return plain, n, err
}

// Blocks returns the blocks without their words; see corpus.Documents.
func (ds *Documents) Blocks(ctx context.Context, s chat.Scope, id string) (blocks []corpus.Block, err error) {
	err = ds.decodeColumn(ctx, s, id, `blocks`, `c.packed_blocks`, &blocks)
	return blocks, err
}

// decodeColumn is readColumn for a column of JSON. A document without content leaves into unchanged.
func (ds *Documents) decodeColumn(ctx context.Context, s chat.Scope, id, name, packed string, into any) error {
	text, err := ds.readColumn(ctx, s, id, name, packed)
	if err != nil || text == "" {
		return err
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("%s of document %s: %w", name, id, err)
	}
	return nil
}

// textColumns are the columns of passages (p) for scanText. Passages of a large document have no text of their own:
// it is read from the pieces of the document's text.
const textColumns = `p.body, p.packed, p.start_off, p.end_off, t.start_off, t.packed`

// ofText joins to passages (p) the pieces (t) that contain their text, if they have none of their own. The first is
// the last piece that starts at or before the passage.
const ofText = ` LEFT JOIN LATERAL (SELECT min(x.start_off) AS start_off, string_agg(x.packed, '' ORDER BY x.start_off)
	AS packed FROM texts x WHERE p.body = '' AND p.packed = '' AND p.end_off > p.start_off AND x.content = p.content
	AND x.start_off < p.end_off AND x.start_off >= (SELECT max(y.start_off) FROM texts y WHERE y.content = p.content
		AND y.start_off <= p.start_off)) t ON true `

// scanText reads textColumns after other columns. Offsets are in runes, relative to the first rune of the pieces.
func scanText(row scanner, others ...any) (text string, err error) {
	var body string
	var packed, pieces []byte
	var start, end int
	var first *int
	if err := row.Scan(append(others, &body, &packed, &start, &end, &first, &pieces)...); err != nil {
		return "", err
	}
	if first == nil {
		return unpackText(body, packed)
	}
	text, err = unpackText("", pieces)
	if err != nil {
		return "", err
	}
	runes := []rune(text)
	if end-*first > len(runes) {
		return "", fmt.Errorf("a passage ends at %d, its text at %d", end, *first+len(runes))
	}
	return string(runes[start-*first : end-*first]), nil
}
