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

// ScopeArgs returns the arguments of a dialect's InScope, followed by more.
func (d *Dialect) ScopeArgs(s chat.Scope, more ...any) []any {
	return append([]any{s.User, d.Names(s.Namespaces)}, more...)
}

// Shown returns the condition for undeleted rows in a scope, of a table (d) with user and namespace; see InScope.
// Every statement that returns documents to a user must have it.
func (d *Dialect) Shown() string { return ` d.deleted_at = 0 AND` + d.InScope }

// NotHidden returns a condition that excludes internal namespaces from a list (d), unless the scope has namespaces.
// Web pages that a run has read are in such namespaces, and would otherwise appear among the user's documents.
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

// oneDocument reads the document of a condition in scope. At most one visible document has a path.
func (ds *Documents) oneDocument(ctx context.Context, s chat.Scope, which, named string) (corpus.Document, error) {
	d, err := readOne(ds.db.Autocommit(ctx, 0), func(row Row) (corpus.Document, error) { return scanDocument(row) },
		`SELECT`+documentColumns+`FROM documents d WHERE `+which+` AND`+ds.sql.Shown()+`LIMIT 1`,
		ds.sql.ScopeArgs(s, named)...)
	if errors.Is(err, sql.ErrNoRows) {
		return d, errNoDocument
	}
	return d, wrap(err, "read document")
}

// Conditions are a WHERE clause on documents (d) with its arguments. Its text consists of fixed parts; only
// arguments are from a request.
type Conditions struct {
	From string // precedes documents in FROM; see Dialect.Filter
	Once bool   // the text depends on the request

	text strings.Builder
	args []any
}

// Add adds a condition in which each "?" is replaced by the parameter of the next value. A condition may not contain
// other question marks.
func (c *Conditions) Add(condition string, values ...any) {
	c.text.WriteString(" AND ")
	for _, value := range values {
		before, after, _ := strings.Cut(condition, "?")
		c.text.WriteString(before + c.Arg(value))
		condition = after
	}
	c.text.WriteString(condition)
}

// Arg adds an argument and returns its parameter.
func (c *Conditions) Arg(value any) string {
	c.args = append(c.args, value)
	return "$" + strconv.Itoa(len(c.args))
}

