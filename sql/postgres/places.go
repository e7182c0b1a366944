package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"footnote/places/placestore"
)

// Places keeps the places that are followed.
type Places struct{ db *DB }

var _ placestore.Store = (*Places)(nil)

// Places returns the store of places.
func (db *DB) Places() *Places { return &Places{db} }

// Replicas' clocks differ: leases and looks are kept by the database's.
const placeColumns = `id, user_id, revision, looks, created_at, due_at, lease_until > now_micros(), setup, progress`

func scanPlace(row scanner) (p placestore.Place, err error) {
	var created, due int64
	var setup, progress []byte
	if err := row.Scan(
		&p.ID, &p.User, &p.Revision, &p.Looks, &created, &due, &p.Looking, &setup, &progress,
	); err != nil {
		return p, err
	}
	if err := errors.Join(json.Unmarshal(setup, &p.Setup), json.Unmarshal(progress, &p.Progress)); err != nil {
		return p, fmt.Errorf("read a place: %w", err)
	}
	p.CreatedAt, p.NextAt = timeOf(created), timeOf(due)
	return p, nil
}

// CreatePlace implements placestore.Store.
func (ps *Places) CreatePlace(
	ctx context.Context, id, user string, setup placestore.Setup,
) (p placestore.Place, err error) {
	raw, err := toJSON(setup)
	if err != nil {
		return p, err
	}
	err = ps.db.inTx(ctx, shortTime, func(t *tx) error {
		if err := t.lockName("places", user); err != nil {
			return err
		}
		var there int
		if err := t.queryRow(`SELECT count(*) FROM places WHERE user_id = $1`, []any{user}, &there); err != nil {
			return err
		}
		if there >= placestore.MaxPlaces {
			return placestore.TooMany()
		}
		if err := placeNameFree(t, user, setup.Name, ""); err != nil {
			return err
		}
		if _, err := t.exec(`INSERT INTO places (id, user_id, name, setup, progress, created_at, due_at)
			SELECT $1, $2, $3, $4, '{}', now, now FROM now_micros() AS now`, id, user, setup.Name, raw); err != nil {
			return err
		}
		p, err = placeInTx(t, id)
		return err
	})
	return p, err
}

// placeNameFree fails when a user has another place of a name.
func placeNameFree(t *tx, user, name, except string) error {
	var there int
	err := t.queryRow(`SELECT count(*) FROM places WHERE user_id = $1 AND name = $2 AND id <> $3`,
		[]any{user, name, except}, &there)
	if err == nil && there > 0 {
		return placestore.NameTaken()
	}
	return err
}

func placeInTx(t *tx, id string) (placestore.Place, error) {
	return scanPlace(t.pgx.QueryRow(t.ctx, `SELECT `+placeColumns+` FROM places WHERE id = $1`, id))
}

// Place implements placestore.Store.
func (ps *Places) Place(ctx context.Context, user, id string) (p placestore.Place, err error) {
	all, err := ps.list(
		ctx,
		`SELECT `+placeColumns+` FROM places WHERE id = $1 AND user_id = $2 AND removing = 0`,
		id,
		user,
	)
	if err == nil && len(all) == 0 {
		err = placestore.NoSuch()
	}
	if err != nil {
		return p, err
	}
	return all[0], nil
}

// Places implements placestore.Store.
func (ps *Places) Places(ctx context.Context, user string) ([]placestore.Place, error) {
	return ps.list(
		ctx,
		`SELECT `+placeColumns+` FROM places WHERE user_id = $1 ORDER BY removing, name COLLATE "C"`,
		user,
	)
}

// DuePlaces implements placestore.Store.
func (ps *Places) DuePlaces(ctx context.Context, limit int) ([]placestore.Place, error) {
	return ps.list(ctx, `SELECT `+placeColumns+` FROM places WHERE due_at > 0
		AND due_at <= (SELECT now_micros()) AND lease_until <= (SELECT now_micros())
		ORDER BY due_at LIMIT $1`, limit)
}

func (ps *Places) list(ctx context.Context, query string, args ...any) ([]placestore.Place, error) {
	all, err := queryList(ctx, ps.db, shortTime, scanPlace, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read places: %w", err)
	}
	return all, nil
}

// PlaceExists implements placestore.Store.
func (ps *Places) PlaceExists(ctx context.Context, id string) (bool, error) {
	var n int
	err := ps.db.queryRow(ctx, shortTime, `SELECT count(*) FROM places WHERE id = $1`, []any{id}, &n)
	return n > 0, err
}

