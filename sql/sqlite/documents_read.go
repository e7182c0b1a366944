package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"footnote/chat"
	"footnote/corpus"
	"footnote/sql/cursor"
	"footnote/sql/store"
)

// inScope restricts documents (as d) to those of a scope that are not deleted. It takes scopeArgs.
const inScope = ` d.deleted_at = 0 AND d.user_id = ? AND (? = '[]' OR d.namespace IN (SELECT value FROM json_each(?))) `

// notHidden restricts a list to documents of namespaces that are not hidden, unless the scope names its namespaces.
func notHidden(s chat.Scope) string {
	if len(s.Namespaces) > 0 {
		return ""
	}
	return ` AND substr(d.namespace, 1, 1) <> '.' `
}

func scopeArgs(s chat.Scope) ([]any, error) {
	names := s.Namespaces
	if names == nil {
		names = []string{}
	}
	list, err := store.ToJSON(names)
	return []any{s.User, list, list}, err
}

// Get returns a document; see corpus.Documents.
func (ds *Documents) Get(ctx context.Context, s chat.Scope, id string) (corpus.Document, error) {
	return ds.oneDocument(ctx, s, `SELECT `+documentColumns+` FROM documents d WHERE id = ? AND`+inScope, id)
}

// AtPath returns the document at a path; see corpus.Documents.
func (ds *Documents) AtPath(ctx context.Context, s chat.Scope, path string) (corpus.Document, error) {
	return ds.oneDocument(ctx, s, `SELECT `+documentColumns+` FROM documents d WHERE path = ? AND`+inScope+`LIMIT 1`,
		path)
}

func (ds *Documents) oneDocument(
	ctx context.Context, s chat.Scope, query, named string,
) (corpus.Document, error) {
	stmt, err := ds.db.prepareStatement(ctx, query)
	if err != nil {
		return corpus.Document{}, err
	}
	args, err := scopeArgs(s)
	if err != nil {
		return corpus.Document{}, err
	}
	d, err := scanDocument(stmt.QueryRowContext(ctx, append([]any{named}, args...)...))
	if errors.Is(err, sql.ErrNoRows) {
		return corpus.Document{}, errNoDocument
	}
	return d, err
}

// List returns one page of documents; see corpus.Documents.
func (ds *Documents) List(ctx context.Context, s chat.Scope, f corpus.Filter) ([]corpus.Document, string, error) {
	on, err := cursor.ForDocuments(f)
	if err != nil {
		return nil, "", err
	}
	where, args, err := documentFilter(s, f)
	if err != nil {
		return nil, "", err
	}
	if len(on.After) > 0 {
		where += ` AND ` + on.Keyset
		args = append(args, on.After...)
	}
	from := ""
	if len(f.IDs) > 0 {
		list, err := store.ToJSON(f.IDs)
		if err != nil {
			return nil, "", err
		}
		// CROSS JOIN keeps the order: the few that are asked for are looked up, not found among all.
		from, args = `(SELECT DISTINCT value FROM json_each(?)) asked CROSS JOIN `, append([]any{list}, args...)
		where += ` AND d.id = asked.value`
	}
	query := ds.db.queryRows
	if len(f.Meta)+len(f.MetaAny) > 0 { // the text depends on how many there are
		query = ds.db.readers.QueryContext
	}
	rows, err := query(
		ctx,
		`SELECT `+documentColumns+`, n, title_fold FROM `+from+`documents d WHERE `+where+`
			ORDER BY `+on.Order+` LIMIT +?`,
		append(args, on.Limit+1)...,
	)
	if err != nil {
		return nil, "", failure(err)
	}
	defer rows.Close()
	var list []corpus.Document
	var n int64
	var fold string
	for rows.Next() {
		if len(list) == on.Limit {
			return list, on.Next(list[on.Limit-1], fold, n), nil
		}
		d, err := scanDocument(rows, &n, &fold)
		if err != nil {
			return nil, "", err
		}
		list = append(list, d)
	}
	return list, "", failure(rows.Err())
}

