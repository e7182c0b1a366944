package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"footnote/chat"
	"footnote/corpus"
	"footnote/sql/store"
)

// Documents is the corpus.Documents of a database. It is safe for concurrent use and lives as long as its DB.
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

// documentColumns are what scanDocument reads of documents (d).
const documentColumns = ` d.id, d.user_id, d.namespace, d.path, d.filename, d.title, d.mime, d.sha256, d.bytes, d.pages,
	d.language, d.meta::text,
	d.state, d.semantic, d.progress, d.failure, d.passages, d.created_at, d.updated_at, d.deleted_at `

func scanDocument(row scanner, more ...any) (d corpus.Document, err error) {
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

// toJSONB is toJSON for a column of type jsonb, whose strings hold no NUL.
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

const progressQueued = `{"stage":"queued","done":0,"total":0}`

// Put stores a new document or version; see corpus.Documents.
func (ds *Documents) Put(ctx context.Context, d corpus.Document) (stored corpus.Document, duplicate bool, err error) {
	if d, err = d.Complete(); err != nil {
		return stored, false, err
	}
	meta, err := toJSONB(d.Meta)
	if err != nil {
		return stored, false, err
	}
	err = ds.db.inTx(ctx, shortTime, func(t *tx) error {
		if err := t.Lock("documents of", d.User+" "+d.Namespace); err != nil { // puts of the same bytes take turns
			return err
		}
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
		stored, err = scanDocument(
			t.pgx.QueryRow(t.ctx, `SELECT`+documentColumns+`FROM documents d WHERE id = $1`, was.id),
		)
		stored.Fresh = was.fresh
		return err
	})
	return stored, duplicate, err
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
	err = t.One(`UPDATE documents SET filename = $4, mime = $5, sha256 = $6, bytes = $7, given_meta = $8,
		meta = $8, semantic = $9,
		state = 'queued', progress = $10, failure = '', updated_at = $11
		WHERE user_id = $1 AND namespace = $2 AND path = $3 AND deleted_at = 0 RETURNING id`,
		[]any{d.User, d.Namespace, d.Path, d.Filename, d.MIME, d.SHA256, d.Bytes, meta, string(
			d.Semantic,
		), progressQueued, now}, &was.id)
	if !errors.Is(err, pgx.ErrNoRows) {
		was.bytes = d.Bytes
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
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, 'queued', $15, $16, $17, $17)`,
		was.id, d.User, d.Namespace, d.Path, d.Filename, d.Title, strings.ToLower(d.Title),
		searchFold(d.Title, d.Filename), d.MIME, d.SHA256,
		d.Bytes, d.Pages, d.Language, meta, string(d.Semantic), progressQueued, now)
	return was, err
}

// replaceMeta gives a document the meta of another upload: what the file itself says stays, and what the earlier
// upload said goes.
func replaceMeta(t *tx, id, given string) error {
	var user, before, present string
	var same bool
	err := t.One(`SELECT user_id, given_meta::text, meta::text, given_meta = $2::jsonb FROM documents
		WHERE id = $1 FOR UPDATE`, []any{
		id, given,
	},
		&user, &before, &present, &same)
	if err != nil || same {
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
	if _, err := t.Exec(
		`UPDATE documents SET given_meta = $2, meta = $3 WHERE id = $1`, id, given, merged,
	); err != nil {
		return err
	}
	return bumpVersion(t, user)
}

func searchFold(title, filename string) string { return strings.ToLower(title + "\n" + filename) }

// sameBytes finds a document with d's bytes that is not deleted. One that failed or was cancelled is queued again.
func sameBytes(t *tx, d corpus.Document) (id string, duplicate bool, err error) {
	var state corpus.State
	err = t.One(`SELECT id, state FROM documents WHERE user_id = $1 AND namespace = $2 AND sha256 = $3
		AND deleted_at = 0
		ORDER BY path = $4 DESC, n LIMIT 1 FOR UPDATE`, []any{d.User, d.Namespace, d.SHA256, d.Path}, &id, &state)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", false, nil
	}
	if err != nil || state != corpus.StateFailed && state != corpus.StateCancelled {
		return id, true, err
	}
	return id, false, requeueDocument(t, id)
}

func requeueDocument(t *tx, id string) error {
	_, err := t.Exec(
		`UPDATE documents SET state = 'queued', progress = $2, failure = '' WHERE id = $1`, id, progressQueued,
	)
	return err
}

// restoreSameBytes brings a deleted document with d's bytes back, under d's path, and queues it again unless it is
// ready and has d's name and type, on which its text and its title may rest. id is empty if there is none, or if it
// is just being purged.
func restoreSameBytes(t *tx, d corpus.Document) (id string, duplicate bool, err error) {
	var n int64
	var same bool
	var state corpus.State
	err = t.One(`SELECT n, id, state, filename = $5 AND mime = $6 FROM documents
		WHERE user_id = $1 AND namespace = $2 AND sha256 = $3 AND deleted_at > 0
		ORDER BY path = $4 DESC, deleted_at DESC, n LIMIT 1 FOR UPDATE SKIP LOCKED`,
		[]any{d.User, d.Namespace, d.SHA256, d.Path, d.Filename, d.MIME}, &n, &id, &state, &same)
	if errors.Is(err, pgx.ErrNoRows) {
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
	return id, ready, setHidden(t, n, d.User, 0)
}

func pathTaken(t *tx, user, namespace, path string) (taken bool, err error) {
	err = t.One(`SELECT EXISTS (SELECT FROM documents WHERE user_id = $1 AND namespace = $2 AND path = $3
		AND deleted_at = 0)`,
		[]any{user, namespace, path}, &taken)
	return taken, err
}

// setHidden hides a document (deletedAt > 0) or brings it back (0), for every search at once.
func setHidden(t *tx, n int64, user string, deletedAt int64) error {
	if _, err := t.Exec(`UPDATE documents SET deleted_at = $2 WHERE n = $1`, n, deletedAt); err != nil {
		return err
	}
	change, err := nextChange(t, user)
	if err != nil {
		return err
	}
	_, err = t.Exec(`UPDATE documents SET changed = $2 WHERE n = $1`, n, change)
	return err
}

// nextChange counts a change that searches of a user can see. Other changes wait until this one is committed or
// undone, so that a search which sees one number sees all that led up to it.
func nextChange(t *tx, user string) (change int64, err error) {
	if err := bumpVersion(t, user); err != nil {
		return 0, err
	}
	err = t.One(`UPDATE corpus_state SET changes = changes + 1 RETURNING changes`, nil, &change)
	return change, err
}

// bumpVersion also tells the other replicas, which keep the version they know.
func bumpVersion(t *tx, user string) error {
	_, err := t.Exec(`WITH bumped AS (INSERT INTO corpus_versions AS v VALUES ($1, 1) ON CONFLICT (user_id) DO UPDATE
		SET version = v.version + 1)
		SELECT pg_notify($2, $3)`, user, t.db.channel, t.db.writeNotice(store.OfDocument+store.SomeDocument))
	return err
}
