package run

import lru "github.com/hashicorp/golang-lru/v2"

// maxCached is how many results of tools are kept.
const maxCached = 256

// newCache returns a cache of the values used last, for all runs. It is safe for concurrent use.
func newCache[V any](most int) *lru.Cache[string, V] {
	c, err := lru.New[string, V](most)
	if err != nil {
		panic(err) // a size below 1
	}
	return c
}
