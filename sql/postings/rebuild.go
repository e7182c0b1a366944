package postings

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/footnote/footnote/corpus"
)

// Unindexed is a content whose postings are not made yet: it was stored before there was this index.
type Unindexed struct {
	Content int64
	Owner   string
	Changed int64
	Rows    RowRange
}

// Rebuilt is a Store that may hold content without postings.
type Rebuilt interface {
	Store
	// Unindexed returns such contents.
	Unindexed(ctx context.Context) ([]Unindexed, error)
	// Indexed shows the segment of one. ok is false, and nothing is done, if it has one by now, or is gone.
	Indexed(ctx context.Context, content int64, s Segment) (ok bool, err error)
}

// Rebuild makes the postings that are missing, from the texts of the passages. It may be interrupted, and goes on when
// it is called again. tell is called before each content. It runs while a database is opened, so nothing else writes
// contents in this process; on PostgreSQL others may do the same, which Indexed settles.
func Rebuild(ctx context.Context, store Rebuilt, tell func(done, of int)) error {
	list, err := store.Unindexed(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	for i, u := range list {
		tell(i, len(list))
		if err := rebuildOne(ctx, store, u); err != nil {
			return fmt.Errorf("make the index of words: %w", err)
		}
		if i+1 == len(list) || list[i+1].Owner != u.Owner {
			if err := Compact(ctx, store, u.Owner, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// A passage whose text is gone counts as one without terms, so that the rows keep their numbers.
func rebuildOne(ctx context.Context, store Rebuilt, u Unindexed) error {
	b := NewBuilder(u.Rows.First)
	for n := uint32(0); n < u.Rows.Count; n += textsAtOnce {
		rows := make([]uint32, 0, textsAtOnce)
		for row := u.Rows.First + n; row < u.Rows.First+min(n+textsAtOnce, u.Rows.Count); row++ {
			rows = append(rows, row)
		}
		texts, err := store.Texts(ctx, rows)
		if err != nil {
			return err
		}
		slices.SortFunc(texts, func(x, y Text) int { return cmp.Compare(x.Row, y.Row) })
		for _, row := range rows {
			var terms corpus.Terms
			if len(texts) > 0 && texts[0].Row == row {
				t := texts[0]
				texts = texts[1:]
				terms = corpus.AnalysePassages(
					t.Title, t.Language, []corpus.Passage{{Section: t.Section, Text: t.Text}},
				)[0]
			}
			b.Add(terms)
		}
	}
	segment, err := store.Begin(ctx, u.Owner)
	if err != nil {
		return err
	}
	put := newBatch(func(pages []Page) error { return store.Put(ctx, segment, pages) })
	for p, err := range b.Pages() {
		if err == nil {
			err = put.addPage(p)
		}
		if err != nil {
			return err
		}
	}
	if err := put.flushPages(); err != nil {
		return err
	}
	ok, err := store.Indexed(
		ctx, u.Content, Segment{Number: segment, Owner: u.Owner, Changed: u.Changed, Passages: b.Passages()},
	)
	if err == nil && !ok {
		err = store.Drop(ctx, segment)
	}
	return err
}
