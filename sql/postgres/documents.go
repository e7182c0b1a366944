package postgres

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/store"
)

// Documents is the corpus.Documents of a database. It is safe for concurrent use and valid as long as its DB.
type Documents struct {
	*store.Documents
	db *DB
}

var _ corpus.Documents = (*Documents)(nil)

// Documents returns the store of documents. Share the result: it caches when the index was last swept.
func (db *DB) Documents() *Documents {
	return &Documents{store.NewDocuments(engine{db}, dialect), db}
}

// Purge deletes hidden documents permanently; see corpus.Documents. Replicas may purge concurrently. It deletes in
// small batches, so that locks are short, and ends with an incomplete batch.
func (ds *Documents) Purge(ctx context.Context, before time.Time) error {
	const some = 20 // documents in one transaction
	for {
		var n int
		err := ds.db.inTx(ctx, contentTime, func(t *tx) (err error) {
			n, err = purgeDocuments(t, before.UnixMicro(), some)
			return err
		})
		if err != nil {
			return fmt.Errorf("purge: %w", err)
		}
		if n < some {
			break
		}
	}
	if err := ds.SweepIndex(ctx, ds.db.newPostingStore()); err != nil { // retried by the next purge
		ds.db.log.WarnContext(ctx, "the index of words is not swept", "error", err)
	}
	return nil
}

// purgeDocuments deletes up to limit documents and returns their number. SKIP LOCKED lets replicas share the work.
// Files outside the database are queued for removal in the same transaction, so that none is lost.
func purgeDocuments(t *tx, before int64, limit int) (int, error) {
	type doomed struct {
		id      string
		content int64
	}
	read := func(row scanner) (d doomed, err error) {
		err = row.Scan(&d.id, &d.content)
		return d, err
	}
	// The rows stay locked until the transaction ends.
	rows, err := rowsOf(t.ctx, t.pgx, read, `SELECT id, content FROM documents WHERE deleted_at > 0 AND deleted_at < $1
		ORDER BY n LIMIT $2 FOR UPDATE SKIP LOCKED`, []any{before, limit})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var ids []string
	var contents []int64
	for _, d := range rows {
		ids, contents = append(ids, d.id), append(contents, d.content)
	}
	if _, err := t.Exec(`INSERT INTO removals (document, sha256) SELECT '', c.sha256 FROM contents c
		JOIN documents d ON d.n = c.document WHERE d.id = ANY ($1) AND c.sha256 <> d.sha256
		ON CONFLICT DO NOTHING`, ids); err != nil { // of an older version that was served until now
		return 0, err
	}
	if err := removeContents(t, contents); err != nil {
		return 0, err
	}
	if err := removeJobs(t, ids); err != nil {
		return 0, err
	}
	for _, statement := range []string{
		`INSERT INTO removals (document, sha256) SELECT id, sha256 FROM documents WHERE id = ANY ($1)
			ON CONFLICT DO NOTHING`,
		`DELETE FROM documents WHERE id = ANY ($1)`,
	} {
		if _, err := t.Exec(statement, ids); err != nil {
			return 0, err
		}
	}
	_, err = t.Exec(`UPDATE corpus_state SET removals = removals + 1`)
	return len(rows), err
}

// filterDocuments adds a filter's conditions for IDs and meta. jsonb compares by value and type. Dates are compared
// bytewise (COLLATE "C"), truncated to the precision of the document's date.
func filterDocuments(where *store.Conditions, f corpus.Filter) error {
	if len(f.IDs) > 0 {
		where.Add(`d.id = ANY (?)`, f.IDs)
	}
	if f.HasMeta != "" {
		where.Add(`d.meta -> ?::text IS NOT NULL`, f.HasMeta)
	}
	if f.DatedFrom != "" || f.DatedTo != "" {
		where.Add(`EXISTS (SELECT
			FROM jsonb_each_text(CASE jsonb_typeof(d.meta) WHEN 'object' THEN d.meta ELSE '{}' END) AS m (key, day)
			WHERE key IN ('date', 'year', 'published') AND day ~ '^[0-9]{4}'
			AND left(?::text, length(day)) COLLATE "C" <= day
			AND left(day, length(?::text)) COLLATE "C" <= ?::text)`, f.DatedFrom, cmp.Or(f.DatedTo, "9999"),
			cmp.Or(f.DatedTo, "9999"))
	}
	for key, values := range f.MetaAny {
		wanted, err := toJSONB(values)
		if err != nil {
			return err
		}
		// The wanted values are parsed once, not for each document.
		where.Add(`(d.meta -> ?::text IN (SELECT jsonb_array_elements(?::jsonb))
			OR EXISTS (SELECT FROM jsonb_array_elements(
			CASE jsonb_typeof(d.meta -> ?::text) WHEN 'array' THEN d.meta -> ?::text ELSE '[]' END) e
			WHERE e IN (SELECT jsonb_array_elements(?::jsonb))))`,
			key, wanted, key, key, wanted)
	}
	for key, value := range f.Meta {
		wanted, err := toJSONB(value)
		if err != nil {
			return err
		}
		where.Add(`(d.meta -> ?::text = ?::jsonb
			OR EXISTS (SELECT 1 FROM jsonb_array_elements(CASE jsonb_typeof(d.meta -> ?::text)
			WHEN 'array' THEN d.meta -> ?::text ELSE '[]' END) e WHERE e = ?::jsonb))`, key, wanted, key, key, wanted)
	}
	return nil
}

// toJSONB encodes a value for a jsonb column, without NUL in strings. UseNumber preserves long numbers.
func toJSONB(v any) (string, error) {
	text, err := store.ToJSON(v)
	if err != nil || !strings.Contains(text, `\u0000`) {
		return text, err
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return "", err
	}
	return store.ToJSON(withoutNUL(tree))
}

// withoutNUL replaces NUL in a decoded JSON value, including field names, since jsonb rejects it (PostgreSQL's
// manual, “JSON Types”).
func withoutNUL(v any) any {
	switch v := v.(type) {
	case string:
		return legibleText(v)
	case []any:
		for i := range v {
			v[i] = withoutNUL(v[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for key, value := range v {
			clean[legibleText(key)] = withoutNUL(value)
		}
		return clean
	}
	return v
}
