package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/grants"
)

// Grants is grants.Store. Records of all kinds lie in one table (docs/decisions/access.md).
type Grants struct {
	db  Database
	sql *Dialect
}

var _ grants.Store = (*Grants)(nil)

// NewGrants returns a database's store of what users allowed programs.
func NewGrants(db Database, sql *Dialect) *Grants { return &Grants{db, sql} }

// Put implements grants.Store. What goes beyond `most` is the oldest of the owner's records of that kind, in the same
// transaction. A client with a grant or an open consent page is kept, so strangers who register programs can't
// push it out.
func (g *Grants) Put(ctx context.Context, r grants.Record, most int) error {
	return g.db.Write(ctx, Durable, func(t Tx) error {
		if _, err := t.Exec(`INSERT INTO oauth (kind, id, owner, used, made, expires, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, string(r.Kind), r.ID, r.Owner, r.Used, r.Made.UnixMicro(),
			r.Expires.UnixMicro(), string(r.Body)); err != nil {
			return err
		}
		_, err := t.Exec(`DELETE FROM oauth WHERE kind = $1 AND owner = $2 AND (kind <> 'client' OR NOT used)
			AND NOT (kind = 'client' AND id IN (SELECT owner FROM oauth WHERE kind = 'consent'))
			AND id NOT IN (SELECT id FROM oauth WHERE kind = $1 AND owner = $2 AND (kind <> 'client' OR NOT used)
				ORDER BY made DESC, `+g.sql.Age+` DESC LIMIT CAST($3 AS bigint))`, string(r.Kind), r.Owner, most)
		return err
	})
}

const selectGrants = `SELECT kind, id, owner, used, made, expires, body FROM oauth `

func scanGrant(row Row) (r grants.Record, err error) {
	var body string
	var made, expires int64
	err = row.Scan((*string)(&r.Kind), &r.ID, &r.Owner, &r.Used, &made, &expires, &body)
	r.Body, r.Made, r.Expires = []byte(body), TimeOf(made), TimeOf(expires)
	return r, err
}

// Get implements grants.Store.
func (g *Grants) Get(ctx context.Context, kind grants.Kind, id string) (grants.Record, error) {
	return readGrant(g.db.Alone(ctx, 0), kind, id)
}

// readGrant reads a record in a transaction or outside. It also returns one whose time is over: that is the caller's to
// judge.
func readGrant(by Statements, kind grants.Kind, id string) (grants.Record, error) {
	r, err := readOne(by, scanGrant, selectGrants+`WHERE kind = $1 AND id = $2`, string(kind), id)
	if errors.Is(err, sql.ErrNoRows) {
		return r, &chat.Error{Code: chat.CodeNotFound, Message: "There is no such record."}
	}
	return r, wrap(err, "read a "+string(kind))
}

// Use implements grants.Store. The update changes a row only once, whoever asks and however often at a time: that makes
// a code or a refresh token usable once. A record that was used is still returned, for the caller to act on that.
func (g *Grants) Use(ctx context.Context, kind grants.Kind, id string) (r grants.Record, first bool, err error) {
	err = g.db.Write(ctx, Durable, func(t Tx) error {
		n, err := t.Exec(`UPDATE oauth SET used = true WHERE kind = $1 AND id = $2 AND NOT used`, string(kind), id)
		if err != nil {
			return wrap(err, "use a "+string(kind))
		}
		first = n == 1
		r, err = readGrant(t, kind, id)
		return err
	})
	return r, first && err == nil, err
}

// Drop implements grants.Store.
func (g *Grants) Drop(ctx context.Context, kind grants.Kind, id string) error {
	_, err := g.db.Alone(ctx, Durable).Exec(`DELETE FROM oauth WHERE kind = $1 AND id = $2`, string(kind), id)
	return err
}

// List implements grants.Store.
func (g *Grants) List(ctx context.Context, kind grants.Kind, owner string) ([]grants.Record, error) {
	return readList(g.db.Alone(ctx, 0), scanGrant,
		selectGrants+`WHERE kind = $1 AND owner = $2 ORDER BY made, `+g.sql.Age, string(kind), owner)
}

// Sweep implements grants.Store. A client without a grant that holds goes with its time; one with a grant must stay, or
// the grant's program could not come back.
func (g *Grants) Sweep(ctx context.Context, now time.Time) error {
	_, err := g.db.Alone(ctx, Durable).Exec(`DELETE FROM oauth WHERE expires < $1
		AND NOT (kind = 'client' AND used AND id IN
			(SELECT `+g.sql.Field("body", "client")+` FROM oauth WHERE kind = 'grant' AND expires >= $1))`,
		now.UnixMicro())
	return err
}
