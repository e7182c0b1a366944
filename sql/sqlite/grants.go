package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"footnote/chat"
	"footnote/grants"
)

// Grants is grants.Store.
type Grants struct{ db *DB }

// Grants returns the store of what users allowed programs.
func (db *DB) Grants() *Grants { return &Grants{db} }

// Put implements grants.Store.
func (g *Grants) Put(ctx context.Context, r grants.Record, most int) error {
	return g.db.writeTx(ctx, true, func(t *tx) error {
		if _, err := t.exec(`INSERT INTO oauth (kind, id, owner, used, made, expires, body) VALUES (?, ?, ?, ?, ?, ?,
				?)`,
			string(r.Kind), r.ID, r.Owner, r.Used, r.Made.UnixMicro(), r.Expires.UnixMicro(),
			string(r.Body)); err != nil {
			return err
		}
		_, err := t.exec(`DELETE FROM oauth WHERE kind = ?1 AND owner = ?2 AND (kind <> 'client' OR used = 0)
			AND id NOT IN (SELECT id FROM oauth WHERE kind = ?1 AND owner = ?2 AND (kind <> 'client' OR used = 0)
				ORDER BY made DESC, rowid DESC LIMIT ?3)`, string(r.Kind), r.Owner, most)
		return err
	})
}

const selectGrants = `SELECT kind, id, owner, used, made, expires, body FROM oauth `

// scanGrant reads a row of selectGrants.
func scanGrant(scan func(...any) error) (r grants.Record, err error) {
	var kind, body string
	var made, expires int64
	if err := scan(&kind, &r.ID, &r.Owner, &r.Used, &made, &expires, &body); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return r, &chat.Error{Code: chat.CodeNotFound, Message: "There is no such record."}
		}
		return r, failure(err)
	}
	r.Kind, r.Body, r.Made, r.Expires = grants.Kind(kind), []byte(body), timeOf(made), timeOf(expires)
	return r, nil
}

// Get implements grants.Store.
func (g *Grants) Get(ctx context.Context, kind grants.Kind, id string) (grants.Record, error) {
	return scanGrant(func(dest ...any) error {
		return g.db.queryRow(ctx, selectGrants+`WHERE kind = ? AND id = ?`, []any{string(kind), id}, dest...)
	})
}

// Use implements grants.Store.
func (g *Grants) Use(ctx context.Context, kind grants.Kind, id string) (r grants.Record, first bool, err error) {
	err = g.db.writeTx(ctx, true, func(t *tx) error {
		if r, err = scanGrant(func(dest ...any) error {
			return t.queryRow(selectGrants+`WHERE kind = ? AND id = ?`, []any{string(kind), id}, dest...)
		}); err != nil {
			return err
		}
		n, err := t.exec(`UPDATE oauth SET used = 1 WHERE kind = ? AND id = ? AND used = 0`, string(kind), id)
		first = n == 1
		return err
	})
	return r, first, err
}

// Drop implements grants.Store.
func (g *Grants) Drop(ctx context.Context, kind grants.Kind, id string) error {
	return g.db.writeTx(ctx, true, func(t *tx) error {
		_, err := t.exec(`DELETE FROM oauth WHERE kind = ? AND id = ?`, string(kind), id)
		return err
	})
}

// List implements grants.Store.
func (g *Grants) List(ctx context.Context, kind grants.Kind, owner string) (list []grants.Record, err error) {
	rows, err := g.db.queryRows(
		ctx, selectGrants+`WHERE kind = ? AND owner = ? ORDER BY made, rowid`, string(kind), owner,
	)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r, err := scanGrant(rows.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// Sweep implements grants.Store.
func (g *Grants) Sweep(ctx context.Context, now time.Time) error {
	return g.db.writeTx(ctx, true, func(t *tx) error {
		_, err := t.exec(`DELETE FROM oauth WHERE expires < ?1 AND NOT (kind = 'client' AND used = 1 AND id IN
			(SELECT json_extract(body, '$.client') FROM oauth WHERE kind = 'grant' AND expires >= ?1))`,
			now.UnixMicro())
		return err
	})
}
