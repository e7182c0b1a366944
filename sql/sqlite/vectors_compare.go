package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/viterin/vek/vek32"

	"github.com/footnote/footnote/corpus"
)

// vectorCacheBytes is the maximum memory of cached vectors: 43,000 of 384 dimensions.
const vectorCacheBytes = 64 << 20

// storedVector is a vector of the table with its passage.
type storedVector struct {
	passage string
	values  []float32
}

// vectorCache caches vectors by vectors.n. The zero value is ready, and it is safe for concurrent use. A numbered
// vector never changes, so no entry is outdated.
type vectorCache struct {
	mu        sync.Mutex
	vectors   *lru.Cache[int64, storedVector]
	dimension int
}

// of returns the cache for vectors of a dimension.
func (c *vectorCache) of(dimension int) (*lru.Cache[int64, storedVector], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.vectors == nil || c.dimension != dimension {
		const besides = 200 // estimated bytes of an entry beside its values: the passage's ID and the cache's overhead
		vectors, err := lru.New[int64, storedVector](vectorCacheBytes / (4*dimension + besides))
		if err != nil {
			return nil, fmt.Errorf("keep vectors: %w", err)
		}
		c.vectors, c.dimension = vectors, dimension
	}
	return c.vectors, nil
}

// compared is a vector with its cosine to the query.
type compared struct {
	nearVector
	storedVector
	cosine float32
}

// compare returns the k candidates with the highest cosine; deleted ones are dropped. They are ordered in single
// precision. The returned cosine has double precision, so that it is independent of the machine's vector
// instructions.
func (v *Vectors) compare(
	ctx context.Context, query []float32, near []nearVector, places []vectorPlace, k int,
) ([]corpus.Hit, error) {
	kept, err := v.cache.of(len(query))
	if err != nil {
		return nil, err
	}
	all := make([]compared, 0, len(near))
	var missing []nearVector
	for _, n := range near {
		if stored, ok := kept.Get(n.n); ok {
			all = append(all, compared{nearVector: n, storedVector: stored})
		} else {
			missing = append(missing, n)
		}
	}
	read, err := v.db.readVectors(ctx, missing, len(query))
	if err != nil {
		return nil, err
	}
	for _, n := range missing {
		if stored, ok := read[n.n]; ok {
			kept.Add(n.n, stored)
			all = append(all, compared{nearVector: n, storedVector: stored})
		}
	}
	for i := range all {
		all[i].cosine = vek32.Dot(query, all[i].values)
	}
	slices.SortFunc(all, func(a, b compared) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.passage, b.passage))
	})
	hits := make([]corpus.Hit, min(k, len(all)))
	for i, found := range all[:len(hits)] {
		hits[i] = corpus.Hit{
			PassageID: found.passage, DocumentID: places[found.place].document,
			Cosine: exactCosine(query, found.values),
		}
	}
	return hits, nil
}

// readVectors reads vectors from the table, without deleted ones.
func (db *DB) readVectors(ctx context.Context, some []nearVector, dimension int) (map[int64]storedVector, error) {
	if len(some) == 0 {
		return nil, nil
	}
	list := make([]byte, 0, 10*len(some))
	for _, n := range some {
		list = strconv.AppendInt(append(list, ','), n.n, 10)
	}
	list[0] = '['
	rows, err := db.queryRows(ctx, `SELECT n, passage_id, body FROM vectors
		WHERE n IN (SELECT value FROM json_each(?))`, string(append(list, ']')))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	read := make(map[int64]storedVector, len(some))
	var body sql.RawBytes
	for rows.Next() {
		var n int64
		var stored storedVector
		if err := rows.Scan(&n, &stored.passage, &body); err != nil {
			return nil, failure(err)
		}
		if len(body) != 4*dimension {
			return nil, fmt.Errorf("vector of passage %s has %d bytes instead of %d", stored.passage, len(body),
				4*dimension)
		}
		stored.values = appendFloats(make([]float32, 0, dimension), body)
		read[n] = stored
	}
	return read, failure(rows.Err())
}

// exactCosine returns the cosine in double precision. Rounding errors are clamped to -1 and 1.
func exactCosine(a, b []float32) float64 {
	var sum float64
	for i, value := range a {
		sum += float64(value) * float64(b[i])
	}
	return min(max(sum, -1), 1)
}

// appendFloats decodes the values of a stored vector, four bytes each.
func appendFloats(values []float32, body []byte) []float32 {
	for i := 0; i < len(body); i += 4 {
		values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(body[i:])))
	}
	return values
}
