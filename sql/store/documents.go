package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/postings"
)

// Documents implements the part of corpus.Documents that both databases share.
type Documents struct {
	db    Database
	sql   *Dialect
	swept atomic.Int64 // removal counter of the last index sweep, plus one
}

// NewDocuments returns the documents of a database.
func NewDocuments(db Database, sql *Dialect) *Documents { return &Documents{db: db, sql: sql} }

var errNoDocument = chat.NoSuch("document")

// documentColumns are the columns of documents (d) for scanDocument; both must be changed together. The casts are
// for PostgreSQL, whose meta is jsonb.
const documentColumns = ` d.id, d.user_id, d.namespace, d.path, d.filename, d.title, d.mime, d.sha256, d.bytes, d.pages,
	d.language, CAST(d.meta AS text), d.state, d.semantic, d.progress, d.failure, d.passages, d.created_at,
	d.updated_at, d.deleted_at `

// scanDocument decodes a row of documentColumns; more are the destinations of further columns.
func scanDocument(row Row, more ...any) (d corpus.Document, err error) {
	var meta, progress, broken string
	var created, updated, deleted int64
	err = row.Scan(append([]any{
		&d.ID, &d.User, &d.Namespace, &d.Path, &d.Filename, &d.Title, &d.MIME, &d.SHA256, &d.Bytes, &d.Pages,
		&d.Language, &meta, &d.State, &d.Semantic, &progress, &broken, &d.Passages, &created, &updated,
		&deleted,
	}, more...)...)
	if err != nil {
		return d, err
	}
	d.CreatedAt, d.UpdatedAt, d.DeletedAt = TimeOf(created), TimeOf(updated), TimeOf(deleted)
	if err := json.Unmarshal([]byte(meta), &d.Meta); err != nil {
		return d, fmt.Errorf("meta of document %s: %w", d.ID, err)
	}
	if err := json.Unmarshal([]byte(progress), &d.Progress); err != nil {
		return d, fmt.Errorf("progress of document %s: %w", d.ID, err)
	}
	if broken != "" {
		if err := json.Unmarshal([]byte(broken), &d.Error); err != nil {
			return d, fmt.Errorf("failure of document %s: %w", d.ID, err)
		}
	}
	return d, nil
}

const progressQueued = `{"stage":"queued","done":0,"total":0}`

// Put stores a new document or version; see corpus.Documents. A lock by user and namespace prevents two concurrent
// uploads of the same bytes from creating two documents. Limits are counted last in the same transaction, so a
// rejected file leaves nothing.
func (ds *Documents) Put(ctx context.Context, d corpus.Document) (stored corpus.Document, duplicate bool, err error) {
	if d, err = d.Complete(); err != nil {
		return stored, false, err
	}
	meta, err := ds.sql.Object(d.Meta)
	if err != nil {
		return stored, false, err
	}
	err = ds.db.Write(ctx, Durable, func(t Tx) error {
		if err := t.Lock("documents of", d.User+" "+d.Namespace); err != nil { // serialises uploads of the same bytes
			return err
		}
		was, err := ds.put(t, d, meta)
		if err != nil {
			return err
		}
		duplicate = was.duplicate
		if !duplicate && !chat.IsInternal(d.Namespace) { // a run's web pages are no uploads
			if err := ds.checkQuota(t, d.User, was.bytes); err != nil {
				return err
			}
		}
		if d.Meta != nil && (was.fresh || !d.MetaIfFresh) {
			if err := ds.replaceMeta(t, was.id, meta); err != nil {
				return err
			}
		}
		stored, err = readOne(t, func(row Row) (corpus.Document, error) { return scanDocument(row) },
			`SELECT`+documentColumns+`FROM documents d WHERE d.id = $1`, was.id)
		stored.Fresh = was.fresh
		return err
	})
	return stored, duplicate, err
}

// checkQuota counts a stored file and its new bytes, and fails if a limit is exceeded. The sum of the user's documents
// is read from an index (documents_by_size) and includes the new one. On PostgreSQL, Spend locks the user's spendings
// first, so that two concurrent uploads can't both pass.
func (ds *Documents) checkQuota(t Tx, user string, bytes int64) error {
	limits := ds.db.LimitsOf(user)
	if limits == nil {
		return nil
	}
	if err := ds.db.Spend(t, limits, user, chat.ResourceUploadFiles, 1); err != nil || bytes == 0 {
		return err
	}
	if err := ds.db.Spend(t, limits, user, chat.ResourceUploadBytes, bytes); err != nil {
		return err
	}
	most, holds := limits.Of(chat.DiskMiB)
	if !holds {
		return nil
	}
	var used int64
	if err := t.One(`SELECT CAST(coalesce(sum(bytes), 0) AS bigint) FROM documents WHERE user_id = $1`, []any{user},
		&used); err != nil {
		return err
	}
	if used > most {
		return limits.Over(chat.DiskMiB, time.Now(), time.Time{})
	}
	return nil
}

