package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// ErrOtherVersion is returned when a document no longer wants this content. Workers stop without marking the
// document as failed.
var ErrOtherVersion = &chat.Error{Code: chat.CodeConflict,
	Message: "The document was canceled, deleted or replaced. Reload the list to see its current state."}

// present locks a document. It returns CodeNotFound for a missing or hidden one, and CodeConflict for a cancelled
// one or another version than sha256.
func (ds *Documents) present(t Tx, id, sha256 string) (n int64, user string, err error) {
	var version string
	var state corpus.State
	err = t.One(`SELECT d.n, d.user_id, d.sha256, d.state FROM documents d WHERE d.id = $1 AND d.deleted_at = 0`+
		ds.sql.Locked("d"), []any{id}, &n, &user, &version, &state)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, "", errNoDocument
	case err != nil:
		return 0, "", err
	case version != sha256 || state == corpus.StateCancelled:
		return 0, "", ErrOtherVersion
	}
	return n, user, nil
}

// CheckVersion locks a document and returns an error unless it still wants content of the version sha256. A hidden
// document counts as cancelled for the worker.
func (ds *Documents) CheckVersion(t Tx, id, sha256 string) error {
	_, _, err := ds.present(t, id, sha256)
	if !errors.Is(err, errNoDocument) {
		return err
	}
	var hidden bool
	if err := t.One(`SELECT EXISTS (SELECT 1 FROM documents WHERE id = $1)`, []any{id}, &hidden); err != nil {
		return err
	}
	if hidden {
		return ErrOtherVersion
	}
	return errNoDocument
}

// SetState sets a document's state; see corpus.Documents. The statement's last condition keeps a ready document
// ready: an outdated worker must not revert it.
func (ds *Documents) SetState(
	ctx context.Context, id, sha256 string, state corpus.State, p corpus.Progress, broken *corpus.Failure,
) error {
	if err := state.Explained(broken); err != nil {
		return err
	}
	progress, err := ToJSON(p)
	if err != nil {
		return err
	}
	var reason string
	if broken != nil {
		if reason, err = ToJSON(map[string]string{"code": broken.Code, "detail": string(broken.Detail)}); err != nil {
			return err
		}
	}
	return ds.db.Write(ctx, Patient, func(t Tx) error {
		n, _, err := ds.present(t, id, sha256)
		if err != nil {
			return err
		}
		moved, err := t.ExecNotify(OfDocument+id,
			`UPDATE documents SET state = $2, progress = $3, failure = $4 WHERE n = $1
			AND (state <> $5 OR $2 = $5)`, n, string(state), progress, reason, string(corpus.StateReady))
		if err == nil && moved == 0 {
			err = ErrOtherVersion
		}
		return err
	})
}

// SetSemantic sets the state of a document's vectors; see corpus.Documents. A change increments the library's
// version, as it affects semantic search.
func (ds *Documents) SetSemantic(ctx context.Context, id, sha256 string, s corpus.Semantic) error {
	return ds.db.Write(ctx, Patient, func(t Tx) error {
		n, user, err := ds.present(t, id, sha256)
		if err != nil {
			return err
		}
		changed, err := t.Exec(`UPDATE documents SET semantic = $2 WHERE n = $1 AND semantic <> $2`, n, string(s))
		if err != nil || changed == 0 {
			return err
		}
		return bumpVersion(t, user)
	})
}

// scoped locks a document in scope, hidden or not. The row is locked by its ID; namespaces are compared afterwards.
func (ds *Documents) scoped(t Tx, s chat.Scope, id string) (n int64, d corpus.Document, err error) {
	d, err = readOne(t, func(row Row) (corpus.Document, error) { return scanDocument(row, &n) },
		`SELECT`+documentColumns+`, d.n FROM documents d WHERE d.id = $1 AND d.user_id = $2`+ds.sql.Staying+
			ds.sql.Locked("d"), id, s.User)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !ds.sql.Scope(s).Holds(d.Namespace) {
		return 0, d, errNoDocument
	}
	return n, d, err
}

