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
//
// People leave pages open, so a stream on which nothing happens must cost next to nothing. The bound is 40 KiB of
// memory for each of 10,000, and when all have gone, goroutines and heap must be as before. If one is left for each
// stream, it shows as 10,000.
//
// The model has a pause of 100 s before each token, so the run waits all the time. Its 200 tokens would take more than
// five hours, so at the end the server is killed.
func benchIdle(ctx context.Context, b *bench) (rows []row, err error) {
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
	if _, err := uploadFiles(
		ctx, server, map[string][]byte{"survey.md": []byte("# Survey\n\nThe roof is in fair condition.\n")},
	); err != nil {
		return nil, err
	}
	run, err := postRun(ctx, server)
	if err != nil {
		return nil, err
	}
	n := b.scaleTimes(10_000)
	rest, err := settledUsage(ctx, server)
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
		req, err := http.NewRequestWithContext(
			ctx, http.MethodGet, server.url+"/agent/runs/"+run+"/events", http.NoBody,
		)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req) //nolint:bodyclose // open holds the bodies, and they are closed below
		if err != nil {
			return nil, err
		}
		open = append(open, resp.Body)
		// A first byte says that the server has the stream under way, and not only the connection.
		line := bufio.NewReaderSize(resp.Body, 16)
		if _, err := line.ReadByte(); err != nil {
			return nil, err
		}
	}
	full, err := settledUsage(ctx, server)
	if err != nil {
		return nil, err
	}
	for _, body := range open {
		_ = body.Close()
	}
	open = nil
	after, left := waitDrained(ctx, server, rest, full.goroutines)
	if left != nil {
		fmt.Fprintln(os.Stderr, "after the streams closed:", left)
	}
	each := float64(full.memory-rest.memory) / float64(n) / 1024
	return []row{
		{fmt.Sprintf("%d idle streams, memory of each", n), "≤ 40 KiB", fmt.Sprintf("%.1f KiB", each), each <= 40},
		{"goroutines before, with them, after", "back", fmt.Sprintf(
			"%d, %d, %d", rest.goroutines, full.goroutines, after.goroutines,
		), after.goroutines <= rest.goroutines+20},
		{
			"live heap before, with them, after (the runtime keeps 480 bytes of each ended goroutine)", "back",
			fmt.Sprintf("%.1f, %.1f, %.1f MiB", rest.heap, full.heap, after.heap),
			after.heap < rest.heap+spareMiB(full.goroutines),
		},
	}, nil
}

// postRun starts a run and returns its id. It asks for JSON, so the answer comes at once and the run goes on without
// this client.
func postRun(ctx context.Context, server *process) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.url+"/chat", bytes.NewReader(
		[]byte(`{"message":"What is the condition of the roof?"}`),
	))
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

// usage is what the server holds at a moment.
type usage struct {
	memory     int64 // resident bytes
	goroutines int
	heap       float64 // MiB that the collector found in use
}

// settledUsage returns the usage once the garbage collector has had its turn, of a server that has answered: an answer
// of /metrics alone makes it touch some 20 MiB of its program.
func settledUsage(ctx context.Context, server *process) (u usage, err error) {
	if _, err := steadyMemory(ctx, server, "VmRSS"); err != nil {
		return u, err
	}
	err = u.readMetrics(ctx, server)
	u.memory = server.memoryField("VmRSS")
	return u, err
}

// steadyMemory returns a field of the process's status (VmRSS, RssAnon) once it changes by less than 1 MiB in a second.
func steadyMemory(ctx context.Context, server *process, field string) (memory int64, err error) {
	tick := time.NewTicker(time.Second)
	// It looks once a second, at most twenty times, and then returns what it saw last.
	defer tick.Stop()
	for range 20 {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
		before := memory
		if memory = server.memoryField(field); memory-before < 1<<20 && before-memory < 1<<20 {
			break
		}
	}
	return memory, nil
}

// keptOf is what the Go runtime keeps of each goroutine that has ended, for the next one: about 480 bytes, in MiB
// here. 480 bytes is what a goroutine's descriptor takes in Go's runtime, which never gives it back.
const keptOf = 480. / (1 << 20)

// spareMiB is how many MiB more than at rest may be in use after so many goroutines. The 2 MiB are room for what else
// changes from one collection to the next.
func spareMiB(goroutines int) float64 { return 2 + keptOf*float64(goroutines) }

// waitDrained waits until goroutines and heap are about what they were at rest, but for what the runtime keeps of so
// many goroutines. The collector runs at least every two minutes, and what pools keep for reuse goes at its second run.
//
// It waits up to 350 s, which is longer than two collections are apart. What is left after that is an error that the
// caller prints; the row itself then says “missed”.
func waitDrained(ctx context.Context, server *process, rest usage, goroutines int) (usage, error) {
	var u usage
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for range 700 {
		if err := u.readMetrics(ctx, server); err != nil {
			return u, err
		}
		if u.goroutines <= rest.goroutines+20 && u.heap < rest.heap+spareMiB(goroutines) {
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

// readMetrics takes goroutines and heap from the server's metrics. It finds nothing, and leaves what it has, if the
// metrics have other names.
func (u *usage) readMetrics(ctx context.Context, server *process) error {
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
		case name == "footnote_go_gc_heap_live_bytes":
			u.heap = x / (1 << 20)
		}
	}
	return lines.Err()
}
