package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// idle: many readers of one run that is waiting for its model.
func idle(ctx context.Context, b *bench) (rows []row, err error) {
	data, err := os.MkdirTemp("", "footnote-bench-")
	if err != nil {
		return nil, err
	}
	model, err := startModel(ctx, 100_000)
	if err != nil {
		return nil, err
	}
	server, err := b.startFootnote(ctx, data, model)
	if err != nil {
		return nil, errors.Join(err, model.stop())
	}
	defer func() {
		err = errors.Join(err, server.cmd.Process.Kill(), model.stop(), os.RemoveAll(data))
		_ = server.cmd.Wait()
	}()
	if _, err := upload(ctx, server, map[string][]byte{"survey.md": []byte("# Survey\n\nThe roof is in fair condition.\n")}); err != nil {
		return nil, err
	}
	run, err := post(ctx, server)
	if err != nil {
		return nil, err
	}
	n := b.times(10_000)
	rest, err := settled(ctx, server)
	if err != nil {
		return nil, err
	}
	var open []io.Closer
	defer func() {
		for _, body := range open {
			_ = body.Close()
		}
	}()
	for range n {
		resp, err := client.Get(server.url + "/agent/runs/" + run + "/events") //nolint:noctx // closed below
		if err != nil {
			return nil, err
		}
		open = append(open, resp.Body)
		line := bufio.NewReaderSize(resp.Body, 16)
		if _, err := line.ReadByte(); err != nil {
			return nil, err
		}
	}
	full, err := settled(ctx, server)
	if err != nil {
		return nil, err
	}
	for _, body := range open {
		_ = body.Close()
	}
	open = nil
	after, left := drained(ctx, server, rest)
	if left != nil {
		fmt.Fprintln(os.Stderr, "after the streams closed:", left)
	}
	each := float64(full.memory-rest.memory) / float64(n) / 1024
	return []row{
		{fmt.Sprintf("%d idle streams, memory of each", n), "≤ 40 KiB", fmt.Sprintf("%.1f KiB", each), each <= 40},
		{"goroutines before, with them, after", "back", fmt.Sprintf("%d, %d, %d", rest.goroutines, full.goroutines, after.goroutines), after.goroutines <= rest.goroutines+20},
		{"heap in use before, with them, after", "back", fmt.Sprintf("%.0f, %.0f, %.0f MiB", rest.heap, full.heap, after.heap), after.heap < rest.heap+10},
	}, nil
}

// post starts a run and returns its id.
func post(ctx context.Context, server *process) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.url+"/chat", bytes.NewReader([]byte(`{"message":"What is the condition of the roof?"}`)))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var answer struct {
		RunID string `json:"run_id"`
	}
	return answer.RunID, json.NewDecoder(resp.Body).Decode(&answer)
}

type usage struct {
	memory     int64 // resident bytes
	goroutines int
	heap       float64 // MiB in use
}

// settled returns the usage once the garbage collector has had its turn: the resident memory stays the same for a second.
func settled(ctx context.Context, server *process) (usage, error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var u usage
	for range 20 {
		select {
		case <-ctx.Done():
			return u, ctx.Err()
		case <-tick.C:
		}
		now := server.memory("VmRSS")
		if diff := now - u.memory; diff < 1<<20 && diff > -1<<20 {
			break
		}
		u.memory = now
	}
	return u, u.read(ctx, server)
}

// drained waits until goroutines and heap are about what they were at rest. The collector runs at least every two minutes,
// and what pools keep for reuse goes at its second run.
func drained(ctx context.Context, server *process, rest usage) (usage, error) {
	var u usage
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for range 700 {
		if err := u.read(ctx, server); err != nil {
			return u, err
		}
		if u.goroutines <= rest.goroutines+20 && u.heap < rest.heap+10 {
			return u, nil
		}
		select {
		case <-ctx.Done():
			return u, ctx.Err()
		case <-tick.C:
		}
	}
	return u, fmt.Errorf("%d goroutines and %.0f MiB are left", u.goroutines, u.heap)
}

// read takes goroutines and heap from the server's metrics.
func (u *usage) read(ctx context.Context, server *process) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.url+"/metrics", nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		x, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil:
		case name == "footnote_go_goroutines":
			u.goroutines = int(x)
		case name == "footnote_go_memstats_heap_inuse_bytes":
			u.heap = x / (1 << 20)
		}
	}
	u.memory = server.memory("VmRSS")
	return lines.Err()
}
