package postgres

import (
	"context"
	"math"
	"slices"
	"sync"

	"footnote/sql/bm25"
)

// maxCachedPostings bounds the cache's memory to 8 MiB.
const maxCachedPostings = 1 << 20

// postingCache keeps what was read of one version of the index, and how frequent the frequent terms are.
type postingCache struct {
	mu       sync.Mutex
	version  version
	lists    map[string][]bm25.Scored // as Weigh returns them
	size     int
	frequent map[string]int // passages that hold a term, when counted at counted passages
	counted  int
}

// renew forgets what belongs to another version. Counts of frequent terms stay until the index has grown or shrunk by a
// tenth: they only decide which terms choose. The caller holds mu.
func (c *postingCache) renew(dir *snapshot) {
	if c.lists == nil || c.version != dir.version {
		c.version, c.size, c.lists = dir.version, 0, make(map[string][]bm25.Scored)
	}
	if grown := dir.Passages - c.counted; c.frequent == nil || max(grown, -grown) > c.counted/10 {
		c.counted, c.frequent = dir.Passages, make(map[string]int)
	}
}

// look returns what is known of terms: their lists, and the counts of frequent ones.
func (c *postingCache) look(dir *snapshot, terms []string) (lists map[string][]bm25.Scored, counts map[string]int) {
	lists, counts = make(map[string][]bm25.Scored, len(terms)), make(map[string]int)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.renew(dir)
	for _, term := range terms {
		if list, ok := c.lists[term]; ok {
			lists[term] = list
		} else if n, ok := c.frequent[term]; ok {
			counts[term] = n
		}
	}
	return lists, counts
}

func (c *postingCache) keep(dir *snapshot, term string, list []bm25.Scored) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version != dir.version {
		return // a newer search has moved on
	}
	if c.size+len(list) > maxCachedPostings {
		c.size, c.lists = 0, make(map[string][]bm25.Scored)
	}
	if _, ok := c.lists[term]; !ok && len(list) <= maxCachedPostings {
		c.size += len(list)
		c.lists[term] = list
	}
}

func (c *postingCache) keepCount(dir *snapshot, term string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.renew(dir)
	c.frequent[term] = n
}

// marked are the rows of one look-up in the index, with the version they belong to.
type marked struct {
	version
	rows []int64
}

func scanMarked(row scanner) (m marked, err error) {
	err = row.Scan(&m.changes, &m.removals, &m.rows)
	return m, err
}

// fetch reads the weights of terms in passages, at most most passages of each. The lists of those with more are cut.
// ok is false if the index has another version than dir by now.
func fetch(ctx context.Context, db *DB, dir *snapshot, terms []string, most int) (lists [][]bm25.Scored, ok bool, err error) {
	wanted := make([]int64, 0, len(terms)*len(grades))
	for _, term := range terms {
		for _, grade := range grades {
			wanted = append(wanted, markOf(term, grade))
		}
	}
	found, err := query(ctx, db, longTime, scanMarked, `SELECT s.changes, s.removals, f FROM lexical_rows($1, $2, $3) f, corpus_state s`, wanted, len(grades), most)
	if err != nil || len(found) != len(wanted) || len(found) == 0 {
		return nil, err == nil, err
	}
	for i := range terms {
		of := found[i*len(grades):][:len(grades)]
		list := make([]bm25.Scored, len(of[0].rows))
		for j, row := range sorted(of[0].rows) {
			list[j] = bm25.Scored{Row: uint32(row), Score: 1}
		}
		for j, higher := range of[1:] {
			raise(list, sorted(higher.rows), float32(grades[j+1]))
		}
		lists = append(lists, list)
	}
	return lists, found[0].version == dir.version, nil
}

// sorted sorts rows, which nearly always are sorted.
func sorted(rows []int64) []int64 {
	if !slices.IsSorted(rows) {
		slices.Sort(rows)
	}
	return rows
}

// raise gives those of list that are among rows their weight.
func raise(list []bm25.Scored, rows []int64, weight float32) {
	for _, row := range rows {
		for len(list) > 0 && int64(list[0].Row) < row {
			list = list[1:]
		}
		if len(list) == 0 {
			return
		}
		if int64(list[0].Row) == row {
			list[0].Score = weight
		}
	}
}

// counts returns how many passages each term is in.
func counts(ctx context.Context, db *DB, terms []string) ([]int, error) {
	wanted := make([]int64, len(terms))
	for i, term := range terms {
		wanted[i] = markOf(term, 1)
	}
	return query(ctx, db, longTime, value[int], `SELECT lexical_counts($1)`, wanted)
}

const everything = math.MaxInt32
