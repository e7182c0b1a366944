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

// Removals takes what is due to be removed; see corpus.Documents. Processes that ask at the same time get others. The
// next try is set before this one begins: 20, 40, 80 and 160 s on, then 300 s. So a process that dies leaves the work
// to the next, and one that fails waits longer each time (docs/decisions/databases.md).
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
	_, err := ds.db.Alone(ctx, Patient).Exec(`DELETE FROM removals WHERE document = $1 AND sha256 = $2`,
		r.DocumentID, r.SHA256)
	return err
}

// Abandon adds a removal; see corpus.Documents. It survives power loss, since nothing else remembers what is to go.
func (ds *Documents) Abandon(ctx context.Context, r corpus.Removal) error {
	_, err := ds.db.Alone(ctx, Durable|Patient).Exec(`INSERT INTO removals (document, sha256) VALUES ($1, $2)
		ON CONFLICT DO NOTHING`, r.DocumentID, r.SHA256)
	return err
}
