package dbcopy

import (
	"context"
	"fmt"

	"github.com/footnote/footnote/chat"
)

// Source is the store to copy from. It must not change meanwhile. Rows are ordered by key, so that a copy is
// resumable.
type Source interface {
	// Name returns a unique and permanent name of this source.
	Name() string
	// Rows yields the rows of a table with a key after the given one, or all for nil, ordered by key. The key's
	// values are the row's first ones.
	Rows(ctx context.Context, t Table, after Row, each func(Row) error) error
	// Count returns the number of rows of a table.
	Count(ctx context.Context, t Table) (int64, error)
}

// Target is the store to copy to. Put must store rows and checkpoint in one transaction, or an interrupted copy
// would duplicate rows.
type Target interface {
	// Begin prepares the target for a source. It returns chat.CodeConflict if the target has data of another origin.
	// done is true when everything was copied and compared before.
	Begin(ctx context.Context, source string) (done bool, err error)
	// After returns a table's checkpoint: the key of the last copied row, as passed to Put, and the number of copied
	// rows.
	After(ctx context.Context, t Table) (key Row, rows int64, err error)
	// Put stores a batch of rows and the table's checkpoint in one transaction. last is the key of the last row in
	// the source.
	Put(ctx context.Context, t Table, rows []Row, last Row) error
	// Fit converts a row to the values that the target stores.
	Fit(t Table, row Row) (Row, error)
	// Rows yields all rows of a table in any order, in the format of Fit.
	Rows(ctx context.Context, t Table, each func(Row) error) error
	// Settle prepares the target for use after all tables were copied. It is idempotent.
	Settle(ctx context.Context) error
}

// Compared is the result of comparing a table.
type Compared struct {
	Table        string
	Source, Left int64 // rows of the source and of the target
	Same         bool  // the same number of rows and checksum
}

// Progress is called after each batch with the number of a table's copied rows.
type Progress func(table string, done, total int64)

// All copies every table from its checkpoint, then compares both sides. The caller calls Begin before, and marks the
// copy as complete afterwards if all tables are the same. A retry resumes after the last batch, but compares
// everything again.
func All(ctx context.Context, from Source, to Target, report Progress) ([]Compared, error) {
	for _, t := range Tables() {
		if err := copyTable(ctx, from, to, t, report); err != nil {
			return nil, fmt.Errorf("copy %s: %w", t.Name, err)
		}
	}
	if err := to.Settle(ctx); err != nil {
		return nil, fmt.Errorf("prepare the target: %w", err)
	}
	var list []Compared
	for _, t := range Tables() {
		c, err := compareTable(ctx, from, to, t, report)
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", t.Name, err)
		}
		list = append(list, c)
	}
	return list, nil
}

// copyTable copies the remaining rows of one table. It buffers one batch.
func copyTable(ctx context.Context, from Source, to Target, t Table, report Progress) error {
	after, done, err := to.After(ctx, t)
	if err != nil {
		return err
	}
	total, err := from.Count(ctx, t)
	if err != nil {
		return err
	}
	var batch []Row
	var last Row
	put := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := to.Put(ctx, t, batch, last); err != nil {
			return err
		}
		done += int64(len(batch))
		batch = batch[:0]
		report(t.Name, done, total)
		return nil
	}
	report(t.Name, done, total)
	err = from.Rows(ctx, t, after, func(row Row) error {
		last = append(Row(nil), row[:t.Keys]...)
		fitting, err := to.Fit(t, row)
		if err != nil {
			return fmt.Errorf("row %v: %w", last, err)
		}
		if batch = append(batch, fitting); len(batch) < t.Batch {
			return nil
		}
		return put()
	})
	if err != nil {
		return err
	}
	return put()
}

// compareTable compares the checksums of a table. Rows of the source are converted by Fit, so its changes are no
// difference.
func compareTable(ctx context.Context, from Source, to Target, t Table, report Progress) (Compared, error) {
	total, err := from.Count(ctx, t)
	if err != nil {
		return Compared{}, err
	}
	var source, target checksum
	err = from.Rows(ctx, t, nil, func(row Row) error {
		fitting, err := to.Fit(t, row)
		if err != nil {
			return err
		}
		if err := source.addRow(t, fitting); err != nil || source.rows%1000 > 0 {
			return err
		}
		report("comparing "+t.Name, source.rows, 2*total)
		return nil
	})
	if err == nil {
		err = to.Rows(ctx, t, func(row Row) error { return target.addRow(t, row) })
	}
	report("comparing "+t.Name, 2*total, 2*total)
	return Compared{Table: t.Name, Source: source.rows, Left: target.rows, Same: source == target}, err
}

// ErrDifferent is returned when the comparison fails.
var ErrDifferent = &chat.Error{
	Code: chat.CodeConflict,
	Message: "The copy differs from the data directory; nothing was switched. Was the directory used meanwhile? " +
		"Start over with --again",
}
