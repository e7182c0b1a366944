package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// counters are totals since the start of a server with the build tag profile, as expvar publishes them.
type counters struct {
	Statements int64 `json:"footnote_sqlite_statements"`
	Memory     struct {
		Mallocs    int64
		TotalAlloc int64
	} `json:"memstats"`
}

// benchProfile measures what a run costs inside the server: statements, allocations and allocated bytes. With the
// flags -cpuprofile and -memprofile it writes profiles of 32 clients without a pause. The binary needs the build tag
// profile, see make bench-profile.
func benchProfile(ctx context.Context, b *bench) (rows []row, err error) {
	address, err := freeAddr(ctx)
	if err != nil {
		return nil, err
	}
	p, err := b.startPair(ctx, 0, "PROFILE_ADDRESS="+address)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	n := b.scaleTimes(2000)
	if _, _, err := runLoad(ctx, max(32, n/10), 32, p.footnote); err != nil {
		return nil, err
	}
	profile := make(chan error, 1)
	if b.cpuProfile != "" {
		go func() {
			profile <- saveURL(ctx, "http://"+address+"/debug/pprof/profile?seconds=10", b.cpuProfile)
		}()
		// The profile covers only runs of the load, which takes longer than it on any machine.
		defer func() { err = errors.Join(err, <-profile) }()
	}
	var before, after counters
	if err := readCounters(ctx, address, &before); err != nil {
		return nil, err
	}
	cpu, began, runs := p.footnote.cpuTime(), time.Now(), 0
	for runs == 0 || b.cpuProfile != "" && time.Since(began) < 11*time.Second {
		if _, _, err := runLoad(ctx, n, 32, p.footnote); err != nil {
			return nil, err
		}
		runs += n
	}
	cpu = (p.footnote.cpuTime() - cpu) / time.Duration(runs)
	if err := readCounters(ctx, address, &after); err != nil {
		return nil, err
	}
	if b.memProfile != "" {
		if err := saveURL(ctx, "http://"+address+"/debug/pprof/allocs", b.memProfile); err != nil {
			return nil, err
		}
	}
	each := func(before, after int64) string { return fmt.Sprintf("%.1f", float64(after-before)/float64(runs)) }
	return []row{
		{"CPU a run", "–", inMilliseconds(cpu), true},
		{"SQLite statements a run", "–", each(before.Statements, after.Statements), true},
		{"allocations a run", "–", each(before.Memory.Mallocs, after.Memory.Mallocs), true},
		{"KiB allocated a run", "–", each(before.Memory.TotalAlloc>>10, after.Memory.TotalAlloc>>10), true},
	}, nil
}

// readCounters reads the server's counters.
func readCounters(ctx context.Context, address string, into *counters) error {
	if err := getJSON(ctx, &process{url: "http://" + address}, "/debug/vars", into); err != nil {
		return fmt.Errorf("no counters, is the binary built with the tag profile? %w", err)
	}
	return nil
}

// saveURL writes the body of a response to a file.
func saveURL(ctx context.Context, url, name string) error {
	body, _, err := fetchURL(ctx, url, false)
	if err != nil {
		return err
	}
	return os.WriteFile(name, body, 0o600)
}