// UpdatePlace implements placestore.Store.
func (ps *Places) UpdatePlace(
	ctx context.Context, user, id string, revision int64, setup placestore.Setup, due time.Duration,
) (p placestore.Place, err error) {
	raw, err := toJSON(setup)
	if err != nil {
		return p, err
	}
	err = ps.db.inTx(ctx, shortTime, func(t *tx) error {
		if err := t.lockName("places", user); err != nil {
			return err
		}
		var is int64
		err := t.queryRow(`SELECT revision FROM places WHERE id = $1 AND user_id = $2 AND removing = 0 FOR UPDATE`,
			[]any{id, user}, &is)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return placestore.NoSuch()
		case err != nil:
			return err
		case is != revision:
			return placestore.Changed()
		}
		if err := placeNameFree(t, user, setup.Name, id); err != nil {
			return err
		}
		removing := 0
		if setup.Removing != placestore.NotRemoved {
			removing = 1
		}
		if _, err := t.exec(`UPDATE places SET setup = $1, name = $2, removing = $3, revision = revision + 1,
			due_at = CASE WHEN $4::bigint < -1 THEN due_at WHEN $4::bigint < 0 THEN 0
			ELSE now_micros() + $4::bigint END WHERE id = $5`,
			raw, setup.Name, removing, micros(due), id); err != nil {
			return err
		}
		p, err = placeInTx(t, id)
		return err
	})
	return p, err
}

// micros is how many microseconds a look is due in; Never and below stay negative.
func micros(due time.Duration) int64 {
	if due < 0 {
		return int64(due)
	}
	return due.Microseconds()
}

// LeasePlace implements placestore.Store.
func (ps *Places) LeasePlace(
	ctx context.Context, id string, lease placestore.Lease,
) (p placestore.Place, ok bool, err error) {
	err = ps.db.inTx(ctx, shortTime, func(t *tx) error {
		n, err := t.exec(`UPDATE places SET owner = $1, lease_until = now_micros() + $2
			WHERE id = $3 AND due_at > 0 AND due_at <= now_micros() AND lease_until <= now_micros()`,
			lease.Owner, lease.For.Microseconds(), id)
		if ok = err == nil && n == 1; !ok {
			return err
		}
		p, err = placeInTx(t, id)
		return err
	})
	return p, ok && err == nil, err
}

// heldPlace returns the number of a place that an owner holds the lease of.
func heldPlace(t *tx, id, owner string) (n int64, err error) {
	err = t.queryRow(`SELECT n FROM places WHERE id = $1 AND owner = $2 AND lease_until > now_micros()
		FOR UPDATE`, []any{id, owner}, &n)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, placestore.ErrLost
	}
	return n, err
}

// withPlace writes under a lease.
func (ps *Places) withPlace(ctx context.Context, id, owner string, fn func(t *tx, n int64) error) error {
	return ps.db.inTx(ctx, shortTime, func(t *tx) error {
		n, err := heldPlace(t, id, owner)
		if err != nil {
			return err
		}
		return fn(t, n)
	})
}

// RenewPlace implements placestore.Store.
func (ps *Places) RenewPlace(
	ctx context.Context, id string, lease placestore.Lease, progress *placestore.Progress,
) (revision int64, err error) {
	return revision, ps.withPlace(ctx, id, lease.Owner, func(t *tx, n int64) error {
		if progress != nil {
			raw, err := toJSON(progress)
			if err != nil {
				return err
			}
			if _, err := t.exec(`UPDATE places SET progress = $1 WHERE n = $2`, raw, n); err != nil {
				return err
			}
		}
		return t.queryRow(`UPDATE places SET lease_until = now_micros() + $1 WHERE n = $2 RETURNING revision`,
			[]any{lease.For.Microseconds(), n}, &revision)
	})
}

// ReleasePlace implements placestore.Store.
func (ps *Places) ReleasePlace(
	ctx context.Context, id, owner string, revision int64, progress placestore.Progress, due time.Duration,
) error {
	raw, err := toJSON(progress)
	if err != nil {
		return err
	}
	return ps.withPlace(ctx, id, owner, func(t *tx, n int64) error {
		_, err := t.exec(`UPDATE places SET progress = $1, owner = '', lease_until = 0,
			due_at = CASE WHEN revision <> $2 THEN due_at WHEN $3::bigint < 0 THEN 0 ELSE now_micros() + $3::bigint END
			WHERE n = $4`, raw, revision, micros(due), n)
		return err
	})
}

// DropPlace implements placestore.Store.
func (ps *Places) DropPlace(ctx context.Context, id, owner string) error {
	return ps.withPlace(ctx, id, owner, func(t *tx, n int64) error {
		_, err := t.exec(`DELETE FROM places WHERE n = $1`, n)
		return err
	})
}

// FreePlaces implements placestore.Store.
func (ps *Places) FreePlaces(ctx context.Context) error {
	return ps.db.inTx(ctx, shortTime, func(t *tx) error {
		_, err := t.exec(`UPDATE places SET owner = '', lease_until = 0 WHERE lease_until > 0`)
		return err
	})
}
