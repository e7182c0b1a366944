package openapi

import (
	"sync"
)

// QueryNames are the parameters in the address that each route takes, by method and path.
//
// httpio.CheckQuery refuses one of these that stands in an address twice. The key is as in "GET /places/:id/items". The
// map is made once and only read.
var QueryNames = sync.OnceValue(func() map[string][]string {
	names := map[string][]string{}
	for _, op := range Operations() {
		// Headers and parts of the path can't stand in the address after its question mark.
		for _, p := range op.params {
			if p.in == "query" {
				names[op.Method+" "+op.Path] = append(names[op.Method+" "+op.Path], p.name)
			}
		}
	}
	return names
})
