package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// vacuumFrom is the minimum number of free pages, of 4 KB, to return to the disk: fewer are soon reused.
	vacuumFrom = 1000

	// vacuumPages is the number of pages that one transaction returns. It takes some milliseconds, and blocks other
	// writes.
	vacuumPages = 500
)

// Purge implements chat.Store and then vacuums the file.
func (c *Chats) Purge(ctx context.Context, hidden, idle time.Time) (int, error) {
	n, err := c.Chats.Purge(ctx, hidden, idle)
	return n, errors.Join(err, c.db.vacuum(ctx))
}

// vacuum returns the file's free pages to the disk, and logs their number. It does nothing for a file without
// auto_vacuum, from an earlier version: that would need a full VACUUM, which blocks all writes.
func (db *DB) vacuum(ctx context.Context) error {
	var free, size int
	err := db.readers.QueryRowContext(ctx,
		`SELECT CASE auto_vacuum WHEN 2 THEN freelist_count ELSE 0 END, page_size
		FROM pragma_freelist_count, pragma_auto_vacuum, pragma_page_size`).Scan(&free, &size)
	if err != nil || free < vacuumFrom {
		return failure(err)
	}
	begun := time.Now()
	for given := 0; given < free && err == nil; given += vacuumPages {
		err = db.writeBulk(ctx, false, func(t *tx) error {
			_, err := t.conn.ExecContext(t.ctx, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, vacuumPages))
			return failure(err)
		})
	}
	if err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	db.log.InfoContext(ctx, "database vacuumed", "pages", free, "freed_bytes", free*size, "took", time.Since(begun))
	return nil
}
