//go:build profile

package main

import (
	_ "expvar"
	"fmt"
	"net/http"
	_ "net/http/pprof"
	"os"
)

// init serves the profiles of net/http/pprof and the variables of expvar on the address in
// PROFILE_ADDRESS. Only builds with the tag profile, which make bench-profile makes, have this file: both
// packages register handlers without authentication. The goroutine ends with the process.
func init() {
	if address := os.Getenv("PROFILE_ADDRESS"); address != "" {
		go func() { fmt.Fprintln(os.Stderr, "profiles:", http.ListenAndServe(address, nil)) }()
	}
}
