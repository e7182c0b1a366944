package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
			profile <- download(ctx, "http://"+address+"/debug/pprof/profile?seconds=10", func(body io.Reader) error {
				return saveTo(b.cpuProfile, body)
			})
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
		if err := download(ctx, "http://"+address+"/debug/pprof/allocs", func(body io.Reader) error {
			return saveTo(b.memProfile, body)
		}); err != nil {
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
	return download(ctx, "http://"+address+"/debug/vars", func(body io.Reader) error {
		return json.NewDecoder(body).Decode(into)
	})
}

// download passes the body of a successful response to read.
func download(ctx context.Context, url string, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no profiles, is the binary built with the tag profile? %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", url, resp.StatusCode)
	}
	return read(resp.Body)
}

// saveTo writes a file with the content of r.
func saveTo(name string, r io.Reader) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, r)
	return errors.Join(err, file.Close())
}
