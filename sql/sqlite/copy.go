package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/dbcopy"
	"github.com/footnote/footnote/sql/migrations"
)

// copied defines how each table of the target is read: its columns in order, for keys after ?1 (and ?2), ordered by
// key. Documents of a purge in progress lose their content; only served contents are copied. A test compares it with
// both schemas and fails for a missing column.
var copied = map[string]struct{ columns, from, where, order string }{
	"sessions": {`n, id, user_id, title, title_fold, coalesce((SELECT r.id FROM runs r WHERE r.n = head), ''),
		coalesce((SELECT r.depth FROM runs r WHERE r.n = head), 0), '',
		created_at, updated_at, deleted_at`, `sessions`, `n > ?1`, `n`},
	"runs": {`n, id, session, coalesce((SELECT p.id FROM runs p WHERE p.n = r.parent), ''), depth, status, owner,
		lease_until,
		coalesce((SELECT max(e.id) & 1048575 FROM events e WHERE e.id > r.n << 20 AND e.id < (r.n + 1) << 20), 0),
		tokens_in, tokens_out, created_at, ended_at`,
		`runs r`, `n > ?1`, `n`},
	"run_texts":    {`run, request, question_fold, answer`, `run_texts`, `run > ?1`, `run`},
	"events":       {`id >> 20, id & 1048575, at, type, body`, `events`, `id > (?1 << 20 | ?2)`, `id`},
	"step_outputs": {`run, call_id, body`, `step_outputs`, `(run, call_id) > (?1, ?2)`, `run, call_id`},
	"idempotency_keys": {
		`user_id, CAST(key AS BLOB), request, run, created_at`, `idempotency_keys`,
		`(user_id, CAST(key AS BLOB)) > (?1, ?2)`,
		`user_id, CAST(key AS BLOB)`,
	},
	"feedback": {`n, run, user_id, rating, reason, comment, created_at, updated_at`, `feedback`, `n > ?1`, `n`},
	"shares": {
		`n, id, run, user_id, hash, created_at, expires_at, opens, opened_at`, `shares`, `n > ?1`, `n`,
	},
	"queued": {`n, id, session, place, key, request, problem, taken, created_at`, `queued`, `n > ?1`, `n`},
	"documents": {`n, id, user_id, namespace, path, filename, title, title_fold, search_fold, mime, sha256, bytes,
		pages, language, given_meta, meta, state, 'off', progress,
		failure, passages, CASE purging WHEN 0 THEN content ELSE 0 END, coalesce((SELECT c.changed FROM contents c
			WHERE c.n = d.content), 0),
		created_at, updated_at, deleted_at`, `documents d`, `n > ?1`, `n`},
	"contents": {`n, document, first_row, passages, lengths, sizes,
		coalesce((SELECT group_concat(unpacked(x.body, x.packed), '' ORDER BY x.at) FROM texts x
			WHERE ` + textsOf("c.n") + `), ''),
		coalesce((SELECT '[' || group_concat(substr(x.body, 2, length(x.body) - 2), ',' ORDER BY x.piece) || ']'
			FROM (SELECT content, piece, unpacked(body, packed) AS body FROM content_blocks) x
			WHERE x.content = c.n), 'null'),
		sha256, filename, mime, bytes, x''`, `contents c`, `n > ?1 AND ` + servedContents("n"), `n`},
	"content_words": {
		`content, piece, start_off, end_off, body`, `content_words`,
		`(content, piece) > (?1, ?2) AND ` + servedContents("content"), `content, piece`,
	},
	"passages": {`row, id, content, ordinal, start_off, end_off, first_block, last_block, page, section, tokens,
		` + passageText + `, x''`, `passages p`, `row > ?1 AND ` + servedContents("content"), `row`},
	"segments": {`n, owner, changed, passages, live`, `segments`, `live = 1 AND n > ?1`, `n`},
	"segment_pages": {
		`segment, key, body`, `segment_pages`,
		`segment IN (SELECT n FROM segments WHERE live = 1) AND (segment, key) > (?1, ?2)`, `segment, key`,
	},
	"unindexed": {`content`, `unindexed`, `content > ?1`, `content`},
	"spent":     {`user_id, what, at, amount`, `spent`, `(user_id, what, at) > (?1, ?2, ?3)`, `user_id, what, at`},
	"removals": {`document, sha256, attempts, due_at`, `removals`, `(document, sha256) > (?1, ?2)`,
		`document, sha256`},
	"standing": {`id, user_id, created_at, paused, unseen, version, due_at, body`, `standing`, `id > ?1`, `id`},
	"grids":    {`id, user_id, created_at, due_at, body`, `grids`, `id > ?1`, `id`},
	"grid_cells": {`grid, row, col, seq, body`, `grid_cells`, `(grid, row, col) > (?1, ?2, ?3)`,
		`grid, row, col`},
	"webhooks": {`user_id, url, origin, secret, set_at, sent_at, failed_at, trouble, lost, local`, `webhooks`,
		`user_id > ?1`, `user_id`},
	"notices": {`id, user_id, kept, failed, due_at, body`, `notices`, `kept IS NOT NULL AND id > ?1`, `id`},
	"places": {`n, id, user_id, name, setup, progress, removing, revision, looks, created_at, due_at, deaths`, `places`,
		`n > ?1`, `n`},
	"place_items": {`place, key, look, wanted, put_off, version, document, name, link, refusal, body`, `place_items`,
		`(place, key) > (?1, ?2)`, `place, key`},
	"oauth": {`rowid, kind, id, owner, used, made, expires, body`, `oauth`, `rowid > ?1`, `rowid`},
	"watched": {`user_id, namespace, folder, looked_at, body`, `watched`, `(user_id, namespace, folder) > (?1, ?2, ?3)`,
		`user_id, namespace, folder`},
	"standing_feeds":  {`user_id, hash`, `standing_feeds`, `user_id > ?1`, `user_id`},
	"corpus_versions": {`user_id, version`, `corpus_versions`, `user_id > ?1`, `user_id`},
	"corpus_state":    {`n, changes, removals, next_row`, `corpus_state`, `n > ?1`, `n`},
}

