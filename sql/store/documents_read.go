package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/cursor"
	"github.com/footnote/footnote/sql/postings"
)

// ScopeArgs are the arguments of a dialect's InScope, and more.
func (d *Dialect) ScopeArgs(s chat.Scope, more ...any) []any {
	return append([]any{s.User, d.Names(s.Namespaces)}, more...)
}

// Shown restricts what has a user and a namespace (as d) and can be hidden to a scope; see InScope. It is what every
// statement that returns documents to a user must hold.
func (d *Dialect) Shown() string { return ` d.deleted_at = 0 AND` + d.InScope }

// NotHidden restricts a list of what has a namespace (as d) to namespaces that are not hidden, unless the scope names
// its namespaces. The pages that a run has read lie in such namespaces, and would otherwise stand between a user's own
// documents.
func NotHidden(s chat.Scope) string {
	if len(s.Namespaces) > 0 {
		return ""
	}
	return ` AND substr(d.namespace, 1, 1) <> '.' `
}

// Get returns a document; see corpus.Documents.
func (ds *Documents) Get(ctx context.Context, s chat.Scope, id string) (corpus.Document, error) {
	return ds.oneDocument(ctx, s, `d.id = $3`, id)
}

// AtPath returns the document at a path; see corpus.Documents.
func (ds *Documents) AtPath(ctx context.Context, s chat.Scope, path string) (corpus.Document, error) {
	return ds.oneDocument(ctx, s, `d.path = $3`, path)
}

// oneDocument reads the document that a condition names, if the scope may see it. At most one can be shown at a path.
func (ds *Documents) oneDocument(ctx context.Context, s chat.Scope, which, named string) (corpus.Document, error) {
	d, err := readOne(ds.db.Alone(ctx, 0), func(row Row) (corpus.Document, error) { return scanDocument(row) },
		`SELECT`+documentColumns+`FROM documents d WHERE `+which+` AND`+ds.sql.Shown()+`LIMIT 1`,
		ds.sql.ScopeArgs(s, named)...)
	if errors.Is(err, sql.ErrNoRows) {
		return d, errNoDocument
	}
	return d, wrap(err, "read document")
}

// Conditions are a WHERE clause on documents (as d) with its arguments. Its text is made of fixed pieces; only
// arguments come from a request.
type Conditions struct {
	From string // what stands before documents; see Dialect.Filter
	Once bool   // the text depends on what was asked for

	text strings.Builder
	args []any
}

// Add adds a condition in which each "?" stands for the next value. A condition may not hold a question mark of its
// own.
func (c *Conditions) Add(condition string, values ...any) {
	c.text.WriteString(" AND ")
	for _, value := range values {
		before, after, _ := strings.Cut(condition, "?")
		c.text.WriteString(before + c.Arg(value))
		condition = after
	}
	c.text.WriteString(condition)
}

// Arg adds an argument and returns the parameter that stands for it.
func (c *Conditions) Arg(value any) string {
	c.args = append(c.args, value)
	return "$" + strconv.Itoa(len(c.args))
}

// List returns one page of documents; see corpus.Documents. Pages are cut by the last document's place in the order (a
// keyset) and not by an offset, so documents that come or go meanwhile neither repeat others nor hide them. One row
// more than the page is read, which is why the place of the row before is remembered.
func (ds *Documents) List(ctx context.Context, s chat.Scope, f corpus.Filter) ([]corpus.Document, string, error) {
	on, err := cursor.ForDocuments(f)
	if err != nil {
		return nil, "", err
	}
	where, err := ds.filter(s, f)
	if err != nil {
		return nil, "", err
	}
	if len(on.After) > 0 {
		where.Add(on.Keyset, on.After...)
	}
	limit := where.Arg(on.Limit + 1)
	care := Care(0)
	if where.Once {
		care = Once
	}
	var n, nBefore int64 // of the last document that was read, and of the one before
	var fold, foldBefore string
	list, err := readList(ds.db.Alone(ctx, care), func(row Row) (corpus.Document, error) {
		nBefore, foldBefore = n, fold
		return scanDocument(row, &n, &fold)
	}, `SELECT`+documentColumns+`, d.n, d.title_fold FROM `+where.From+`documents d WHERE`+where.text.String()+
		` ORDER BY `+on.Order+` LIMIT CAST(`+limit+` AS bigint)`, where.args...)
	if err != nil {
		return nil, "", wrap(err, "list documents")
	}
	next := ""
	if len(list) > on.Limit {
		list = list[:on.Limit]
		next = on.Next(list[on.Limit-1], foldBefore, nBefore)
	}
	return list, next, nil
}

