package dbcopy

import (
	"context"
	"fmt"

	"github.com/footnote/footnote/chat"
)

// Source is a store to read from. Nothing changes it meanwhile. Its order of keys is what makes a copy resumable.
type Source interface {
	// Name tells this source from all others, and stays the same for as long as it exists.
	Name() string
	// Rows yields the rows of a table whose key is after the given one, all for nil, in the order of their keys. The
	// values of a key are those that the row began with.
	Rows(ctx context.Context, t Table, after Row, each func(Row) error) error
	// Count returns how many rows a table has.
	Count(ctx context.Context, t Table) (int64, error)
}

// Target is a store to write to. Put must store the rows and the place in one transaction, or rows are there twice
// after a kill.
type Target interface {
	// Begin prepares the target for a source. It fails with chat.CodeConflict if it holds anything that did not come
	// from that source. done is true when all was copied and compared before.
	Begin(ctx context.Context, source string) (done bool, err error)
	// After returns the key up to which a table was copied, as Put was given it, and how many rows that were.
	After(ctx context.Context, t Table) (key Row, rows int64, err error)
	// Put stores rows and how far that brings the table, in one transaction. last is the key of the last row, as the
	// source has it.
	Put(ctx context.Context, t Table, rows []Row, last Row) error
	// Fit changes a row to what the target will hold of it.
	Fit(t Table, row Row) (Row, error)
	// Rows yields all rows of a table in any order, in the shape that Fit gives them.
	Rows(ctx context.Context, t Table, each func(Row) error) error
	// Settle prepares the target for use, once all tables are there. It may be repeated.
	Settle(ctx context.Context) error
}

// Compared is what both sides have of a table.
type Compared struct {
	Table        string
	Source, Left int64 // rows of the source and of the target
	Same         bool  // as many, with the same hash
}

// Progress is told after each batch how many of a table's rows are there.
type Progress func(table string, done, total int64)

// All copies every table from where it stopped, then compares them. The caller has called Begin, and tells the target
// that the copying is over if all are the same. Copying again after a kill goes on at the last batch; comparing reads
// everything on both sides.
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

// copyTable copies the rows of one table that are still missing. Memory holds one batch.
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

// Both sides are read in the shape of the target, so that what Fit changes on purpose is no difference.
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

// ErrDifferent says that the comparison failed.
var ErrDifferent = &chat.Error{
	Code: chat.CodeConflict,
	Message: "The copy differs from the data directory; nothing was switched. Was the directory used meanwhile? " +
		"Start over with --again",
}
