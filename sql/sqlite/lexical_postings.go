package sqlite

import (
	"context"
	"errors"
	"sync"
)

// BM25's constants, and what a term in the title counts more than one in the body.
const (
	bm25K1      = 1.2
	bm25B       = 0.75
	titleWeight = 2
)

// maxCachedPostings bounds the cache's memory to 8 MiB.
const maxCachedPostings = 1 << 20

// postingCache keeps what was read of the index since its last visible change, and how frequent the frequent terms are.
type postingCache struct {
	mu       sync.Mutex
	changes  int64 // of the snapshot that lists belongs to
	lists    map[string][]scored
	size     int
	frequent map[string]int // passages that hold a term, when counted at countedAt passages
	counted  int
}

// renew forgets what belongs to another state of the index. Counts of frequent terms stay until the index has grown or
// shrunk by a tenth: they only decide which terms choose. The caller holds mu.
func (c *postingCache) renew(dir *directorySnapshot) {
	if c.lists == nil || c.changes != dir.changes {
		c.changes, c.size, c.lists = dir.changes, 0, make(map[string][]scored)
	}
	if grown := dir.passages - c.counted; c.frequent == nil || max(grown, -grown) > c.counted/10 {
		c.counted, c.frequent = dir.passages, make(map[string]int)
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
func (c *postingCache) get(ctx context.Context, db *DB, dir *directorySnapshot, term string) ([]scored, error) {
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
		c.size, c.lists = 0, make(map[string][]scored)
	}
	if _, ok := c.lists[term]; !ok && len(list) <= maxCachedPostings {
		c.size += len(list)
		c.lists[term] = list
	}
	return list, nil
}

var errBadPlaces = errors.New("the index returned places that can't be read")

// weigh makes scores of a term's places: a row's number and a column's name each, "12t12b12b15b".
func weigh(places string, dir *directorySnapshot) ([]scored, error) {
	var list []scored
	spans := dir.spans
	var row, last uint32
	var weight float64
	flush := func() {
		if weight == 0 {
			return
		}
		for len(spans) > 0 && last >= spans[0].end() {
			spans = spans[1:]
		}
		if len(spans) > 0 && last >= spans[0].first {
			length := float64(spans[0].length(last)) / dir.averageLength
			list = append(list, scored{last, float32(weight * (bm25K1 + 1) / (weight + bm25K1*(1-bm25B+bm25B*length)))})
		}
		weight = 0
	}
	for i := range len(places) {
		switch b := places[i]; {
		case '0' <= b && b <= '9':
			row = row*10 + uint32(b-'0')
		case b == 't' || b == 'b':
			if row != last {
				flush()
				last = row
			}
			if row = 0; b == 't' {
				weight += titleWeight
			} else {
				weight++
			}
		default:
			return nil, errBadPlaces
		}
	}
	flush()
	return list, nil
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
