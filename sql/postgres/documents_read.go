package postgres

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"footnote/chat"
	"footnote/corpus"
	"footnote/sql/cursor"
)

// inScope restricts documents (d) to those of a scope that are not deleted. It takes scopeArgs as $1 and $2.
const inScope = ` d.deleted_at = 0 AND d.user_id = $1 AND (cardinality($2::text[]) = 0 OR d.namespace = ANY ($2)) `

// notHidden restricts a list to documents of namespaces that are not hidden, unless the scope names its namespaces.
func notHidden(s chat.Scope) string {
	if len(s.Namespaces) > 0 {
		return ""
	}
	return ` AND NOT starts_with(d.namespace, '.') `
}

func scopeArgs(s chat.Scope, more ...any) []any {
	names := s.Namespaces
	if names == nil {
		names = []string{}
	}
	return append([]any{s.User, names}, more...)
}

// Get returns a document; see corpus.Documents.
func (ds *Documents) Get(ctx context.Context, s chat.Scope, id string) (corpus.Document, error) {
	return ds.oneDocument(ctx, s, `SELECT`+documentColumns+`FROM documents d WHERE id = $3 AND`+inScope, id)
}

// AtPath returns the document at a path; see corpus.Documents.
func (ds *Documents) AtPath(ctx context.Context, s chat.Scope, path string) (corpus.Document, error) {
	return ds.oneDocument(ctx, s, `SELECT`+documentColumns+`FROM documents d WHERE path = $3 AND`+inScope+`LIMIT 1`,
		path)
}

func (ds *Documents) oneDocument(
	ctx context.Context, s chat.Scope, query, named string,
) (corpus.Document, error) {
	read := func(row scanner) (corpus.Document, error) { return scanDocument(row) }
	found, err := queryList(ctx, ds.db, shortTime, read, query, scopeArgs(s, named)...)
	if err != nil {
		return corpus.Document{}, fmt.Errorf("read document: %w", err)
	}
	if len(found) == 0 {
		return corpus.Document{}, errNoDocument
	}
	return found[0], nil
}

// A condition is a part of a WHERE clause with the arguments of all of it.
type condition struct {
	text strings.Builder
	args []any
}

// addCondition adds a condition in which each "?" stands for the next value.
func (c *condition) addCondition(condition string, values ...any) {
	c.text.WriteString(" AND ")
	for _, value := range values {
		before, after, _ := strings.Cut(condition, "?")
		c.args = append(c.args, value)
		c.text.WriteString(before + "$" + strconv.Itoa(len(c.args)))
		condition = after
	}
	c.text.WriteString(condition)
}

// listedDocument is a document with its place in a list.
type listedDocument struct {
	corpus.Document
	n    int64
	fold string
}

// List returns one page of documents; see corpus.Documents.
func (ds *Documents) List(ctx context.Context, s chat.Scope, f corpus.Filter) ([]corpus.Document, string, error) {
	on, err := cursor.ForDocuments(f)
	if err != nil {
		return nil, "", err
	}
	where, err := documentFilter(s, f)
	if err != nil {
		return nil, "", err
	}
	if len(on.After) > 0 {
		where.addCondition(on.Keyset, on.After...)
	}
	read := func(from scanner) (r listedDocument, err error) {
		r.Document, err = scanDocument(from, &r.n, &r.fold)
		return r, err
	}
	rows, err := queryList(ctx, ds.db, shortTime, read,
		`SELECT`+documentColumns+`, d.n, d.title_fold FROM documents d WHERE`+where.text.String()+
			` ORDER BY `+on.Order+` LIMIT `+strconv.Itoa(on.Limit+1), where.args...)
	if err != nil {
		return nil, "", fmt.Errorf("list documents: %w", err)
	}
	next := ""
	if len(rows) > on.Limit {
		rows = rows[:on.Limit]
		last := rows[on.Limit-1]
		next = on.Next(last.Document, last.fold, last.n)
	}
	list := make([]corpus.Document, len(rows))
	for i, r := range rows {
		list[i] = r.Document
	}
	return list, next, nil
}