// putResult is the result of putting a document.
type putResult struct {
	id        string // of the stored document
	duplicate bool   // its bytes were stored already
	fresh     bool   // it was not visible before
	bytes     int64  // newly stored bytes
}

// put stores a document by the first matching rule: the same bytes are the same document; the same path gets a new
// version; a deleted document with these bytes is restored; otherwise a new one is created. A new version keeps the
// old content until the new one is ready, so only the row is queued.
func (ds *Documents) put(t Tx, d corpus.Document, meta string) (was putResult, err error) {
	if was.id, was.duplicate, err = ds.sameBytes(t, d); was.id != "" || err != nil {
		return was, err
	}
	now := time.Now().UnixMicro()
	err = t.One(`SELECT d.id FROM documents d WHERE d.user_id = $1 AND d.namespace = $2 AND d.path = $3
		AND d.deleted_at = 0`+ds.sql.Locked("d"), []any{d.User, d.Namespace, d.Path}, &was.id)
	if err == nil {
		was.bytes = d.Bytes
		_, err = t.Exec(`UPDATE documents SET filename = $2, mime = $3, sha256 = $4, bytes = $5, given_meta = $6,
			meta = $6, semantic = $7, state = 'queued', progress = $8, failure = '', updated_at = $9 WHERE id = $1`,
			was.id, d.Filename, d.MIME, d.SHA256, d.Bytes, meta, string(d.Semantic), progressQueued, now)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return was, err
	}
	if was.id, was.duplicate, err = ds.restoreSameBytes(t, d); was.id != "" || err != nil {
		was.fresh = true
		return was, err
	}
	was = putResult{id: chat.NewID(), fresh: true, bytes: d.Bytes}
	_, err = t.Exec(`INSERT INTO documents (id, user_id, namespace, path, filename, title, title_fold, search_fold,
		mime, sha256, bytes, pages, language, given_meta, meta, state, semantic, progress, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, 'queued', $15, $16, $17, $17)`,
		was.id, d.User, d.Namespace, d.Path, d.Filename, d.Title, strings.ToLower(d.Title),
		searchFold(d.Title, d.Filename), d.MIME, d.SHA256, d.Bytes, d.Pages, d.Language, meta, string(d.Semantic),
		progressQueued, now)
	return was, err
}

// replaceMeta replaces the upload's part of a document's meta and keeps the file's own part. Both the given and the
// merged meta are stored, since the next upload has to remove the given part.
func (ds *Documents) replaceMeta(t Tx, id, given string) error {
	var user, before, present string
	err := t.One(`SELECT d.user_id, CAST(d.given_meta AS text), CAST(d.meta AS text) FROM documents d WHERE d.id = $1`+
		ds.sql.Locked("d"), []any{id}, &user, &before, &present)
	if err != nil {
		return err
	}
	var old, now, meta map[string]any
	if err := errors.Join(
		json.Unmarshal([]byte(before), &old), json.Unmarshal([]byte(given), &now),
		json.Unmarshal([]byte(present), &meta),
	); err != nil {
		return fmt.Errorf("meta of document %s: %w", id, err)
	}
	if reflect.DeepEqual(old, now) {
		return nil
	}
	maps.DeleteFunc(meta, func(name string, _ any) bool { _, was := old[name]; return was })
	merged, err := ds.mergeMeta(meta, given)
	if err != nil {
		return err
	}
	if _, err := t.Exec(
		`UPDATE documents SET given_meta = $2, meta = $3 WHERE id = $1`, id, given, merged,
	); err != nil {
		return err
	}
	return bumpVersion(t, user)
}

// mergeMeta merges the file's meta with the upload's, which takes precedence. It does not modify extracted.
func (ds *Documents) mergeMeta(extracted map[string]any, given string) (string, error) {
	var overruling map[string]any
	if err := json.Unmarshal([]byte(given), &overruling); err != nil {
		return "", fmt.Errorf("given meta: %w", err)
	}
	if len(extracted) == 0 {
		return given, nil
	}
	merged := maps.Clone(extracted)
	maps.Copy(merged, overruling)
	return ds.sql.Object(merged)
}

// searchFold returns the lower-case text for a search by name: title and file name. A newline between them prevents
// a match across both.
func searchFold(title, filename string) string { return strings.ToLower(title + "\n" + filename) }