// servedContents returns the condition for contents that a document refers to.
func servedContents(content string) string {
	return content + ` IN (SELECT content FROM documents WHERE purging = 0)`
}

// left are the tables and columns that are not copied, with the reason. The same test uses it.
var left = map[string]string{
	"migrations": "of this schema", "commands": "about runs under way; no server works on one",
	"jobs":                        "unfinished documents are queued anew when a server starts",
	"places.owner":                "about looks under way; no server works on one",
	"places.lease_until":          "about looks under way",
	"vector_models":               "of vectors",
	"vector_signs":                "of vectors",
	"vectors":                     "stored in the target's vector store, see Source.Embedded, or made anew there",
	"corpus_state.vector_changes": "of vectors", "corpus_state.vector_removals": "of vectors",
	"segments.live":       "only what is live is copied",
	"segments.started_at": "of segments that are being written", "segment_pages.n": "not used elsewhere",
	"contents.live": "only live contents are copied", "contents.started_at": "of contents that are being written",
	"runs.charged":       "about runs under way; no server works on one",
	"documents.semantic": "off until the target has its vectors",
}

// Source reads everything from a database file that no process writes to, with one read-only connection.
type Source struct {
	pool *sql.DB
	name string
}

// OpenSource opens the database file at path. A file of another schema version returns a *chat.Error with advice.
func OpenSource(ctx context.Context, path string) (_ *Source, err error) {
	pool, err := readOnly(ctx, path)
	if err != nil {
		return nil, err
	}
	s := &Source{pool: pool}
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		return nil, closeAfter(pool, err)
	}
	var version int
	err = pool.QueryRowContext(
		ctx,
		`SELECT max(number), (SELECT number || ' ' || applied_at FROM migrations ORDER BY number LIMIT 1)
			FROM migrations`,
	).Scan(&version, &s.name)
	if err != nil {
		return nil, closeAfter(pool, failure(err))
	}
	// The statements above are for one version of the schema.
	if version != migrations.Newest(all) {
		return nil, closeAfter(pool, &chat.Error{Code: chat.CodeUnavailable, Message: fmt.Sprintf(
			"The data directory is of version %d, this program's is %d: start 'footnote serve' of this version on it "+
				"once, or use a newer program",
			version, migrations.Newest(all))})
	}
	return s, nil
}

// closeAfter closes a pool after an error and joins both errors.
func closeAfter(pool *sql.DB, err error) error {
	if closed := pool.Close(); closed != nil {
		return fmt.Errorf("%w, and %w", err, closed)
	}
	return err
}

// Close closes the file.
func (s *Source) Close() error { return s.pool.Close() }

// Name implements dbcopy.Source. It is the number and time of the file's first migration.
func (s *Source) Name() string { return s.name }

// Count implements dbcopy.Source, with the same condition as Rows.
func (s *Source) Count(ctx context.Context, t dbcopy.Table) (n int64, err error) {
	err = s.pool.QueryRowContext(
		ctx, `SELECT count(*) FROM `+copied[t.Name].from+` WHERE `+copied[t.Name].where, firstKey(t)...,
	).Scan(&n)
	return n, failure(err)
}

// firstKey returns a key before all others.
func firstKey(t dbcopy.Table) []any {
	key := make([]any, t.Keys)
	for i := range key {
		key[i] = int64(0)
		switch t.Columns[i].Kind {
		case dbcopy.Int, dbcopy.Bool:
		case dbcopy.Bytes:
			key[i] = []byte{}
		default:
			key[i] = ""
		}
	}
	return key
}

