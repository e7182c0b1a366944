package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"footnote/chat"
	"footnote/corpus"
	"footnote/sql/store"
)

var errOtherVersion = &chat.Error{Code: chat.CodeConflict,
	Message: "The document was cancelled, deleted or replaced meanwhile. Reload the list to see its present state."}

// presentState fails with CodeNotFound for a document that is not there or hidden, and with CodeConflict for one that
// was cancelled or has another version than sha256.
func presentState(t *tx, id, sha256 string) (n int64, user string, err error) {
	var version string
	var state corpus.State
	err = t.One(
		`SELECT n, user_id, sha256, state FROM documents WHERE id = ? AND deleted_at = 0`, []any{id}, &n, &user,
		&version, &state,
	)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, "", errNoDocument
	case err != nil:
		return 0, "", err
	case version != sha256 || state == corpus.StateCancelled:
		return 0, "", errOtherVersion
	}
	return n, user, nil
}

// SetState moves a document to a state; see corpus.Documents.
func (ds *Documents) SetState(
	ctx context.Context, id, sha256 string, state corpus.State, p corpus.Progress, broken *corpus.Failure,
) error {
	if err := state.Explained(broken); err != nil {
		return err
	}
	progress, err := store.ToJSON(p)
	if err != nil {
		return err
	}
	var reason string
	if broken != nil {
		if reason, err = store.ToJSON(broken); err != nil {
			return err
		}
	}
	return ds.db.writeTx(ctx, false, func(t *tx) error {
		n, _, err := presentState(t, id, sha256)
		if err != nil {
			return err
		}
		moved, err := t.Exec(`UPDATE documents SET state = ?1, progress = ?2, failure = ?3 WHERE n = ?4
			AND (state <> ?5 OR ?1 = ?5)`, state, progress, reason, n, corpus.StateReady)
		if err == nil && moved == 0 {
			return errOtherVersion
		}
		return err
	})
}

// SetSemantic records the state of a document's vectors; see corpus.Documents.
func (ds *Documents) SetSemantic(ctx context.Context, id, sha256 string, s corpus.Semantic) error {
	return ds.db.writeTx(ctx, false, func(t *tx) error {
		n, user, err := presentState(t, id, sha256)
		if err != nil {
			return err
		}
		changed, err := t.Exec(`UPDATE documents SET semantic = ? WHERE n = ? AND semantic <> ?`, s, n, s)
		if err != nil || changed == 0 {
			return err
		}
		return bumpVersion(t, user)
	})
}

// scopedInTx returns the number of a document in scope, whether hidden or not.
func scopedInTx(t *tx, s chat.Scope, id string) (n int64, d corpus.Document, err error) {
	stmt, err := t.stmt(`SELECT ` + documentColumns + `, n FROM documents WHERE id = ? AND user_id = ? AND purging = 0`)
	if err != nil {
		return 0, d, err
	}
	d, err = scanDocument(stmt.QueryRowContext(t.ctx, id, s.User), &n)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !s.Holds(d.Namespace) {
		return 0, d, errNoDocument
	}
	return n, d, err
}

// shownInTx is scopedInTx for a document that is not hidden.
func shownInTx(t *tx, s chat.Scope, id string) (n int64, d corpus.Document, err error) {
	n, d, err = scopedInTx(t, s, id)
	if err == nil && !d.DeletedAt.IsZero() {
		err = errNoDocument
	}
	return n, d, err
}

// Delete hides a document; see corpus.Documents.
func (ds *Documents) Delete(ctx context.Context, s chat.Scope, id string) error {
	return ds.db.writeTx(ctx, true, func(t *tx) error {
		n, d, err := shownInTx(t, s, id)
		if err != nil {
			return err
		}
		return setHidden(t, n, d.User, time.Now().UnixMicro())
	})
}

// Restore brings a hidden document back; see corpus.Documents. One that is not hidden stays as it is. It fails with
// chat.CodeConflict if another document has taken its path.
func (ds *Documents) Restore(ctx context.Context, s chat.Scope, id string) error {
	return ds.db.writeTx(ctx, true, func(t *tx) error {
		n, d, err := scopedInTx(t, s, id)
		if err != nil || d.DeletedAt.IsZero() {
			return err
		}
		taken, err := pathTaken(t, d.User, d.Namespace, d.Path)
		if err != nil {
			return err
		}
		if taken {
			return &chat.Error{
				Code:    chat.CodeConflict,
				Message: "Another document has this name by now. Remove or rename that one first.",
			}
		}
		return setHidden(t, n, d.User, 0)
	})
}

// Reread moves a ready document back into the queue; see corpus.Documents.
func (ds *Documents) Reread(ctx context.Context, s chat.Scope, id string) error {
	return ds.db.writeTx(ctx, true, func(t *tx) error {
		n, d, err := shownInTx(t, s, id)
		if err != nil {
			return err
		}
		if d.State != corpus.StateReady {
			return &chat.Error{Code: chat.CodeConflict, Message: "Only a document that is ready can be read again."}
		}
		if err := requeueDocument(t, id); err != nil {
			return err
		}
		_, err = t.Exec(`UPDATE documents SET semantic = ? WHERE n = ?`, corpus.SemanticOff, n)
		return err
	})
}

// Cancel gives up a document's way into the library; see corpus.Documents. It fails with chat.CodeConflict when that
// is over.
func (ds *Documents) Cancel(ctx context.Context, s chat.Scope, id string) error {
	return ds.db.writeTx(ctx, true, func(t *tx) error {
		n, d, err := shownInTx(t, s, id)
		if err != nil {
			return err
		}
		switch d.State {
		case corpus.StateReady, corpus.StateFailed, corpus.StateCancelled:
			return &chat.Error{
				Code:    chat.CodeConflict,
				Message: "There is nothing to cancel: the document is no longer being read in.",
			}
		case corpus.StateQueued, corpus.StateParsing, corpus.StateIndexing:
		}
		back, err := t.Exec(`UPDATE documents SET (state, sha256, filename, mime, bytes, progress, failure) =
			(SELECT 'ready', sha256, filename, mime, bytes, '{"stage":"ready","done":0,"total":0}', '' FROM contents
				WHERE contents.n = documents.content)
			WHERE n = ? AND content > 0`, n)
		if err != nil || back > 0 {
			return err
		}
		_, err = t.Exec(`UPDATE documents SET state = 'cancelled' WHERE n = ?`, n)
		return err
	})
}
