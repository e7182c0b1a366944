package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"footnote/chat"
	"footnote/corpus"
	"footnote/sql/store"
)

// Documents is the corpus.Documents of an open database. It is safe for concurrent use and lives as long as its DB.
type Documents struct {
	*store.Documents
	db    *DB
	swept atomic.Int64 // removals when the index was last swept, and one more
}

var _ corpus.Documents = (*Documents)(nil)

// Documents returns the database's documents. Ask once and share the result: it remembers when it swept the index.
func (db *DB) Documents() *Documents {
	return &Documents{Documents: store.NewDocuments(engine{db}, dialect), db: db}
}

var errNoDocument = chat.NoSuch("document")

// documentColumns are what scanDocument reads.
const documentColumns = `id, user_id, namespace, path, filename, title, mime, sha256, bytes, pages, language, meta,
	state, semantic,
	progress, failure, passages, created_at, updated_at, deleted_at`

// scanner is a *sql.Row or *sql.Rows.
type scanner = store.Row

func scanDocument(row scanner, more ...any) (d corpus.Document, err error) {
	var meta, progress, broken string
	var created, updated, deleted int64
	err = row.Scan(append([]any{
		&d.ID, &d.User, &d.Namespace, &d.Path, &d.Filename, &d.Title, &d.MIME, &d.SHA256, &d.Bytes, &d.Pages,
		&d.Language, &meta, &d.State, &d.Semantic, &progress, &broken, &d.Passages, &created, &updated,
		&deleted,
	}, more...)...)
	if err != nil {
		return d, failure(err)
	}
	d.CreatedAt, d.UpdatedAt, d.DeletedAt = store.TimeOf(created), store.TimeOf(updated), store.TimeOf(deleted)
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

// Put stores a new document or version; see corpus.Documents.
func (ds *Documents) Put(ctx context.Context, d corpus.Document) (stored corpus.Document, duplicate bool, err error) {
	if d, err = d.Complete(); err != nil {
		return stored, false, err
	}
	meta, err := store.ToJSON(d.Meta)
	if err != nil {
		return stored, false, err
	}
	err = ds.db.writeTx(ctx, true, func(t *tx) error {
		was, err := putDocument(t, d, meta)
		if err != nil {
			return err
		}
		duplicate = was.duplicate
		if !duplicate && !chat.IsInternal(d.Namespace) { // a page that a run reads is none that its user adds
			if err := t.admitDocument(ds.db.limits.For(d.User), d.User, was.bytes); err != nil {
				return err
			}
		}
		if d.Meta != nil && (was.fresh || !d.MetaIfFresh) {
			if err := replaceMeta(t, was.id, meta); err != nil {
				return err
			}
		}
		stored, err = documentInTx(t, was.id)
		stored.Fresh = was.fresh
		return err
	})
	return stored, duplicate, err
}

func documentInTx(t *tx, id string) (corpus.Document, error) {
	stmt, err := t.stmt(`SELECT ` + documentColumns + ` FROM documents WHERE id = ?`)
	if err != nil {
		return corpus.Document{}, err
	}
	return scanDocument(stmt.QueryRowContext(t.ctx, id))
}

// placed is what became of a document that was put.
type placed struct {
	id        string // of the document that stands for it now
	duplicate bool   // its bytes were there already
	fresh     bool   // it was not to be seen until now
	bytes     int64  // that are stored now and were not before
}

func putDocument(t *tx, d corpus.Document, meta string) (was placed, err error) {
	if was.id, was.duplicate, err = sameBytes(t, d); was.id != "" || err != nil {
		return was, err
	}
	now := time.Now().UnixMicro()
	err = t.One(`SELECT id FROM documents WHERE user_id = ? AND namespace = ? AND path = ? AND deleted_at = 0`,
		[]any{d.User, d.Namespace, d.Path}, &was.id)
	if err == nil {
		was.bytes = d.Bytes
		_, err = t.Exec(`UPDATE documents SET filename = ?, mime = ?, sha256 = ?, bytes = ?, given_meta = ?, meta = ?,
			semantic = ?,
			state = 'queued', progress = ?, failure = '', updated_at = ? WHERE id = ?`,
			d.Filename, d.MIME, d.SHA256, d.Bytes, meta, meta, d.Semantic, progressQueued, now, was.id)
		return was, err
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return was, err
	}
	if was.id, was.duplicate, err = restoreSameBytes(t, d); was.id != "" || err != nil {
		was.fresh = true
		return was, err
	}
	was = placed{id: chat.NewID(), fresh: true, bytes: d.Bytes}
	_, err = t.Exec(`INSERT INTO documents (id, user_id, namespace, path, filename, title, title_fold, search_fold,
		mime, sha256, bytes, pages,
		language, given_meta, meta, state, semantic, progress, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?)`,
		was.id, d.User, d.Namespace, d.Path, d.Filename, d.Title, strings.ToLower(d.Title),
		searchFold(d.Title, d.Filename), d.MIME, d.SHA256,
		d.Bytes, d.Pages, d.Language, meta, meta, d.Semantic, progressQueued, now, now)
	return was, err
}

// replaceMeta gives a document the meta of another upload: what the file itself says stays, and what the earlier
// upload said goes.
func replaceMeta(t *tx, id, given string) error {
	var user, before, present string
	err := t.One(`SELECT user_id, given_meta, meta FROM documents WHERE id = ?`, []any{id}, &user, &before, &present)
	if err != nil || before == given {
		return err
	}
	var old, meta map[string]any
	if err := errors.Join(json.Unmarshal([]byte(before), &old), json.Unmarshal([]byte(present), &meta)); err != nil {
		return fmt.Errorf("meta of document %s: %w", id, err)
	}
	maps.DeleteFunc(meta, func(name string, _ any) bool { _, was := old[name]; return was })
	merged, err := mergeMeta(meta, given)
	if err != nil {
		return err
	}
	if _, err := t.Exec(`UPDATE documents SET given_meta = ?, meta = ? WHERE id = ?`, given, merged, id); err != nil {
		return err
	}
	return bumpVersion(t, user)
}

func searchFold(title, filename string) string { return strings.ToLower(title + "\n" + filename) }

// sameBytes finds a document with d's bytes that is not deleted. One that failed or was cancelled is queued again.
func sameBytes(t *tx, d corpus.Document) (id string, duplicate bool, err error) {
	var state corpus.State
	err = t.One(`SELECT id, state FROM documents WHERE user_id = ? AND namespace = ? AND sha256 = ? AND deleted_at = 0
		ORDER BY path = ? DESC, n LIMIT 1`, []any{d.User, d.Namespace, d.SHA256, d.Path}, &id, &state)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil || state != corpus.StateFailed && state != corpus.StateCancelled {
		return id, true, err
	}
	return id, false, requeueDocument(t, id)
}

func requeueDocument(t *tx, id string) error {
	_, err := t.Exec(
		`UPDATE documents SET state = 'queued', progress = ?, failure = '' WHERE id = ?`, progressQueued, id,
	)
	return err
}

// restoreSameBytes brings a deleted document with d's bytes back, under d's path, and queues it again unless it is
// ready and has d's name and type, on which its text and its title may rest. id is empty if there is none.
func restoreSameBytes(t *tx, d corpus.Document) (id string, duplicate bool, err error) {
	var n int64
	var same bool
	var state corpus.State
	err = t.One(`SELECT n, id, state, filename = ? AND mime = ? FROM documents
		WHERE user_id = ? AND namespace = ? AND sha256 = ? AND deleted_at > 0 AND purging = 0
		ORDER BY path = ? DESC, deleted_at DESC, n LIMIT 1`,
		[]any{d.Filename, d.MIME, d.User, d.Namespace, d.SHA256, d.Path}, &n, &id, &state, &same)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	if _, err := t.Exec(
		`UPDATE documents SET path = ?, filename = ?, mime = ? WHERE n = ?`, d.Path, d.Filename, d.MIME, n,
	); err != nil {
		return "", false, err
	}
	ready := same && state == corpus.StateReady
	if !ready {
		if err := requeueDocument(t, id); err != nil {
			return "", false, err
		}
	}
	return id, ready, setHidden(t, n, d.User, 0)
}

func pathTaken(t *tx, user, namespace, path string) (taken bool, err error) {
	err = t.One(`SELECT EXISTS (SELECT 1 FROM documents WHERE user_id = ? AND namespace = ? AND path = ?
		AND deleted_at = 0)`,
		[]any{user, namespace, path}, &taken)
	return taken, err
}

// setHidden hides a document (deletedAt > 0) or brings it back (0), for every search at once.
func setHidden(t *tx, n int64, user string, deletedAt int64) error {
	if _, err := t.Exec(`UPDATE documents SET deleted_at = ? WHERE n = ?`, deletedAt, n); err != nil {
		return err
	}
	change, err := nextChange(t, user)
	if err != nil {
		return err
	}
	_, err = t.Exec(`UPDATE contents SET changed = ? WHERE document = ? AND live = 1`, change, n)
	return err
}

// nextChange counts a change that searches of a user can see.
func nextChange(t *tx, user string) (change int64, err error) {
	if err := bumpVersion(t, user); err != nil {
		return 0, err
	}
	err = t.One(`UPDATE corpus_state SET changes = changes + 1 RETURNING changes`, nil, &change)
	return change, err
}

func bumpVersion(t *tx, user string) error {
	_, err := t.Exec(`INSERT INTO corpus_versions VALUES (?, 1) ON CONFLICT DO UPDATE SET version = version + 1`, user)
	return err
}