// filter is what f asks for. An administrator's list (Everyone) names no user and still leaves hidden namespaces out.
func (ds *Documents) filter(s chat.Scope, f corpus.Filter) (*Conditions, error) {
	where := &Conditions{}
	if f.Everyone {
		where.text.WriteString(` d.deleted_at = 0` + NotHidden(chat.Scope{}))
	} else {
		where.args = ds.sql.ScopeArgs(s)
		where.text.WriteString(ds.sql.Shown() + NotHidden(s))
	}
	if f.Text != "" {
		where.Add(ds.sql.Contains("d.search_fold", "?"), strings.ToLower(f.Text))
	}
	if len(f.States) > 0 {
		states := make([]string, len(f.States))
		for i, state := range f.States {
			states[i] = string(state)
		}
		where.Add(ds.sql.Among("d.state", "?"), ds.sql.Names(states))
	}
	if f.MIME != "" {
		where.Add(`substr(d.mime, 1, length(CAST(? AS text))) = ?`, f.MIME, f.MIME)
	}
	if !f.AddedAfter.IsZero() {
		where.Add(`d.created_at > ?`, f.AddedAfter.UnixMicro())
	}
	if !f.AddedBefore.IsZero() {
		where.Add(`d.created_at < ?`, f.AddedBefore.UnixMicro())
	}
	return where, ds.sql.Filter(where, f)
}

// Count says how much is in scope; see corpus.Documents. One pass over the user's documents gives all numbers, so that
// they belong to one moment. Unembedded passages are those of documents whose vectors are pending, less what their
// progress says is done.
func (ds *Documents) Count(ctx context.Context, s chat.Scope) (c corpus.Counts, err error) {
	err = ds.db.Alone(ctx, 0).One(
		`SELECT count(*), count(*) FILTER (WHERE d.state = 'ready'), count(*) FILTER (WHERE d.state = 'failed'),
		count(*) FILTER (WHERE d.state IN ('queued', 'parsing', 'indexing')), coalesce(sum(d.passages), 0),
		coalesce(sum(d.pages), 0), coalesce(sum(CASE WHEN d.state = 'ready' AND d.semantic = 'pending' THEN d.passages -
			CASE WHEN `+ds.sql.Field("d.progress", "stage")+` = 'embedding'
			THEN CAST(`+ds.sql.Field("d.progress", "done")+` AS int) ELSE 0 END END), 0)
		FROM documents d WHERE`+ds.sql.Shown()+NotHidden(s), ds.sql.ScopeArgs(s), &c.Documents, &c.Ready, &c.Failed,
		&c.Working, &c.Passages, &c.Pages, &c.Unembedded)
	return c, err
}

// scanText reads a row of one text.
func scanText(row Row) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// MetaTexts returns what documents have under a key; see corpus.Documents. They are sorted here, bytewise, as the
// databases sort by different rules.
func (ds *Documents) MetaTexts(ctx context.Context, s chat.Scope, key string) ([]string, error) {
	texts, err := readList(ds.db.Alone(ctx, 0), scanText, ds.sql.SelectMetaTexts+ds.sql.Shown()+NotHidden(s),
		ds.sql.ScopeArgs(s, key)...)
	slices.Sort(texts)
	return texts, err
}

// Namespaces returns names of those with documents; see corpus.Documents.
func (ds *Documents) Namespaces(ctx context.Context, s chat.Scope, limit int) ([]string, error) {
	return readList(ds.db.Alone(ctx, 0), scanText, `SELECT d.namespace FROM documents d WHERE`+ds.sql.Shown()+
		NotHidden(s)+`GROUP BY d.namespace ORDER BY d.namespace`+ds.sql.Bytewise+` LIMIT CAST($3 AS bigint)`,
		ds.sql.ScopeArgs(s, limit)...)
}

// Version changes with everything that a search could see; see corpus.Documents. It is a number to compare with an
// earlier one, and 0 for a user without documents.
func (ds *Documents) Version(ctx context.Context, s chat.Scope) (v int64, err error) {
	err = ds.db.Alone(ctx, 0).One(
		`SELECT coalesce((SELECT version FROM corpus_versions WHERE user_id = $1), 0)`, []any{s.User}, &v,
	)
	return v, err
}

// BytesInUse reports whether a document has these bytes; see corpus.Documents. While an older version serves, a
// document has the bytes of both. It is asked before an original is removed, so a mistake here loses a file: whatever
// may still show the bytes must be in it.
func (ds *Documents) BytesInUse(ctx context.Context, sha256 string) (used bool, err error) {
	err = ds.db.Alone(ctx, 0).One(`SELECT EXISTS (SELECT 1 FROM documents WHERE sha256 = $1)
		OR EXISTS (SELECT 1 FROM contents c WHERE c.sha256 = $1`+ds.sql.Serving+`)`, []any{sha256}, &used)
	return used, err
}

// IndexedBytes returns the version that serves; see corpus.Documents.
func (ds *Documents) IndexedBytes(ctx context.Context, id string) (sha256 string, err error) {
	err = ds.db.Alone(ctx, 0).One(
		`SELECT coalesce((SELECT c.sha256 FROM documents d JOIN contents c ON c.n = d.content WHERE d.id = $1), '')`,
		[]any{id}, &sha256,
	)
	return sha256, err
}

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