// documentFilter is what f asks for as a condition on documents (d).
func documentFilter(s chat.Scope, f corpus.Filter) (*condition, error) {
	where := &condition{}
	if f.Everyone {
		where.text.WriteString(` d.deleted_at = 0` + notHidden(chat.Scope{}))
	} else {
		where.args = scopeArgs(s)
		where.text.WriteString(inScope + notHidden(s))
	}
	if f.Text != "" {
		where.addCondition(`strpos(d.search_fold, ?) > 0`, strings.ToLower(f.Text))
	}
	if len(f.States) > 0 {
		states := make([]string, len(f.States))
		for i, state := range f.States {
			states[i] = string(state)
		}
		where.addCondition(`d.state = ANY (?)`, states)
	}
	if len(f.IDs) > 0 {
		where.addCondition(`d.id = ANY (?)`, f.IDs)
	}
	if f.MIME != "" {
		where.addCondition(`starts_with(d.mime, ?)`, f.MIME)
	}
	if !f.AddedAfter.IsZero() {
		where.addCondition(`d.created_at > ?`, f.AddedAfter.UnixMicro())
	}
	if !f.AddedBefore.IsZero() {
		where.addCondition(`d.created_at < ?`, f.AddedBefore.UnixMicro())
	}
	if f.HasMeta != "" {
		where.addCondition(`d.meta -> ?::text IS NOT NULL`, f.HasMeta)
	}
	if f.DatedFrom != "" || f.DatedTo != "" {
		where.addCondition(`EXISTS (SELECT
			FROM jsonb_each_text(CASE jsonb_typeof(d.meta) WHEN 'object' THEN d.meta ELSE '{}' END) AS m (key, day)
			WHERE key IN ('date', 'year', 'published') AND day ~ '^[0-9]{4}'
			AND left(?::text, length(day)) COLLATE "C" <= day
			AND left(day, length(?::text)) COLLATE "C" <= ?::text)`, f.DatedFrom, cmp.Or(f.DatedTo, "9999"),
			cmp.Or(f.DatedTo, "9999"))
	}
	for key, values := range f.MetaAny {
		wanted, err := toJSONB(values)
		if err != nil {
			return nil, err
		}
		// What is wanted is read once for all documents, not for each.
		where.addCondition(`(d.meta -> ?::text IN (SELECT jsonb_array_elements(?::jsonb))
			OR EXISTS (SELECT FROM jsonb_array_elements(
			CASE jsonb_typeof(d.meta -> ?::text) WHEN 'array' THEN d.meta -> ?::text ELSE '[]' END) e
			WHERE e IN (SELECT jsonb_array_elements(?::jsonb))))`,
			key, wanted, key, key, wanted)
	}
	for key, value := range f.Meta {
		wanted, err := toJSONB(value)
		if err != nil {
			return nil, err
		}
		where.addCondition(`(d.meta -> ?::text = ?::jsonb
			OR EXISTS (SELECT 1 FROM jsonb_array_elements(CASE jsonb_typeof(d.meta -> ?::text)
			WHEN 'array' THEN d.meta -> ?::text ELSE '[]' END) e WHERE e = ?::jsonb))`, key, wanted, key, key, wanted)
	}
	return where, nil
}

// Count says how much is in scope; see corpus.Documents.
func (ds *Documents) Count(ctx context.Context, s chat.Scope) (c corpus.Counts, err error) {
	err = ds.db.queryRow(ctx, shortTime,
		`SELECT count(*), count(*) FILTER (WHERE state = 'ready'), count(*) FILTER (WHERE state = 'failed'),
		count(*) FILTER (WHERE state IN ('queued', 'parsing', 'indexing')), coalesce(sum(passages), 0),
		coalesce(sum(pages), 0), coalesce(sum(passages - CASE WHEN progress::json ->> 'stage' = 'embedding'
			THEN (progress::json ->> 'done')::int ELSE 0 END)
			FILTER (WHERE state = 'ready' AND semantic = 'pending'), 0)
		FROM documents d WHERE`+inScope+notHidden(s), scopeArgs(s), &c.Documents, &c.Ready, &c.Failed, &c.Working,
		&c.Passages, &c.Pages, &c.Unembedded)
	return c, err
}

// MetaTexts returns what documents have under a key; see corpus.Documents.
func (ds *Documents) MetaTexts(ctx context.Context, s chat.Scope, key string) ([]string, error) {
	return queryList(ctx, ds.db, shortTime, scanValue[string],
		`SELECT DISTINCT (v #>> '{}') COLLATE "C" FROM documents d, LATERAL jsonb_array_elements(
		CASE jsonb_typeof(d.meta -> $3::text) WHEN 'array' THEN d.meta -> $3::text ELSE jsonb_build_array(d.meta ->
			$3::text) END) v
		WHERE`+inScope+notHidden(s)+`AND jsonb_typeof(v) = 'string' ORDER BY 1`, scopeArgs(s, key)...)
}

// Namespaces returns names of those with documents; see corpus.Documents.
func (ds *Documents) Namespaces(ctx context.Context, s chat.Scope, limit int) ([]string, error) {
	return queryList(ctx, ds.db, shortTime, scanValue[string],
		`SELECT d.namespace FROM documents d WHERE`+inScope+notHidden(s)+
			`GROUP BY d.namespace ORDER BY d.namespace COLLATE "C" LIMIT $3`, scopeArgs(s, limit)...)
}

// Version changes with everything that a search could see; see corpus.Documents.
func (ds *Documents) Version(ctx context.Context, s chat.Scope) (v int64, err error) {
	err = ds.db.queryRow(
		ctx, shortTime, `SELECT coalesce((SELECT version FROM corpus_versions WHERE user_id = $1), 0)`, []any{s.User},
		&v,
	)
	return v, err
}

// BytesInUse reports whether a document has these bytes; see corpus.Documents. While an older version serves, a
// document has the bytes of both.
func (ds *Documents) BytesInUse(ctx context.Context, sha256 string) (used bool, err error) {
	err = ds.db.queryRow(ctx, shortTime, `SELECT EXISTS (SELECT FROM documents WHERE sha256 = $1)
		OR EXISTS (SELECT FROM contents WHERE sha256 = $1)`,
		[]any{sha256}, &used)
	return used, err
}

// IndexedBytes returns the version that serves; see corpus.Documents.
func (ds *Documents) IndexedBytes(ctx context.Context, id string) (sha256 string, err error) {
	err = ds.db.queryRow(
		ctx, shortTime,
		`SELECT coalesce((SELECT c.sha256 FROM documents d JOIN contents c ON c.n = d.content WHERE d.id = $1), '')`,
		[]any{id}, &sha256,
	)
	return sha256, err
}
