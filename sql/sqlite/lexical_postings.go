package sqlite

import (
	"context"
	"sync"

	"footnote/sql/bm25"
)

// maxCachedPostings bounds the cache's memory to 32 MiB.
const maxCachedPostings = 4 << 20

// postingCache keeps what was read of the index since its last visible change, and how frequent the frequent terms are: to read so
// much again only to leave it out would cost more than all the rest of a search.
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

// look returns what is known of a term.
func (c *postingCache) look(dir *directorySnapshot, term string) (p postings, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.renew(dir)
	p.Term = term
	if p.rows, known = c.lists[term]; known {
		p.Found = len(p.rows)
		return p, true
	}
	p.Found, known = c.frequent[term]
	return p, known
}

func (c *postingCache) keep(dir *directorySnapshot, p postings) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != dir.changes {
		return // a newer search has moved on
	}
	if p.Found > dir.Frequent() {
		c.frequent[p.Term] = p.Found
		return
	}
	if c.size+p.Found > maxCachedPostings {
		c.size, c.lists = 0, make(map[string][]bm25.Scored)
	}
	if _, ok := c.lists[p.Term]; !ok && p.Found <= maxCachedPostings {
		c.size += p.Found
		c.lists[p.Term] = p.rows
	}
}

// postings are the visible rows that hold a term, ascending, each with its BM25 score but for the term's rarity. Of a term that is
// known to be frequent there may be no rows.
type postings struct {
	bm25.Counted
	rows []bm25.Scored
}

// postings reads what there is of each term, in the order of the terms.
func (l *Lexical) postings(ctx context.Context, dir *directorySnapshot, terms []string) ([]postings, error) {
	return sideBySide(ctx, terms, func(ctx context.Context, term string) (p postings, err error) {
		p, known := l.read.look(dir, term)
		if known {
			return p, nil
		}
		places, err := l.index.places(ctx, term)
		if err != nil {
			return p, err
		}
		p.rows = dir.Weigh(places)
		p.Found = len(p.rows)
		l.read.keep(dir, p)
		return p, nil
	})
}
