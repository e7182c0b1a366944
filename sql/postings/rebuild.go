package postings

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/footnote/footnote/corpus"
)

// Unindexed is a content without postings, from before this index existed.
type Unindexed struct {
	Content int64
	Owner   string
	Changed int64
	Rows    RowRange
}

// Rebuilt is a Store that may have content without postings.
type Rebuilt interface {
	Store
	// Unindexed returns such contents.
	Unindexed(ctx context.Context) ([]Unindexed, error)
	// Indexed publishes the segment of one. ok is false without changes if it has one already, or was deleted.
	Indexed(ctx context.Context, content int64, s Segment) (ok bool, err error)
}

// Rebuild creates the missing postings from the texts of passages. It can be interrupted and resumed. It calls tell
// before each content. It runs when a database is opened, so this process writes no other contents. Other PostgreSQL
// replicas may rebuild too; Indexed accepts one result.
func Rebuild(ctx context.Context, store Rebuilt, tell func(done, of int)) error {
	list, err := store.Unindexed(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	for i, u := range list {
		tell(i, len(list))
		if err := rebuildOne(ctx, store, u); err != nil {
			return fmt.Errorf("rebuild the keyword index: %w", err)
		}
		if i+1 == len(list) || list[i+1].Owner != u.Owner {
			if err := Compact(ctx, store, u.Owner, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// rebuildOne builds the segment of one content. A passage without text has no terms, so that rows keep their
// numbers.
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
