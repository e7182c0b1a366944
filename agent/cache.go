package agent

import (
	"strconv"
	"strings"
	"sync"
)

// maxCached is how many results are kept.
const maxCached = 256

// cache keeps results of tools for all runs. A key holds the library's version, so nothing in it is ever out of date. It is
// safe for concurrent use.
type cache struct {
	mu      sync.Mutex
	results map[string]result
}

func newCache() *cache { return &cache{results: map[string]result{}} }

func (c *cache) get(key string) (result, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.results[key]
	return r, ok
}

// put keeps a result. When there are too many, all are forgotten: they come back at the price of one search each.
func (c *cache) put(key string, r result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.results) >= maxCached {
		clear(c.results)
	}
	c.results[key] = r
}

func cacheKey(tool, args string, d *desk, version int64) string {
	return strings.Join([]string{
		tool, args, d.scope.User, strings.Join(d.scope.Namespaces, "\x01"), strings.Join(d.only, "\x01"), strconv.FormatInt(version, 10),
		strconv.Itoa(d.top), strconv.FormatBool(d.rerank),
	}, "\x00")
}