// Rows implements dbcopy.Source. A copy resumes after the last key, so a table is read in key order, without an
// offset. Each row is a new slice that the callback may keep.
func (s *Source) Rows(ctx context.Context, t dbcopy.Table, after dbcopy.Row, each func(dbcopy.Row) error) error {
	how, ok := copied[t.Name]
	if !ok {
		return fmt.Errorf("%s is not here", t.Name)
	}
	key := []any(after)
	if after == nil {
		key = firstKey(t)
	}
	// The statement has only constants of copied; keys are parameters.
	rows, err := s.pool.QueryContext(
		ctx, `SELECT `+how.columns+` FROM `+how.from+` WHERE `+how.where+` ORDER BY `+how.order, key...,
	)
	if err != nil {
		return failure(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return failure(err)
	}
	if len(names) != len(t.Columns) {
		return fmt.Errorf("%d columns are read of %s, %d are wanted", len(names), t.Name, len(t.Columns))
	}
	dest := make([]any, len(names))
	for rows.Next() {
		row := make(dbcopy.Row, len(names))
		for i := range row {
			dest[i] = &row[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return failure(err)
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return failure(rows.Err())
}

// embedded selects the passages with vectors of a model or, as a fallback, of earlier versions, which did not record
// the model.
const embedded = ` FROM passages p JOIN documents d ON d.content = p.content AND d.purging = 0 JOIN vectors v
	ON v.passage_id = p.id AND v.document = d.id
	AND v.model = (SELECT n FROM vector_models WHERE name IN (?, '') ORDER BY name DESC LIMIT 1)`

// Embedded yields the passages with vectors of a model, or of an unnamed one, grouped by document. Vectors of
// deleted passages are excluded.
func (s *Source) Embedded(ctx context.Context, model string, each func(corpus.Embedded) error) error {
	return readEmbedded(ctx, s.pool, model, -1, each)
}

// readEmbedded yields the first k of such passages; -1: all. It includes the text, as its hash identifies equal
// passages in another store.
func readEmbedded(
	ctx context.Context, pool *sql.DB, model string, k int, each func(corpus.Embedded) error,
) error {
	rows, err := pool.QueryContext(
		ctx,
		`SELECT p.id, d.id, d.user_id, d.namespace, p.section, `+passageText+`, d.title, v.body`+embedded+`
			ORDER BY p.row LIMIT ?`, model, k,
	)
	if err != nil {
		return failure(err)
	}
	defer rows.Close()
	for rows.Next() {
		var e corpus.Embedded
		var body []byte
		if err := rows.Scan(&e.Vector.PassageID, &e.Vector.DocumentID, &e.Vector.User, &e.Vector.Namespace,
			&e.Passage.Section, &e.Passage.Text,
			&e.Title, &body); err != nil {
			return failure(err)
		}
		e.Passage.ID, e.Passage.DocumentID = e.Vector.PassageID, e.Vector.DocumentID
		if len(body) == 0 || len(body)%4 > 0 {
			return fmt.Errorf("the vector of passage %s has %d bytes", e.Vector.PassageID, len(body))
		}
		e.Vector.Values = appendFloats(make([]float32, 0, len(body)/4), body)
		if err := each(e); err != nil {
			return err
		}
	}
	return failure(rows.Err())
}

// CountEmbedded returns the number of passages that Embedded yields.
func (s *Source) CountEmbedded(ctx context.Context, model string) (n int64, err error) {
	err = s.pool.QueryRowContext(ctx, `SELECT count(*)`+embedded, model).Scan(&n)
	return n, failure(err)
}

// OnlyOthers reports whether the file has only vectors of other models. The copied passages then have to be embedded
// again.
func (s *Source) OnlyOthers(ctx context.Context, model string) (only bool, err error) {
	err = s.pool.QueryRowContext(ctx,
		`SELECT count(*) > 0 AND coalesce(sum(name IN (?, '')), 0) = 0 FROM vector_models`, model).Scan(&only)
	return only, failure(err)
}

// Semantic returns the number of passages of each document with complete vectors, in any vector store. The caller
// compares it with the copied vectors to find complete documents.
func (s *Source) Semantic(ctx context.Context) (map[string]int, error) {
	rows, err := s.pool.QueryContext(
		ctx, `SELECT id, passages FROM documents WHERE purging = 0 AND state = ? AND semantic = ?`,
		string(corpus.StateReady), string(corpus.SemanticReady),
	)
	if err != nil {
		return nil, failure(err)
	}
	defer rows.Close()
	found := map[string]int{}
	for rows.Next() {
		var id string
		var passages int
		if err := rows.Scan(&id, &passages); err != nil {
			return nil, failure(err)
		}
		found[id] = passages
	}
	return found, failure(rows.Err())
}
