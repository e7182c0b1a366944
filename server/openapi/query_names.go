package openapi

import (
	"sync"
)

// QueryNames returns the query parameters of each route, by method and path.
//
// httpio.CheckQuery refuses a duplicate of these. The key is as in "GET /places/:id/items". The map is built once
// and read-only.
var QueryNames = sync.OnceValue(func() map[string][]string {
	names := map[string][]string{}
	for _, op := range Operations() {
		// Headers and path parameters are not in the query.
		for _, p := range op.params {
			if p.in == "query" {
				names[op.Method+" "+op.Path] = append(names[op.Method+" "+op.Path], p.name)
			}
		}
	}
	return names
})