// shown is scoped for a document that is not hidden.
func (ds *Documents) shown(t Tx, s chat.Scope, id string) (n int64, d corpus.Document, err error) {
	n, d, err = ds.scoped(t, s, id)
	if err == nil && !d.DeletedAt.IsZero() {
		err = errNoDocument
	}
	return n, d, err
}

// Delete hides a document; see corpus.Documents. The row stays until a purge, so that Restore can undo it.
func (ds *Documents) Delete(ctx context.Context, s chat.Scope, id string) error {
	return ds.db.Write(ctx, Durable, func(t Tx) error {
		n, d, err := ds.shown(t, s, id)
		if err != nil {
			return err
		}
		return ds.setHidden(t, n, d.User, time.Now().UnixMicro())
	})
}

// Restore restores a hidden document; see corpus.Documents. A visible one is unchanged. It returns chat.CodeConflict
// if another document has its path. The path is checked first; the unique index documents_by_path is authoritative,
// since another process may take the path meanwhile.
func (ds *Documents) Restore(ctx context.Context, s chat.Scope, id string) error {
	return ds.db.Write(ctx, Durable, func(t Tx) error {
		n, d, err := ds.scoped(t, s, id)
		if err != nil || d.DeletedAt.IsZero() {
			return err
		}
		var taken bool
		if err := t.One(`SELECT EXISTS (SELECT 1 FROM documents WHERE user_id = $1 AND namespace = $2 AND path = $3
			AND deleted_at = 0)`, []any{d.User, d.Namespace, d.Path}, &taken); err != nil {
			return err
		}
		if !taken {
			err = ds.setHidden(t, n, d.User, 0)
		}
		if taken || ds.db.Violates(err, "documents_by_path") {
			return &chat.Error{
				Code:    chat.CodeConflict,
				Message: "Another document now has this name. Delete or rename it first.",
			}
		}
		return err
	})
}

// Reread queues a ready document again; see corpus.Documents.
func (ds *Documents) Reread(ctx context.Context, s chat.Scope, id string) error {
	return ds.db.Write(ctx, Durable, func(t Tx) error {
		n, d, err := ds.shown(t, s, id)
		if err != nil {
			return err
		}
		if d.State != corpus.StateReady {
			return &chat.Error{Code: chat.CodeConflict, Message: "Only ready documents can be imported again."}
		}
		if err := requeueDocument(t, id); err != nil {
			return err
		}
		_, err = t.ExecNotify(OfDocument+id,
			`UPDATE documents SET semantic = $2 WHERE n = $1`, n,
			string(corpus.SemanticOff))
		return err
	})
}

// Cancel cancels the processing of a document; see corpus.Documents. It returns chat.CodeConflict when that has
// ended. A document with an earlier version returns to it: file name, type and hash are copied from its current
// content.
func (ds *Documents) Cancel(ctx context.Context, s chat.Scope, id string) error {
	return ds.db.Write(ctx, Durable, func(t Tx) error {
		n, d, err := ds.shown(t, s, id)
		if err != nil {
			return err
		}
		switch d.State {
		case corpus.StateReady, corpus.StateFailed, corpus.StateCancelled:
			return &chat.Error{
				Code:    chat.CodeConflict,
				Message: "Nothing to cancel. The import has already ended.",
			}
		case corpus.StateQueued, corpus.StateParsing, corpus.StateIndexing:
		}
		back, err := t.ExecNotify(OfDocument+id, `UPDATE documents AS d SET state = 'ready', sha256 = c.sha256,
			filename = c.filename, mime = c.mime, bytes = c.bytes, progress = '{"stage":"ready","done":0,"total":0}',
			failure = '' FROM contents c WHERE d.n = $1 AND c.n = d.content`, n)
		if err == nil && back == 0 {
			_, err = t.ExecNotify(OfDocument+id,
				`UPDATE documents SET state = 'cancelled' WHERE n = $1`, n)
		}
		return err
	})
}
