package postings

import "sync"

// entryCost is about what an entry of a cache takes beside its passages, in passages of 8 bytes. It is an estimate of a
// map's entry and a slice's header: 128 bytes.
const entryCost = 16

// A cache keeps values that never change. When it is full it is emptied and begins again. It is safe for concurrent
// use. Emptying it whole needs no order of use, which would have to be written at each reading.
type cache[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
	size   int // in passages
}

// get returns the value of a key. Nothing is noted about its use.
func (c *cache[K, V]) get(key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok = c.values[key]
	return v, ok
}

// keep adds a value with n passages; most is how many there may be in all. A value of more than an eighth of the cache
// is not kept, as it would push out everything else again and again.
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
