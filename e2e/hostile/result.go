//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The limits of docs/security.md. VmHWM and VmRSS are the kernel's figures (proc(5)): the peak and the current
// resident memory.
const (
	mostAboveIdle = 300 << 20 // bytes, VmHWM of the server above its VmRSS at rest
	mostOfWorker  = 512 << 20 // bytes, VmHWM of each worker
	mostSeconds   = 4 * time.Minute
)

// result is the result of one cell.
//
// input and disk are 0 for cells that store nothing. Problems are sentences; one is enough to fail.
type result struct {
	name     string
	input    int64 // bytes
	peak     int64 // bytes: VmHWM of the server
	idle     int64 // bytes: VmRSS of the server at rest
	worker   int64 // bytes: the largest VmHWM of a child
	disk     int64 // additional bytes
	health   time.Duration
	question time.Duration
	seconds  float64
	outcome  string
	problems []string
}

// noteProblem is not safe for concurrent use: act calls it, and then the code after it.
func (r *result) noteProblem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// tableRow returns a row of the Markdown table. Memory is in whole MiB, times in ms.
func (r *result) tableRow() string {
	mib := func(n int64) string { return fmt.Sprintf("%.1f", float64(n)/(1<<20)) }
	return fmt.Sprintf("| %s | %s | %.0f | %.0f | %s | %d | %d | %.1f | %s |", r.name, mib(r.input), float64(
		max(0, r.peak-r.idle),
	)/(1<<20),
		float64(r.worker)/(1<<20), mib(r.disk), r.health.Milliseconds(), r.question.Milliseconds(), r.seconds,
		strings.ReplaceAll(r.outcome, "|", `\|`))
}

// tryCell runs one cell while a bystander sends requests and the server's memory is measured.
//
// act has a timeout of mostSeconds. Each cell has its own server, so that peaks are its own. The bystander polls
// /health every 100 ms and sends a question every quarter of a second; on a server with keys every 4 seconds,
// because of the rate limit for each user. The limits are checked after the act.
func tryCell(ctx context.Context, w *tried, c cell) (r *result, err error) {
	s, err := newSite(ctx, w, c.keys, c.env)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r = &result{name: c.name, idle: s.idle}
	if err := forgetPeak(s.server.cmd.Process.Pid); err != nil {
		return nil, fmt.Errorf("set the peak of memory back: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, mostSeconds)
	defer cancel()
	watch, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	var seen bystander
	pause := 250 * time.Millisecond
	if c.keys {
		pause = 4 * time.Second // below 20 questions a minute
	}
	watchers.Go(func() { seen.repeatRequest(watch, s, 100*time.Millisecond, &seen.health, s.checkHealth) })
	watchers.Go(func() { seen.repeatRequest(watch, s, pause, &seen.question, s.quickQuestion) })
	watchers.Go(func() { s.watchChildren(watch, r) })

	begun := time.Now()
	r.outcome, err = c.act(ctx, s, r)
	r.seconds = time.Since(begun).Seconds()
	stop()
	watchers.Wait()
	if err != nil {
		r.noteProblem("%v", err)
	}
	r.health, r.question = seen.health.worst, seen.question.worst
	r.problems = append(append(r.problems, seen.health.problems...), seen.question.problems...)
	r.judgeCell(ctx, s, w.question*seen.question.count)
	return r, nil
}

// judgeCell checks a cell's result against the common limits, and stops the server. others is the number of bytes
// that the bystander's questions stored.
//
// The server is stopped before the disk is measured, since a stopped database is one file. A cell with an input may
// use four times its size plus 1 MiB; docs/security.md documents that.
func (r *result) judgeCell(ctx context.Context, s *site, others int64) {
	if s.server.isOver() {
		r.noteProblem("the server died: %s", s.server.logTail())
		return
	}
	r.peak = max(r.peak, memoryOf(s.server.cmd.Process.Pid, "VmHWM"))
	if above := r.peak - r.idle; above > mostAboveIdle {
		r.noteProblem("the server's memory rose %d MiB above idle, want at most %d", above>>20, mostAboveIdle>>20)
	}
	if r.worker > mostOfWorker {
		r.noteProblem("a worker took %d MiB, want at most %d", r.worker>>20, mostOfWorker>>20)
	}
	s.server.stopServer()
	after, err := s.storedBytes(context.WithoutCancel(ctx))
	if err != nil {
		r.noteProblem("measure the disk: %v", err)
	}
	r.disk = max(0, after-s.disk-others)
	if most := 4*r.input + 1<<20; r.input > 0 && r.disk > most {
		r.noteProblem("the disk took %d KiB more, want at most %d (four times the file and 1 MiB)",
			r.disk>>10, most>>10)
	}
}

// watchChildren records the largest worker until ctx ends. It polls every 20 ms, so a shorter-lived worker is
// missed; VmHWM is the peak so far, so no peak in between is.
func (s *site) watchChildren(ctx context.Context, r *result) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, pid := range childrenOf(s.server.cmd.Process.Pid) {
			r.worker = max(r.worker, memoryOf(pid, "VmHWM"))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// bystander is another user, who measures latencies meanwhile. Two goroutines use it, each one of the fields.
type bystander struct{ health, question timed }

// timed holds the requests of one kind. count is their number, worst the maximum latency.
type timed struct {
	count    int64
	worst    time.Duration
	problems []string
}

// repeatRequest repeats a request with a pause after each and records the maximum latency. The first refusal or
// broken connection is recorded as well.
//
// It ends with ctx or with the server. A request in flight is finished: its latency counts.
func (b *bystander) repeatRequest(
	ctx context.Context, s *site, pause time.Duration, kind *timed, request func(context.Context) (answer, error),
) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.server.ended:
			return
		case <-timer.C:
		}
		begun := time.Now()
		_, err := request(context.WithoutCancel(ctx))
		kind.count++
		kind.worst = max(kind.worst, time.Since(begun))
		if err != nil && len(kind.problems) == 0 && !s.server.isOver() {
			kind.problems = []string{"the bystander: " + err.Error()}
		}
		timer.Reset(pause)
	}
}

// checkHealth sends a load balancer's health check, without a key.
func (s *site) checkHealth(ctx context.Context) (answer, error) {
	got, err := s.getPath(ctx, "", "/health", "application/json")
	if err == nil && got.status != http.StatusOK {
		err = fmt.Errorf("GET /health: status = %d, want 200: %s", got.status, clipBytes(got.body))
	}
	return got, err
}

// quickQuestion asks about the warranty's text as given context: one call of a model that answers at once. It needs
// neither a search nor the library, so its latency is the server's own.
func (s *site) quickQuestion(ctx context.Context) (answer, error) {
	got, err := s.postJSON(ctx, s.bystand, "/agent/chat", map[string]any{
		"message": "What does the warranty cover?", "context_text": warranty,
	})
	if err == nil && got.status != http.StatusOK {
		err = fmt.Errorf("POST /agent/chat: status = %d, want 200: %s", got.status, clipBytes(got.body))
	}
	return got, err
}
