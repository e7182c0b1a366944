package sqlite

import (
	"context"
	"errors"
	"sync"

	"footnote/corpus"
	"footnote/sql/bm25"
)

// maxCachedPostings bounds the cache's memory to 32 MiB.
const maxCachedPostings = 4 << 20

// postingCache keeps what was read of the index since its last visible change, and how frequent the frequent terms are.
type postingCache struct {
	mu       sync.Mutex
	changes  int64 // of the snapshot that lists belongs to
	lists    map[string][]bm25.Scored
	size     int
	frequent map[string]int // passages that hold a term, when counted at countedAt passages
	counted  int
}

// renew forgets what belongs to another state of the index. Counts of frequent terms stay until the index has grown or
// shrunk by a tenth: they only decide which terms choose. The caller holds mu.
func (c *postingCache) renew(dir *directorySnapshot) {
	if c.lists == nil || c.changes != dir.changes {
		c.changes, c.size, c.lists = dir.changes, 0, make(map[string][]bm25.Scored)
	}
	if grown := dir.Passages - c.counted; c.frequent == nil || max(grown, -grown) > c.counted/10 {
		c.counted, c.frequent = dir.Passages, make(map[string]int)
	}
}

// frequency returns about how many passages hold a term.
func (c *postingCache) frequency(ctx context.Context, db *DB, dir *directorySnapshot, term string, frequent int) (n int, err error) {
	c.mu.Lock()
	c.renew(dir)
	list, listed := c.lists[term]
	n, counted := c.frequent[term]
	c.mu.Unlock()
	if counted {
		return n, nil
	}
	if listed {
		return len(list), nil
	}
	if err := db.queryRow(ctx, `SELECT coalesce((SELECT doc FROM lexical_terms WHERE term = ?), 0)`, []any{term}, &n); err != nil {
		return 0, err
	}
	if n > frequent/2 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.renew(dir)
		c.frequent[term] = n
	}
	return n, nil
}

// get returns the visible rows that hold a term, ascending, each with its BM25 score but for the term's rarity.
func (c *postingCache) get(ctx context.Context, db *DB, dir *directorySnapshot, term string) ([]bm25.Scored, error) {
	c.mu.Lock()
	c.renew(dir)
	list, ok := c.lists[term]
	c.mu.Unlock()
	if ok {
		return list, nil
	}
	var places string
	err := db.queryRow(ctx, `SELECT coalesce(group_concat(doc || col, ''), '') FROM lexical_places WHERE term = ?`, []any{term}, &places)
	if err != nil {
		return nil, err
	}
	if list, err = weigh(places, dir); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != dir.changes {
		return list, nil // a newer search has moved on
	}
	if c.size+len(list) > maxCachedPostings {
		c.size, c.lists = 0, make(map[string][]bm25.Scored)
	}
	if _, ok := c.lists[term]; !ok && len(list) <= maxCachedPostings {
		c.size += len(list)
		c.lists[term] = list
	}
	return list, nil
}

var errBadPlaces = errors.New("the index returned places that can't be read")

// weigh makes scores of a term's places: a row's number and a column's name each, "12t12b12b15b".
func weigh(places string, dir *directorySnapshot) ([]bm25.Scored, error) {
	var list []bm25.Scored
	var row uint32
	for i := range len(places) {
		switch b := places[i]; {
		case '0' <= b && b <= '9':
			row = row*10 + uint32(b-'0')
		case b == 't' || b == 'b':
			if n := len(list); n == 0 || list[n-1].Row != row {
				list = append(list, bm25.Scored{Row: row})
			}
			last := &list[len(list)-1]
			if row = 0; b == 't' {
				last.Score += corpus.TitleWeight
			} else {
				last.Score++
			}
		default:
			return nil, errBadPlaces
		}
	}
	return dir.Weigh(list), nil
}

// parseRows reads "12,15,16".
func parseRows(list string) ([]uint32, error) {
	rows := make([]uint32, 0, len(list)/5+1)
	var row uint32
	for i := range len(list) {
		switch b := list[i]; {
		case '0' <= b && b <= '9':
			row = row*10 + uint32(b-'0')
		case b == ',':
			rows = append(rows, row)
			row = 0
		default:
			return nil, errBadPlaces
		}
	}
	return append(rows, row), nil
}
