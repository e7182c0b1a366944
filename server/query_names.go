package server

import (
	"sync"
)

// queryNames are the parameters in the address that each route takes, by method and path.
var queryNames = sync.OnceValue(func() map[string][]string {
	names := map[string][]string{}
	for _, op := range operations() {
		for _, p := range op.params {
			if p.in == "query" {
				names[op.method+" "+op.path] = append(names[op.method+" "+op.path], p.name)
			}
		}
	}
	return names
})