// documentFilter is what f asks for, but for its IDs, as a condition on documents (as d).
func documentFilter(s chat.Scope, f corpus.Filter) (string, []any, error) {
	args, err := scopeArgs(s)
	if err != nil {
		return "", nil, err
	}
	var where strings.Builder
	if f.Everyone {
		args = nil
		where.WriteString(` d.deleted_at = 0` + notHidden(chat.Scope{}))
	} else {
		where.WriteString(inScope + notHidden(s))
	}
	and := func(condition string, values ...any) {
		where.WriteString(" AND " + condition)
		args = append(args, values...)
	}
	if f.Text != "" {
		and(`instr(d.search_fold, ?) > 0`, strings.ToLower(f.Text))
	}
	if len(f.States) > 0 {
		list, err := store.ToJSON(f.States)
		if err != nil {
			return "", nil, err
		}
		and(`d.state IN (SELECT value FROM json_each(?))`, list)
	}
	if f.MIME != "" {
		and(`substr(d.mime, 1, length(?)) = ?`, f.MIME, f.MIME)
	}
	if !f.AddedAfter.IsZero() {
		and(`d.created_at > ?`, f.AddedAfter.UnixMicro())
	}
	if !f.AddedBefore.IsZero() {
		and(`d.created_at < ?`, f.AddedBefore.UnixMicro())
	}
	if f.HasMeta != "" {
		and(`EXISTS (SELECT 1 FROM json_each(d.meta) m WHERE m.key = ?)`, f.HasMeta)
	}
	if f.DatedFrom != "" || f.DatedTo != "" {
		and(`EXISTS (SELECT 1 FROM (SELECT key, CAST(value AS TEXT) AS day FROM json_each(d.meta))
			WHERE key IN ('date', 'year', 'published')
			AND day GLOB '[0-9][0-9][0-9][0-9]*' AND substr(?, 1, length(day)) <= day
			AND substr(day, 1, length(?)) <= ?)`,
			f.DatedFrom, cmp.Or(f.DatedTo, "9999"), cmp.Or(f.DatedTo, "9999"))
	}
	wanted := maps.Clone(f.MetaAny)
	for key, value := range f.Meta {
		if wanted == nil {
			wanted = map[string][]any{}
		}
		wanted[key] = []any{value}
	}
	for key, values := range wanted {
		list, err := store.ToJSON(values)
		if err != nil {
			return "", nil, err
		}
		// What is wanted is read once for all documents, not for each.
		const wants = ` IN (SELECT coalesce(value, ''), replace(type, 'real', 'integer') FROM json_each(?))`
		and(`EXISTS (SELECT 1 FROM json_each(d.meta) m WHERE m.key = ? AND (
			(coalesce(m.value, ''), replace(m.type, 'real', 'integer'))`+wants+`
			OR EXISTS (SELECT 1 FROM json_each(CASE m.type WHEN 'array' THEN m.value ELSE '[]' END) e
				WHERE (coalesce(e.value, ''), replace(e.type, 'real', 'integer'))`+wants+`)))`, key, list, list)
	}
	return where.String(), args, nil
}

// Count says how much is in scope; see corpus.Documents.
func (ds *Documents) Count(ctx context.Context, s chat.Scope) (c corpus.Counts, err error) {
	args, err := scopeArgs(s)
	if err != nil {
		return c, err
	}
	err = ds.db.queryRow(ctx, `SELECT count(*), coalesce(sum(state = 'ready'), 0), coalesce(sum(state = 'failed'), 0),
		coalesce(sum(state IN ('queued', 'parsing', 'indexing')), 0), coalesce(sum(passages), 0),
		coalesce(sum(pages), 0), coalesce(sum(CASE WHEN state = 'ready' AND semantic = 'pending'
			THEN passages - iif(progress ->> 'stage' = 'embedding', progress ->> 'done', 0) END), 0)
		FROM documents d WHERE`+inScope+notHidden(s), args, &c.Documents, &c.Ready, &c.Failed, &c.Working,
		&c.Passages, &c.Pages, &c.Unembedded)
	return c, err
}

// MetaTexts returns what documents have under a key; see corpus.Documents.
func (ds *Documents) MetaTexts(ctx context.Context, s chat.Scope, key string) (texts []string, err error) {
	args, err := scopeArgs(s)
	if err != nil {
		return nil, err
	}
	rows, err := ds.db.queryRows(ctx, `SELECT DISTINCT coalesce(e.value, m.value) FROM documents d, json_each(d.meta) m
		LEFT JOIN json_each(CASE m.type WHEN 'array' THEN m.value ELSE '[]' END) e
		WHERE`+inScope+notHidden(s)+` AND m.key = ? AND coalesce(e.type, m.type) = 'text'`, append(args, key)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, failure(err)
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return texts, failure(rows.Err())
}

// Namespaces returns names of those with documents; see corpus.Documents.
func (ds *Documents) Namespaces(ctx context.Context, s chat.Scope, limit int) (names []string, err error) {
	args, err := scopeArgs(s)
	if err != nil {
		return nil, err
	}
	rows, err := ds.db.queryRows(ctx, `SELECT d.namespace FROM documents d WHERE`+inScope+notHidden(
		s,
	)+`GROUP BY d.namespace ORDER BY d.namespace LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// Version changes with everything that a search could see; see corpus.Documents.
func (ds *Documents) Version(ctx context.Context, s chat.Scope) (v int64, err error) {
	err = ds.db.queryRow(
		ctx, `SELECT coalesce((SELECT version FROM corpus_versions WHERE user_id = ?), 0)`, []any{s.User}, &v,
	)
	return v, err
}

// BytesInUse reports whether a document has these bytes; see corpus.Documents. While an older version serves, a
// document has the bytes of both.
func (ds *Documents) BytesInUse(ctx context.Context, sha256 string) (used bool, err error) {
	err = ds.db.queryRow(ctx, `SELECT EXISTS (SELECT 1 FROM documents WHERE sha256 = ?1)
		OR EXISTS (SELECT 1 FROM contents WHERE sha256 = ?1 AND live = 1)`, []any{sha256}, &used)
	return used, err
}

// IndexedBytes returns the version that serves; see corpus.Documents.
func (ds *Documents) IndexedBytes(ctx context.Context, id string) (sha256 string, err error) {
	err = ds.db.queryRow(
		ctx,
		`SELECT coalesce((SELECT c.sha256 FROM documents d JOIN contents c ON c.n = d.content WHERE d.id = ?), '')`,
		[]any{id}, &sha256,
	)
	return sha256, err
}
