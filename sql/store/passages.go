package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/postings"
)

// ReadPieces reads rows that belong to the content of a document in scope. The statement starts from documents (as d),
// so that it sees one version of the content, whatever is replaced meanwhile; args are $4 and so on. An empty result
// may mean that there is no such document or that it has no such pieces, so only then is the document looked up.
func ReadPieces[T any](
	ctx context.Context, ds *Documents, s chat.Scope, id, columns, from, order string, read func(Row) (T, error),
	args ...any,
) ([]T, error) {
	list, err := readList(ds.db.Alone(ctx, Patient), read, `SELECT `+columns+` FROM documents d JOIN `+from+`
		WHERE d.id = $3 AND`+ds.sql.Shown()+`ORDER BY `+order, append(ds.sql.ScopeArgs(s, id), args...)...)
	if err == nil && len(list) == 0 {
		_, err = ds.Get(ctx, s, id)
	}
	if err != nil {
		return nil, fmt.Errorf("content of document %s: %w", id, err)
	}
	return list, nil
}

// scanBytes reads a row of one column.
func scanBytes(row Row) (b []byte, err error) {
	err = row.Scan(&b)
	return b, err
}

// PageSizes returns the size of each page; see corpus.Documents. They are in points, as PDF counts, width before
// height.
func (ds *Documents) PageSizes(ctx context.Context, s chat.Scope, id string) (sizes [][2]float64, err error) {
	bodies, err := ReadPieces(ctx, ds, s, id, `c.sizes`, `contents c ON c.n = d.content`, `c.n`, scanBytes)
	if err != nil || len(bodies) == 0 {
		return nil, err
	}
	if err := json.Unmarshal(bodies[0], &sizes); err != nil {
		return nil, fmt.Errorf("sizes of document %s: %w", id, err)
	}
	return sizes, nil
}

// Words returns word boxes that overlap a range; see corpus.Documents. Pieces of many words are found by their ranges,
// and the words in them then sorted out here.
func (ds *Documents) Words(ctx context.Context, s chat.Scope, id string, start, end int) ([]corpus.WordBox, error) {
	bodies, err := ReadPieces(ctx, ds, s, id, `w.body`, `content_words w ON w.content = d.content AND w.start_off < $4
		AND w.end_off > $5`, `w.piece`, scanBytes, end, start)
	var found []corpus.WordBox
	for _, body := range bodies {
		words, err := corpus.Words(body).Unpack()
		if err != nil {
			return nil, fmt.Errorf("words of document %s: %w", id, err)
		}
		for _, w := range words {
			if w.Start < end && w.End > start {
				found = append(found, w)
			}
		}
	}
	return found, err
}

// passageColumns are what scanPassage reads of documents (as d) and passages (as p), before the text. The two must be
// changed together.
const passageColumns = `d.id, p.id, p.ordinal, p.start_off, p.end_off, p.first_block, p.last_block, p.page, p.section,
	p.tokens, `

// scanPassage reads passageColumns and the dialect's columns of text behind them.
func (ds *Documents) scanPassage(row Row) (p corpus.Passage, err error) {
	p.Text, err = ds.sql.ScanText(row, &p.DocumentID, &p.ID, &p.Ordinal, &p.Start, &p.End, &p.FirstBlock,
		&p.LastBlock, &p.Page, &p.Section, &p.Tokens)
	return p, err
}

// Passages returns a document's passages; see corpus.Documents. from and to are held to 32 bits, which the databases'
// sums stay clear of overflow with. A passage's number in its document is its row less the content's first row.
func (ds *Documents) Passages(ctx context.Context, s chat.Scope, id string, from, to int) ([]corpus.Passage, error) {
	from = min(max(from, 0), math.MaxInt32)
	if to < 0 {
		to = math.MaxInt32
	}
	return ReadPieces(ctx, ds, s, id, passageColumns+ds.sql.TextColumns, `contents c ON c.n = d.content
		JOIN passages p ON p.row >= c.first_row + $4 AND p.row < c.first_row +
			CASE WHEN CAST($5 AS bigint) < c.passages THEN CAST($5 AS bigint) ELSE c.passages END`+ds.sql.OfText,
		`p.row`, ds.scanPassage, from, to)
}

// PassagesByID returns passages in the order of ids; see corpus.Documents. Ids that are not found, hidden or another
// user's are left out.
func (ds *Documents) PassagesByID(ctx context.Context, s chat.Scope, ids []string) ([]corpus.Passage, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := readList(ds.db.Alone(ctx, Patient), ds.scanPassage, `SELECT `+passageColumns+ds.sql.TextColumns+`
		FROM `+ds.sql.Wanted+` JOIN documents d ON d.n = c.document`+ds.sql.OfText+` WHERE`+ds.sql.Shown()+`
		ORDER BY wanted.key`, ds.sql.ScopeArgs(s, ds.sql.Names(ids))...)
	return list, wrap(err, "passages by id")
}

// Texts implements postings.Store.
func (x *Index) Texts(ctx context.Context, rows []uint32) ([]postings.Text, error) {
	return readList(x.db.Alone(ctx, Patient), func(row Row) (t postings.Text, err error) {
		t.Text, err = x.sql.ScanText(row, &t.Row, &t.Title, &t.Language, &t.Section)
		return t, err
	}, `SELECT p.row, d.title, d.language, p.section, `+x.sql.TextColumns+` FROM passages p
		JOIN contents c ON c.n = p.content JOIN documents d ON d.n = c.document`+x.sql.OfText+`
		WHERE `+x.sql.Among("p.row", "$1"), x.sql.Numbers(numbers(rows)))
}

// numbers are rows as a Dialect takes them.
func numbers(rows []uint32) []int64 {
	list := make([]int64, len(rows))
	for i, row := range rows {
		list[i] = int64(row)
	}
	return list
}
