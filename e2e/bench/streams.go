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
// Users leave pages open, so an idle stream must be almost free. The limit is 40 KiB of memory for each of 10,000,
// and when all have disconnected, goroutines and heap must be as before. A leak of one goroutine per stream shows
// as 10,000.
//
// The model has a delay of 100 s before each token, so the run waits all the time. Its 200 tokens would take more
// than five hours, so at the end the server is killed.
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
		// A first byte proves that the server handles the stream, not only that the connection is open.
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

// postRun starts a run and returns its id. It requests JSON, so the response is immediate and the run continues
// without this client.
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

// usage is the server's resource usage at one time.
type usage struct {
	memory     int64 // resident bytes
	goroutines int
	heap       float64 // MiB in use after the last collection
}

// settledUsage returns the usage after a garbage collection, of a server that has handled a request: a response of
// /metrics alone pages in some 20 MiB of its program.
func settledUsage(ctx context.Context, server *process) (u usage, err error) {
	if _, err := steadyMemory(ctx, server, "VmRSS"); err != nil {
		return u, err
	}
	err = u.readMetrics(ctx, server)
	u.memory = server.memoryField("VmRSS")
	return u, err
}

// steadyMemory returns a field of the process's status (VmRSS, RssAnon) once it changes by less than 1 MiB in a
// second.
func steadyMemory(ctx context.Context, server *process, field string) (memory int64, err error) {
	tick := time.NewTicker(time.Second)
	// It polls once a second, at most twenty times, and then returns the last value.
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

// keptOf is the memory in MiB that the Go runtime retains of each ended goroutine. A goroutine's descriptor takes
// about 480 bytes, and is reused but never freed.
const keptOf = 480. / (1 << 20)

// spareMiB returns the allowed growth of the heap in MiB after a number of goroutines. The 2 MiB allow for other
// changes between two collections.
func spareMiB(goroutines int) float64 { return 2 + keptOf*float64(goroutines) }

// waitDrained waits until goroutines and heap are back at their idle values, plus the memory that the runtime
// retains for so many goroutines. The collector runs at least every two minutes, and pools are freed at its second
// run.
//
// The timeout is 350 s, which is longer than two collections take. The rest after that is an error that the caller
// prints; the row itself then has “missed”.
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

// readMetrics parses goroutines and heap from the server's metrics. It leaves its fields unchanged if the metrics
// have other names.
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
