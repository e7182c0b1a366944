package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"footnote/places/placestore"
)

// Places keeps the places that are followed.
type Places struct{ db *DB }

var _ placestore.Store = (*Places)(nil)

// Places returns the store of places.
func (db *DB) Places() *Places { return &Places{db} }

const placeColumns = `id, user, revision, looks, created_at, due_at, lease_until, setup, progress`

func scanPlace(row scanner) (p placestore.Place, err error) {
	var created, due, leased int64
	var setup, progress []byte
	if err := row.Scan(
		&p.ID, &p.User, &p.Revision, &p.Looks, &created, &due, &leased, &setup, &progress,
	); err != nil {
		return p, failure(err)
	}
	if err := errors.Join(json.Unmarshal(setup, &p.Setup), json.Unmarshal(progress, &p.Progress)); err != nil {
		return p, fmt.Errorf("read a place: %w", err)
	}
	p.CreatedAt, p.NextAt, p.Looking = timeOf(created), timeOf(due), leased > time.Now().UnixMicro()
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
	err = ps.db.writeTx(ctx, true, func(t *tx) error {
		var there int
		if err := t.queryRow(`SELECT count(*) FROM places WHERE user = ?`, []any{user}, &there); err != nil {
			return err
		}
		if there >= placestore.MaxPlaces {
			return placestore.TooMany()
		}
		if err := placeNameFree(t, user, setup.Name, ""); err != nil {
			return err
		}
		now := time.Now().UnixMicro()
		if _, err := t.exec(`INSERT INTO places (id, user, name, setup, progress, created_at, due_at)
			VALUES (?, ?, ?, ?, '{}', ?5, ?5)`, id, user, setup.Name, raw, now); err != nil {
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
	err := t.queryRow(`SELECT count(*) FROM places WHERE user = ? AND name = ? AND id <> ?`,
		[]any{user, name, except}, &there)
	if err == nil && there > 0 {
		return placestore.NameTaken()
	}
	return err
}

func placeInTx(t *tx, id string) (placestore.Place, error) {
	stmt, err := t.stmt(`SELECT ` + placeColumns + ` FROM places WHERE id = ?`)
	if err != nil {
		return placestore.Place{}, err
	}
	return scanPlace(stmt.QueryRowContext(t.ctx, id))
}

// Place implements placestore.Store.
func (ps *Places) Place(ctx context.Context, user, id string) (p placestore.Place, err error) {
	all, err := ps.list(ctx, `SELECT `+placeColumns+` FROM places WHERE id = ? AND user = ? AND removing = 0`, id, user)
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
	return ps.list(ctx, `SELECT `+placeColumns+` FROM places WHERE user = ? ORDER BY removing, name`, user)
}

// DuePlaces implements placestore.Store.
func (ps *Places) DuePlaces(ctx context.Context, limit int) ([]placestore.Place, error) {
	return ps.list(ctx, `SELECT `+placeColumns+` FROM places WHERE due_at > 0 AND due_at <= ?1 AND lease_until <= ?1
		ORDER BY due_at LIMIT ?2`, time.Now().UnixMicro(), limit)
}

func (ps *Places) list(ctx context.Context, query string, args ...any) (all []placestore.Place, err error) {
	rows, err := ps.db.queryRows(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read places: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		p, err := scanPlace(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, failure(rows.Err())
}

// PlaceExists implements placestore.Store.
func (ps *Places) PlaceExists(ctx context.Context, id string) (bool, error) {
	var n int
	err := ps.db.queryRow(ctx, `SELECT count(*) FROM places WHERE id = ?`, []any{id}, &n)
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
	err = ps.db.writeTx(ctx, true, func(t *tx) error {
		var is int64
		err := t.queryRow(`SELECT revision FROM places WHERE id = ? AND user = ? AND removing = 0`,
			[]any{id, user}, &is)
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
		removing := 0
		if setup.Removing != placestore.NotRemoved {
			removing = 1
		}
		if _, err := t.exec(`UPDATE places SET setup = ?1, name = ?2, removing = ?3, revision = revision + 1,
			due_at = CASE WHEN ?4 < -1 THEN due_at ELSE ?5 END WHERE id = ?6`,
			raw, setup.Name, removing, int64(due), dueAt(due), id); err != nil {
			return err
		}
		p, err = placeInTx(t, id)
		return err
	})
	return p, err
}

// dueAt is when a look is due after a duration; 0: never.
func dueAt(due time.Duration) int64 {
	if due < 0 {
		return 0
	}
	return time.Now().Add(due).UnixMicro()
}

// LeasePlace implements placestore.Store.
func (ps *Places) LeasePlace(
	ctx context.Context, id string, lease placestore.Lease,
) (p placestore.Place, ok bool, err error) {
	err = ps.db.writeTx(ctx, false, func(t *tx) error {
		now := time.Now()
		n, err := t.exec(`UPDATE places SET owner = ?1, lease_until = ?2
			WHERE id = ?3 AND due_at > 0 AND due_at <= ?4 AND lease_until <= ?4`,
			lease.Owner, now.Add(lease.For).UnixMicro(), id, now.UnixMicro())
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
	err = t.queryRow(`SELECT n FROM places WHERE id = ? AND owner = ? AND lease_until > ?`,
		[]any{id, owner, time.Now().UnixMicro()}, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, placestore.ErrLost
	}
	return n, err
}

// withPlace writes under a lease.
func (ps *Places) withPlace(ctx context.Context, id, owner string, fn func(t *tx, n int64) error) error {
	return ps.db.writeTx(ctx, false, func(t *tx) error {
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
			if _, err := t.exec(`UPDATE places SET progress = ? WHERE n = ?`, raw, n); err != nil {
				return err
			}
		}
		return t.queryRow(`UPDATE places SET lease_until = ? WHERE n = ? RETURNING revision`,
			[]any{time.Now().Add(lease.For).UnixMicro(), n}, &revision)
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
		_, err := t.exec(`UPDATE places SET progress = ?, owner = '', lease_until = 0,
			due_at = CASE WHEN revision = ? THEN ? ELSE due_at END WHERE n = ?`, raw, revision, dueAt(due), n)
		return err
	})
}

// DropPlace implements placestore.Store.
func (ps *Places) DropPlace(ctx context.Context, id, owner string) error {
	return ps.withPlace(ctx, id, owner, func(t *tx, n int64) error {
		_, err := t.exec(`DELETE FROM places WHERE n = ?`, n)
		return err
	})
}

// FreePlaces implements placestore.Store.
func (ps *Places) FreePlaces(ctx context.Context) error {
	return ps.db.writeTx(ctx, false, func(t *tx) error {
		_, err := t.exec(`UPDATE places SET owner = '', lease_until = 0 WHERE lease_until > 0`)
		return err
	})
}