// List returns one page of documents; see corpus.Documents. Keyset pagination by the last document's position,
// instead of an offset, neither repeats nor skips documents after concurrent changes. It reads one row more than the
// page, so the position of the previous row is stored.
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
	care := Options(0)
	if where.Once {
		care = Once
	}
	var n, nBefore int64 // of the last row, and of the previous one
	var fold, foldBefore string
	list, err := readList(ds.db.Autocommit(ctx, care), func(row Row) (corpus.Document, error) {
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

// filter returns the conditions of f. An administrator's list (Everyone) has no user, but still excludes internal
// namespaces.
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

// Count returns the counts in scope; see corpus.Documents. A single query makes them consistent. Unembedded passages
// are those of documents with pending vectors, minus their progress.
func (ds *Documents) Count(ctx context.Context, s chat.Scope) (c corpus.Counts, err error) {
	err = ds.db.Autocommit(ctx, 0).One(
		`SELECT count(*), count(*) FILTER (WHERE d.state = 'ready'), count(*) FILTER (WHERE d.state = 'failed'),
		count(*) FILTER (WHERE d.state IN ('queued', 'parsing', 'indexing')), coalesce(sum(d.passages), 0),
		coalesce(sum(d.pages), 0), coalesce(sum(CASE WHEN d.state = 'ready' AND d.semantic = 'pending' THEN d.passages -
			CASE WHEN `+ds.sql.Field("d.progress", "stage")+` = 'embedding'
			THEN CAST(`+ds.sql.Field("d.progress", "done")+` AS int) ELSE 0 END END), 0)
		FROM documents d WHERE`+ds.sql.Shown()+NotHidden(s), ds.sql.ScopeArgs(s), &c.Documents, &c.Ready, &c.Failed,
		&c.Working, &c.Passages, &c.Pages, &c.Unembedded)
	return c, err
}

// scanText decodes a row of one text.
func scanText(row Row) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// MetaTexts returns the values under a key of meta; see corpus.Documents. They are sorted bytewise here, as the
// databases' collations differ.
func (ds *Documents) MetaTexts(ctx context.Context, s chat.Scope, key string) ([]string, error) {
	texts, err := readList(ds.db.Autocommit(ctx, 0), scanText, ds.sql.SelectMetaTexts+ds.sql.Shown()+NotHidden(s),
		ds.sql.ScopeArgs(s, key)...)
	slices.Sort(texts)
	return texts, err
}

// Namespaces returns namespaces with documents; see corpus.Documents.
func (ds *Documents) Namespaces(ctx context.Context, s chat.Scope, limit int) ([]string, error) {
	return readList(ds.db.Autocommit(ctx, 0), scanText, `SELECT d.namespace FROM documents d WHERE`+ds.sql.Shown()+
		NotHidden(s)+`GROUP BY d.namespace ORDER BY d.namespace`+ds.sql.Bytewise+` LIMIT CAST($3 AS bigint)`,
		ds.sql.ScopeArgs(s, limit)...)
}

// Version changes with every possible change of search results; see corpus.Documents. It is 0 for a user without
// documents.
func (ds *Documents) Version(ctx context.Context, s chat.Scope) (v int64, err error) {
	err = ds.db.Autocommit(ctx, 0).One(
		`SELECT coalesce((SELECT version FROM corpus_versions WHERE user_id = $1), 0)`, []any{s.User}, &v,
	)
	return v, err
}

// BytesInUse reports whether a document refers to these bytes; see corpus.Documents. During the processing of a new
// version, a document refers to the bytes of both. It is checked before an original is deleted, so a false result
// loses a file: all references must be included.
func (ds *Documents) BytesInUse(ctx context.Context, sha256 string) (used bool, err error) {
	err = ds.db.Autocommit(ctx, 0).One(`SELECT EXISTS (SELECT 1 FROM documents WHERE sha256 = $1)
		OR EXISTS (SELECT 1 FROM contents c WHERE c.sha256 = $1`+ds.sql.Serving+`)`, []any{sha256}, &used)
	return used, err
}

// IndexedBytes returns the hash of the current content; see corpus.Documents.
func (ds *Documents) IndexedBytes(ctx context.Context, id string) (sha256 string, err error) {
	err = ds.db.Autocommit(ctx, 0).One(
		`SELECT coalesce((SELECT c.sha256 FROM documents d JOIN contents c ON c.n = d.content WHERE d.id = $1), '')`,
		[]any{id}, &sha256,
	)
	return sha256, err
}

// ReadPieces reads rows of a document's content in scope. The statement starts from documents (d), so it reads one
// version of the content during a concurrent replacement; args start at $4. An empty result may also mean that the
// document does not exist, which is then looked up.
func ReadPieces[T any](
	ctx context.Context, ds *Documents, s chat.Scope, id, columns, from, order string, read func(Row) (T, error),
	args ...any,
) ([]T, error) {
	list, err := readList(ds.db.Autocommit(ctx, Patient), read, `SELECT `+columns+` FROM documents d JOIN `+from+`
		WHERE d.id = $3 AND`+ds.sql.Shown()+`ORDER BY `+order, append(ds.sql.ScopeArgs(s, id), args...)...)
	if err == nil && len(list) == 0 {
		_, err = ds.Get(ctx, s, id)
	}
	if err != nil {
		return nil, fmt.Errorf("content of document %s: %w", id, err)
	}
	return list, nil
}

// scanBytes decodes a row of one column.
func scanBytes(row Row) (b []byte, err error) {
	err = row.Scan(&b)
	return b, err
}

// PageSizes returns the size of each page; see corpus.Documents. Sizes are in PDF points, width before height.
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

// Words returns the bounding boxes of words that overlap a range; see corpus.Documents. Pieces are selected by their
// ranges in SQL, and their words filtered here.
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

// passageColumns are the columns of documents (d) and passages (p) for scanPassage, before the text; both must be
// changed together.
const passageColumns = `d.id, p.id, p.ordinal, p.start_off, p.end_off, p.first_block, p.last_block, p.page, p.section,
	p.tokens, `

// scanPassage decodes passageColumns followed by the dialect's text columns.
func (ds *Documents) scanPassage(row Row) (p corpus.Passage, err error) {
	p.Text, err = ds.sql.ScanText(row, &p.DocumentID, &p.ID, &p.Ordinal, &p.Start, &p.End, &p.FirstBlock,
		&p.LastBlock, &p.Page, &p.Section, &p.Tokens)
	return p, err
}

// Passages returns a document's passages; see corpus.Documents. from and to are clamped to 32 bits, so that sums in
// SQL don't overflow. A passage's ordinal is its row minus the content's first row.
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

// PassagesByID returns passages in the order of ids; see corpus.Documents. Unknown and invisible IDs are skipped.
func (ds *Documents) PassagesByID(ctx context.Context, s chat.Scope, ids []string) ([]corpus.Passage, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := readList(ds.db.Autocommit(ctx, Patient), ds.scanPassage, `SELECT `+passageColumns+ds.sql.TextColumns+`
		FROM `+ds.sql.Wanted+` JOIN documents d ON d.n = c.document`+ds.sql.OfText+` WHERE`+ds.sql.Shown()+`
		ORDER BY wanted.key`, ds.sql.ScopeArgs(s, ds.sql.Names(ids))...)
	return list, wrap(err, "passages by id")
}

// Texts implements postings.Store.
func (x *Index) Texts(ctx context.Context, rows []uint32) ([]postings.Text, error) {
	return readList(x.db.Autocommit(ctx, Patient), func(row Row) (t postings.Text, err error) {
		t.Text, err = x.sql.ScanText(row, &t.Row, &t.Title, &t.Language, &t.Section)
		return t, err
	}, `SELECT p.row, d.title, d.language, p.section, `+x.sql.TextColumns+` FROM passages p
		JOIN contents c ON c.n = p.content JOIN documents d ON d.n = c.document`+x.sql.OfText+`
		WHERE `+x.sql.Among("p.row", "$1"), x.sql.Numbers(numbers(rows)))
}

// numbers converts rows for a Dialect.
func numbers(rows []uint32) []int64 {
	list := make([]int64, len(rows))
	for i, row := range rows {
		list[i] = int64(row)
	}
	return list
}
