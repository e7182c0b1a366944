package postgres

import (
	"context"
	"fmt"
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
	if _, err := g.db.execStatement(ctx, shortTime, `INSERT INTO oauth (kind, id, owner, used, made, expires, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, string(r.Kind), r.ID, r.Owner, r.Used, r.Made.UnixMicro(),
		r.Expires.UnixMicro(), string(r.Body)); err != nil {
		return err
	}
	_, err := g.db.execStatement(ctx, shortTime, `DELETE FROM oauth
		WHERE kind = $1 AND owner = $2 AND (kind <> 'client' OR NOT used)
		AND id NOT IN (SELECT id FROM oauth WHERE kind = $1 AND owner = $2 AND (kind <> 'client' OR NOT used)
			ORDER BY made DESC, n DESC LIMIT $3)`, string(r.Kind), r.Owner, most)
	return err
}

const selectGrants = `SELECT kind, id, owner, used, made, expires, body FROM oauth `

// readGrantRecord reads a row of selectGrants, and whatever else it has.
func readGrantRecord(row scanner) (r grants.Record, err error) {
	var kind, body string
	var made, expires int64
	if err := row.Scan(&kind, &r.ID, &r.Owner, &r.Used, &made, &expires, &body); err != nil {
		return r, err
	}
	r.Kind, r.Body, r.Made, r.Expires = grants.Kind(kind), []byte(body), timeOf(made), timeOf(expires)
	return r, nil
}

// Get implements grants.Store.
func (g *Grants) Get(ctx context.Context, kind grants.Kind, id string) (grants.Record, error) {
	list, err := queryList(
		ctx, g.db, shortTime, readGrantRecord, selectGrants+`WHERE kind = $1 AND id = $2`, string(kind), id,
	)
	if err != nil {
		return grants.Record{}, fmt.Errorf("read a %s: %w", kind, err)
	}
	if len(list) == 0 {
		return grants.Record{}, &chat.Error{Code: chat.CodeNotFound, Message: "There is no such record."}
	}
	return list[0], nil
}

// Use implements grants.Store.
func (g *Grants) Use(ctx context.Context, kind grants.Kind, id string) (grants.Record, bool, error) {
	list, err := queryList(ctx, g.db, shortTime, readGrantRecord, `UPDATE oauth SET used = true
		WHERE kind = $1 AND id = $2 AND NOT used RETURNING kind, id, owner, used, made, expires, body`, string(kind),
		id)
	if err != nil {
		return grants.Record{}, false, fmt.Errorf("use a %s: %w", kind, err)
	}
	if len(list) == 1 {
		return list[0], true, nil
	}
	r, err := g.Get(ctx, kind, id)
	return r, false, err
}

// Drop implements grants.Store.
func (g *Grants) Drop(ctx context.Context, kind grants.Kind, id string) error {
	_, err := g.db.execStatement(ctx, shortTime, `DELETE FROM oauth WHERE kind = $1 AND id = $2`, string(kind), id)
	return err
}

// List implements grants.Store.
func (g *Grants) List(ctx context.Context, kind grants.Kind, owner string) ([]grants.Record, error) {
	return queryList(ctx, g.db, shortTime, readGrantRecord,
		selectGrants+`WHERE kind = $1 AND owner = $2 ORDER BY made, n`, string(kind), owner)
}

// Sweep implements grants.Store.
func (g *Grants) Sweep(ctx context.Context, now time.Time) error {
	_, err := g.db.execStatement(ctx, shortTime, `DELETE FROM oauth WHERE expires < $1
		AND NOT (kind = 'client' AND used AND id IN
			(SELECT body::json->>'client' FROM oauth WHERE kind = 'grant' AND expires >= $1))`, now.UnixMicro())
	return err
}
