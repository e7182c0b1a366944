package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/footnote/footnote/corpus/sources/placestore"
)

// Places stores places and their items.
type Places struct {
	db  Database
	sql *Dialect
}

var _ placestore.Store = (*Places)(nil)

// NewPlaces returns a database's store of places.
func NewPlaces(db Database, sql *Dialect) *Places { return &Places{db, sql} }

// selectPlace uses the database's clock for leases and syncs, as those of processes differ.
const selectPlace = `SELECT p.id, p.user_id, p.revision, p.looks, p.created_at, p.due_at,
	p.lease_until > (SELECT now_micros()), p.deaths, p.setup, p.progress FROM places p `

// scanPlace decodes a row of selectPlace. A due_at of 0 means that no sync is due, which is the zero time.
func scanPlace(row Row) (p placestore.Place, err error) {
	var created, due int64
	var setup, progress []byte
	if err := row.Scan(
		&p.ID, &p.User, &p.Revision, &p.Looks, &created, &due, &p.Looking, &p.Deaths, &setup, &progress,
	); err != nil {
		return p, err
	}
	if err := errors.Join(json.Unmarshal(setup, &p.Setup), json.Unmarshal(progress, &p.Progress)); err != nil {
		return p, fmt.Errorf("read a source: %w", err)
	}
	p.CreatedAt, p.NextAt = TimeOf(created), TimeOf(due)
	return p, nil
}

// CreatePlace implements placestore.Store. Number and names are checked under one lock by user; the first sync is
// due at once.
func (ps *Places) CreatePlace(
	ctx context.Context, id, user string, setup placestore.Setup,
) (p placestore.Place, err error) {
	raw, err := ToJSON(setup)
	if err != nil {
		return p, err
	}
	err = ps.db.Write(ctx, Durable, func(t Tx) error {
		there, err := countOf(t, "places", user)
		if err != nil {
			return err
		}
		if there >= placestore.MaxPlaces {
			return placestore.TooMany()
		}
		if err := placeNameFree(t, user, setup.Name, ""); err != nil {
			return err
		}
		if _, err := t.Exec(`INSERT INTO places (id, user_id, name, setup, progress, created_at, due_at)
			SELECT $1, $2, $3, $4, '{}', c.now, c.now FROM (SELECT now_micros() AS now) c`, id, user, setup.Name,
			raw); err != nil {
			return err
		}
		p, err = readOne(t, scanPlace, selectPlace+`WHERE p.id = $1`, id)
		return err
	})
	return p, err
}

// placeNameFree returns an error if another place of the user has the name.
func placeNameFree(t Tx, user, name, except string) error {
	var there int
	err := t.One(`SELECT count(*) FROM places WHERE user_id = $1 AND name = $2 AND id <> $3`,
		[]any{user, name, except}, &there)
	if err == nil && there > 0 {
		return placestore.NameTaken()
	}
	return err
}

// Place implements placestore.Store.
func (ps *Places) Place(ctx context.Context, user, id string) (placestore.Place, error) {
	p, err := readOne(ps.db.Autocommit(ctx, 0), scanPlace, selectPlace+`WHERE p.id = $1 AND p.user_id = $2
		AND p.removing = 0`, id, user)
	if errors.Is(err, sql.ErrNoRows) {
		return p, placestore.NoSuch()
	}
	return p, wrap(err, "read places")
}

// Places implements placestore.Store.
func (ps *Places) Places(ctx context.Context, user string) ([]placestore.Place, error) {
	return ps.list(ctx, `WHERE p.user_id = $1 ORDER BY p.removing, p.name`+ps.sql.Bytewise, user)
}

// DuePlaces implements placestore.Store. It is read-only: LeasePlace leases a place to one of several processes.
func (ps *Places) DuePlaces(ctx context.Context, limit int) ([]placestore.Place, error) {
	return ps.list(ctx, `WHERE p.due_at > 0 AND p.due_at <= (SELECT now_micros())
		AND p.lease_until <= (SELECT now_micros())
		ORDER BY row_number() OVER (PARTITION BY p.user_id ORDER BY p.due_at), p.due_at
		LIMIT CAST($1 AS bigint)`, limit)
}

func (ps *Places) list(ctx context.Context, which string, args ...any) ([]placestore.Place, error) {
	all, err := readList(ps.db.Autocommit(ctx, 0), scanPlace, selectPlace+which, args...)
	return all, wrap(err, "read places")
}

// PlaceExists implements placestore.Store.
func (ps *Places) PlaceExists(ctx context.Context, id string) (bool, error) {
	var n int
	err := ps.db.Autocommit(ctx, 0).One(`SELECT count(*) FROM places WHERE id = $1`, []any{id}, &n)
	return n > 0, err
}

