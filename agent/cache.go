package agent

import (
	"sync"
)

// maxCached is how many results of tools are kept.
const maxCached = 256

// cache keeps values for all runs, up to so many. It is safe for concurrent use.
type cache[V any] struct {
	most int
	mu   sync.Mutex
	kept map[string]V
}

func newCache[V any](most int) *cache[V] { return &cache[V]{most: most, kept: map[string]V{}} }

func (c *cache[V]) get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.kept[key]
	return v, ok
}

// put keeps a value. When there are too many, all are forgotten: each comes back at the price of its making.
func (c *cache[V]) put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) >= c.most {
		clear(c.kept)
	}
	c.kept[key] = v
}
