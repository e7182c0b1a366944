package store

import (
	"context"
	"time"

	"github.com/footnote/footnote/corpus"
)

func scanRemoval(row Row) (r corpus.Removal, err error) {
	err = row.Scan(&r.DocumentID, &r.SHA256)
	return r, err
}

// Removals claims due removals; see corpus.Documents. Concurrent processes get different ones. The next attempt is
// scheduled before this one, with a backoff of 20, 40, 80 and 160 s, then 300 s. So another process continues after
// a crash (docs/decisions/databases.md).
func (ds *Documents) Removals(ctx context.Context, now time.Time) (due []corpus.Removal, err error) {
	err = ds.db.Write(ctx, Patient, func(t Tx) error {
		due, err = readList(t, scanRemoval, `UPDATE removals AS r SET attempts = r.attempts + 1,
			due_at = CAST($1 AS bigint) + CASE WHEN r.attempts < 4 THEN 20 << r.attempts ELSE 300 END * 1000000
			FROM (SELECT d.document AS due, d.sha256 AS bytes FROM removals d WHERE d.due_at <= $1
				ORDER BY d.due_at, d.document, d.sha256 LIMIT 100`+ds.sql.Free("d")+`) late
			WHERE r.document = late.due AND r.sha256 = late.bytes RETURNING document, sha256`, now.UnixMicro())
		return err
	})
	return due, wrap(err, "what is to be removed")
}

// Removed deletes a removal; see corpus.Documents.
func (ds *Documents) Removed(ctx context.Context, r corpus.Removal) error {
	_, err := ds.db.Autocommit(ctx, Patient).Exec(`DELETE FROM removals WHERE document = $1 AND sha256 = $2`,
		r.DocumentID, r.SHA256)
	return err
}

// Abandon adds a removal; see corpus.Documents. It is durable, as the removal is stored nowhere else.
func (ds *Documents) Abandon(ctx context.Context, r corpus.Removal) error {
	_, err := ds.db.Autocommit(ctx, Durable|Patient).Exec(`INSERT INTO removals (document, sha256) VALUES ($1, $2)
		ON CONFLICT DO NOTHING`, r.DocumentID, r.SHA256)
	return err
}