// UpdatePlace implements placestore.Store. The revision detects a concurrent update, for example in two browser
// windows: the later one fails. A due below -1 keeps the next sync, -1 removes it.
func (ps *Places) UpdatePlace(
	ctx context.Context, user, id string, revision int64, setup placestore.Setup, due time.Duration,
) (p placestore.Place, err error) {
	raw, err := ToJSON(setup)
	if err != nil {
		return p, err
	}
	err = ps.db.Write(ctx, Durable, func(t Tx) error {
		if err := t.Lock("places", user); err != nil {
			return err
		}
		var is int64
		err := t.One(`SELECT p.revision FROM places p WHERE p.id = $1 AND p.user_id = $2 AND p.removing = 0`+
			ps.sql.Locked("p"), []any{id, user}, &is)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return placestore.NoSuch()
		case err != nil:
			return err
		case is != revision:
			return placestore.Changed()
		}
		if err := placeNameFree(t, user, setup.Name, id); err != nil {
			return err
		}
		if _, err := t.Exec(`UPDATE places SET setup = $1, name = $2, removing = $3, revision = revision + 1,
			deaths = 0,
			due_at = CASE WHEN CAST($4 AS bigint) < -1 THEN due_at WHEN CAST($4 AS bigint) < 0 THEN 0
			ELSE now_micros() + CAST($4 AS bigint) END WHERE id = $5`,
			raw, setup.Name, asInteger(setup.Removing != placestore.NotRemoved), micros(due), id); err != nil {
			return err
		}
		p, err = readOne(t, scanPlace, selectPlace+`WHERE p.id = $1`, id)
		return err
	})
	return p, err
}

// micros returns a delay in microseconds; Never and lower values stay negative.
func micros(due time.Duration) int64 {
	if due < 0 {
		return int64(due)
	}
	return due.Microseconds()
}

// LeasePlace implements placestore.Store. The update repeats the conditions of DuePlaces, so it only changes a free
// row. It is durable before work begins, since the lease reveals a crash later.
func (ps *Places) LeasePlace(
	ctx context.Context, id string, lease placestore.Lease,
) (p placestore.Place, ok bool, err error) {
	err = ps.db.Write(ctx, Durable, func(t Tx) error {
		n, err := t.Exec(`UPDATE places SET owner = $1, lease_until = now_micros() + $2
			WHERE id = $3 AND due_at > 0 AND due_at <= now_micros() AND lease_until <= now_micros()`,
			lease.Owner, lease.For.Microseconds(), id)
		if ok = err == nil && n == 1; !ok {
			return err
		}
		p, err = readOne(t, scanPlace, selectPlace+`WHERE p.id = $1`, id)
		return err
	})
	return p, ok && err == nil, err
}

// withPlace runs a write under a lease; fn gets the place's number. One statement checks the lease and locks the
// row, so a server with an expired lease never writes.
func (ps *Places) withPlace(ctx context.Context, id, owner string, fn func(t Tx, n int64) error) error {
	return ps.db.Write(ctx, 0, func(t Tx) error {
		var n int64
		err := t.One(`SELECT p.n FROM places p WHERE p.id = $1 AND p.owner = $2 AND p.lease_until > now_micros()`+
			ps.sql.Locked("p"), []any{id, owner}, &n)
		if errors.Is(err, sql.ErrNoRows) {
			return placestore.ErrLost
		}
		if err != nil {
			return err
		}
		return fn(t, n)
	})
}

// RenewPlace implements placestore.Store. The returned revision lets a server detect that the place was changed.
func (ps *Places) RenewPlace(
	ctx context.Context, id string, lease placestore.Lease, progress *placestore.Progress,
) (revision int64, err error) {
	return revision, ps.withPlace(ctx, id, lease.Owner, func(t Tx, n int64) error {
		if progress != nil {
			raw, err := ToJSON(progress)
			if err != nil {
				return err
			}
			if _, err := t.Exec(`UPDATE places SET progress = $1 WHERE n = $2`, raw, n); err != nil {
				return err
			}
		}
		return t.One(`UPDATE places SET lease_until = now_micros() + $1 WHERE n = $2 RETURNING revision`,
			[]any{lease.For.Microseconds(), n}, &revision)
	})
}

// ReleasePlace implements placestore.Store. If the setup was changed meanwhile, its due time stays.
func (ps *Places) ReleasePlace(
	ctx context.Context, id, owner string, revision int64, progress placestore.Progress, due time.Duration,
) error {
	raw, err := ToJSON(progress)
	if err != nil {
		return err
	}
	return ps.withPlace(ctx, id, owner, func(t Tx, n int64) error {
		_, err := t.Exec(`UPDATE places SET progress = $1, owner = '', lease_until = 0,
			due_at = CASE WHEN revision <> $2 THEN due_at WHEN CAST($3 AS bigint) < 0 THEN 0
			ELSE now_micros() + CAST($3 AS bigint) END,
			deaths = deaths * CAST($4 AS bigint) WHERE n = $5`,
			raw, revision, micros(due), asInteger(progress.Going), n)
		return err
	})
}

// DropPlace implements placestore.Store.
func (ps *Places) DropPlace(ctx context.Context, id, owner string) error {
	return ps.withPlace(ctx, id, owner, func(t Tx, n int64) error {
		_, err := t.Exec(`DELETE FROM places WHERE n = $1`, n)
		return err
	})
}

// CountDeaths implements placestore.Store. A removal continues however often its process dies.
func (ps *Places) CountDeaths(ctx context.Context, all bool) error {
	return ps.db.Write(ctx, Durable, func(t Tx) error {
		_, err := t.Exec(`UPDATE places SET owner = '', lease_until = 0,
			deaths = CASE WHEN removing = 0 THEN deaths + 1 ELSE 0 END,
			due_at = CASE WHEN removing = 0 AND deaths + 1 >= $1 THEN 0 ELSE due_at END
			WHERE owner <> '' AND (lease_until <= now_micros() OR CAST($2 AS bigint) = 1)`,
			placestore.MaxDeaths, asInteger(all))
		return err
	})
}
