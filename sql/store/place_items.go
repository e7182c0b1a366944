package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/footnote/footnote/corpus/sources/placestore"
)

// BeginSync implements placestore.Store. The number is from the place's row, so it increases across servers.
func (ps *Places) BeginSync(ctx context.Context, id, owner string) (look int64, err error) {
	return look, ps.withPlace(ctx, id, owner, func(t Tx, n int64) error {
		return t.One(`UPDATE places SET looks = looks + 1 WHERE n = $1 RETURNING looks`, []any{n}, &look)
	})
}

// RecordItems implements placestore.Store. A known item keeps its version, and is wanted when the place lists no
// version or another one. Its sync number distinguishes it from missing items.
func (ps *Places) RecordItems(
	ctx context.Context, id, owner string, look int64, items []placestore.Listed,
) error {
	return ps.withPlace(ctx, id, owner, func(t Tx, n int64) error {
		for _, item := range items {
			if _, err := t.Exec(`INSERT INTO place_items AS i (place, key, look, wanted, name, link, body)
				VALUES ($1, $2, $3, 1, $4, $5, $6) ON CONFLICT (place, key) DO UPDATE SET look = excluded.look,
				wanted = CASE WHEN $7 = '' OR i.version <> $7 THEN 1 ELSE 0 END, body = excluded.body`,
				n, item.Key, look, item.Name, item.Link, string(item.Body), item.Version); err != nil {
				return err
			}
		}
		return nil
	})
}

const itemColumns = `i.key, i.version, i.document, i.name, i.link, i.refusal, i.body`

// scanPlaceItem decodes a row of itemColumns. An empty text means no refusal.
func scanPlaceItem(row Row) (item placestore.Item, err error) {
	var refusal, body string
	if err := row.Scan(
		&item.Key, &item.Version, &item.Document, &item.Name, &item.Link, &refusal, &body,
	); err != nil {
		return item, err
	}
	item.Listed = []byte(body)
	if refusal != "" {
		if err := json.Unmarshal([]byte(refusal), &item.Refusal); err != nil {
			return item, fmt.Errorf("read an item of a source: %w", err)
		}
	}
	return item, nil
}

// items reads the items of a place, whose ID is $1, with a condition.
func (ps *Places) items(ctx context.Context, which string, args ...any) ([]placestore.Item, error) {
	all, err := readList(ps.db.Autocommit(ctx, 0), scanPlaceItem, `SELECT `+itemColumns+` FROM place_items i
		JOIN places p ON p.n = i.place WHERE p.id = $1 AND `+which, args...)
	return all, wrap(err, "read the items of a source")
}

// WantedItems implements placestore.Store. The partial index place_items_wanted has this order. Items postponed in
// this sync are excluded.
func (ps *Places) WantedItems(
	ctx context.Context, id string, look int64, limit int,
) ([]placestore.Item, error) {
	return ps.items(ctx, `i.wanted = 1 AND i.put_off < $2 AND i.look = $2 ORDER BY i.put_off, i.key
		LIMIT CAST($3 AS bigint)`,
		id, look, limit)
}

// MissingItems implements placestore.Store. They may only be removed after a complete sync, which the caller checks.
func (ps *Places) MissingItems(
	ctx context.Context, id string, look int64, limit int,
) ([]placestore.Item, error) {
	return ps.items(ctx, `i.look < $2 LIMIT CAST($3 AS bigint)`, id, look, limit)
}

// Items implements placestore.Store. Keyset pagination by key uses the primary key or place_items_refused.
func (ps *Places) Items(
	ctx context.Context, user, id string, refused bool, after string, limit int,
) ([]placestore.Item, error) {
	if _, err := ps.Place(ctx, user, id); err != nil {
		return nil, err
	}
	if refused {
		return ps.items(ctx, `i.refusal <> '' AND i.key > $2 ORDER BY i.key LIMIT CAST($3 AS bigint)`, id, after, limit)
	}
	return ps.items(ctx, `i.key > $2 ORDER BY i.key LIMIT CAST($3 AS bigint)`, id, after, limit)
}

// SettleItem implements placestore.Store.
func (ps *Places) SettleItem(ctx context.Context, id, owner string, item placestore.Item) error {
	refusal := ""
	if item.Refusal != nil {
		var err error
		if refusal, err = ToJSON(item.Refusal); err != nil {
			return err
		}
	}
	return ps.withPlace(ctx, id, owner, func(t Tx, n int64) error {
		_, err := t.Exec(`UPDATE place_items SET wanted = 0, put_off = 0, version = $1, document = $2, name = $3,
			link = $4, refusal = $5 WHERE place = $6 AND key = $7`,
			item.Version, item.Document, item.Name, item.Link, refusal, n, item.Key)
		return err
	})
}

// PostponeItem implements placestore.Store.
func (ps *Places) PostponeItem(ctx context.Context, id, owner string, look int64, key string) error {
	return ps.withPlace(ctx, id, owner, func(t Tx, n int64) error {
		_, err := t.Exec(`UPDATE place_items SET put_off = $1 WHERE place = $2 AND key = $3`, look, n, key)
		return err
	})
}

// UnsettleItems implements placestore.Store. Other items lose the shared document, so they have to be fetched again.
func (ps *Places) UnsettleItems(ctx context.Context, id, owner, document, except string) error {
	return ps.withPlace(ctx, id, owner, func(t Tx, n int64) error {
		_, err := t.Exec(`UPDATE place_items SET wanted = 1, version = '', document = ''
			WHERE place = $1 AND document = $2 AND document <> '' AND key <> $3`, n, document, except)
		return err
	})
}

// SharedItems implements placestore.Store.
func (ps *Places) SharedItems(
	ctx context.Context, id, document, except string, since int64,
) (others int, err error) {
	err = ps.db.Autocommit(ctx, 0).One(`SELECT count(*) FROM place_items i JOIN places p ON p.n = i.place
		WHERE p.id = $1 AND i.document = $2 AND i.document <> '' AND i.key <> $3 AND i.look >= $4`,
		[]any{id, document, except, since}, &others)
	return others, err
}

// ForgetItem implements placestore.Store.
func (ps *Places) ForgetItem(ctx context.Context, id, owner, key string) error {
	return ps.withPlace(ctx, id, owner, func(t Tx, n int64) error {
		_, err := t.Exec(`DELETE FROM place_items WHERE place = $1 AND key = $2`, n, key)
		return err
	})
}

// CountItems implements placestore.Store.
func (ps *Places) CountItems(ctx context.Context, id string) (c placestore.Counts, err error) {
	err = ps.db.Autocommit(ctx, 0).One(`SELECT count(*), count(*) FILTER (WHERE i.refusal <> ''),
		count(*) FILTER (WHERE i.wanted = 1) FROM place_items i JOIN places p ON p.n = i.place WHERE p.id = $1`,
		[]any{id}, &c.Items, &c.Refused, &c.Waiting)
	return c, err
}