// sameBytes finds an undeleted document with d's bytes. A failed or cancelled one is queued again. Of several, the
// one at the same path is first, then the oldest, so repeated uploads find the same one. The index
// documents_by_bytes serves it.
func (ds *Documents) sameBytes(t Tx, d corpus.Document) (id string, duplicate bool, err error) {
	var state corpus.State
	err = t.One(`SELECT d.id, d.state FROM documents d WHERE d.user_id = $1 AND d.namespace = $2 AND d.sha256 = $3
		AND d.deleted_at = 0 ORDER BY d.path = $4 DESC, d.n LIMIT 1`+ds.sql.Locked("d"),
		[]any{d.User, d.Namespace, d.SHA256, d.Path}, &id, &state)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil || state != corpus.StateFailed && state != corpus.StateCancelled {
		return id, true, err
	}
	return id, false, requeueDocument(t, id)
}

// requeueDocument queues a document for parsing.
func requeueDocument(t Tx, id string) error {
	_, err := t.Exec(
		`UPDATE documents SET state = 'queued', progress = $2, failure = '' WHERE id = $1`, id, progressQueued,
	)
	return err
}

// restoreSameBytes restores a deleted document with d's bytes under d's path. It is queued again unless it is ready
// with the same name and type, on which its text and title may depend. id is empty without one, or while it is being
// purged: Free skips rows that a purge has locked, so an upload does not wait for it.
func (ds *Documents) restoreSameBytes(t Tx, d corpus.Document) (id string, duplicate bool, err error) {
	var n int64
	var same bool
	var state corpus.State
	err = t.One(`SELECT d.n, d.id, d.state, d.filename = $5 AND d.mime = $6 FROM documents d
		WHERE d.user_id = $1 AND d.namespace = $2 AND d.sha256 = $3 AND d.deleted_at > 0`+ds.sql.Staying+`
		ORDER BY d.path = $4 DESC, d.deleted_at DESC, d.n LIMIT 1`+ds.sql.Free("d"),
		[]any{d.User, d.Namespace, d.SHA256, d.Path, d.Filename, d.MIME}, &n, &id, &state, &same)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	if _, err := t.Exec(
		`UPDATE documents SET path = $2, filename = $3, mime = $4 WHERE n = $1`, n, d.Path, d.Filename, d.MIME,
	); err != nil {
		return "", false, err
	}
	ready := same && state == corpus.StateReady
	if !ready {
		if err := requeueDocument(t, id); err != nil {
			return "", false, err
		}
	}
	return id, ready, ds.setHidden(t, n, d.User, 0)
}

// setHidden hides a document (deletedAt > 0) or restores it (0), for all searches at once.
func (ds *Documents) setHidden(t Tx, n int64, user string, deletedAt int64) error {
	return setHidden(t, ds.sql, n, user, deletedAt)
}

// setHidden also counts a change, so that searches in all processes notice it before their next result.
func setHidden(t Tx, words *Dialect, n int64, user string, deletedAt int64) error {
	if _, err := t.Exec(`UPDATE documents SET deleted_at = $2 WHERE n = $1`, n, deletedAt); err != nil {
		return err
	}
	change, err := NextChange(t, user)
	if err != nil {
		return err
	}
	_, err = t.Exec(words.MarkChanged, n, change)
	return err
}

// NextChange increments the counter of changes that a user's searches can see. Other changes wait until this
// transaction ends, so a search that sees a number also sees all earlier changes. The update locks the one row of
// corpus_state, so call it late in a transaction.
func NextChange(t Tx, user string) (change int64, err error) {
	if err := bumpVersion(t, user); err != nil {
		return 0, err
	}
	err = t.One(`UPDATE corpus_state SET changes = changes + 1 RETURNING changes`, nil, &change)
	return change, err
}

// bumpVersion increments a user's version and notifies other processes, which cache it.
func bumpVersion(t Tx, user string) error {
	_, err := t.ExecNotify(OfDocument+SomeDocument, `INSERT INTO corpus_versions AS v (user_id, version) VALUES ($1, 1)
		ON CONFLICT (user_id) DO UPDATE SET version = v.version + 1`, user)
	return err
}

// SweepIndex compacts removed passages in the lexical index if there were removals since the last sweep. The last
// sweep's counter is in memory: a new process sweeps once unnecessarily, which reads the segments' rows and writes
// none.
func (ds *Documents) SweepIndex(ctx context.Context, index postings.Store) error {
	_, removals, err := index.State(ctx)
	if err != nil || ds.swept.Load() == removals+1 {
		return err
	}
	if err := postings.Sweep(ctx, index); err != nil {
		return err
	}
	ds.swept.Store(removals + 1)
	return nil
}
