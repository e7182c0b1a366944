package postings

import "sync"

// entryCost is the estimated overhead of a cache entry, in passages of 8 bytes: 128 bytes for a map entry and a
// slice header.
const entryCost = 16

// A cache holds immutable values. When full, it is cleared, which needs no LRU list to update at each read. It is
// safe for concurrent use.
type cache[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
	size   int // in passages
}

// get returns the value of a key. It records no usage.
func (c *cache[K, V]) get(key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok = c.values[key]
	return v, ok
}

// keep adds a value with n passages to the cache; most is its capacity. A value larger than an eighth of the cache
// is not cached, as it would evict everything else.
func (c *cache[K, V]) keep(key K, v V, n, most int) {
	if n += entryCost; n > most/8 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.values[key]; ok {
		return
	}
	if c.values == nil || c.size+n > most {
		c.size, c.values = 0, make(map[K]V)
	}
	c.size += n
	c.values[key] = v
}
