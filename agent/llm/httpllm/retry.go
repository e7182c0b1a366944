package httpllm

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"

	"github.com/footnote/footnote/agent/llm"
)

// Limits of retries and of the circuit breaker: docs/decisions/model-servers.md. They were not measured.
const (
	maxTries = 3

	// The circuit breaker opens after so many consecutive failures, for this time. Then one request tries the
	// server.
	openAfter = 5
	openFor   = 15 * time.Second
)

// CodeLeftAlone is the error code of requests that were not sent because the circuit breaker was open.
const CodeLeftAlone = "left_alone"

// retryBackoff is an exponential backoff, and at least the server's Retry-After.
type retryBackoff struct {
	backoff.ExponentialBackOff
	last *llm.Error
}

// newRetryBackoff returns a backoff of 0.4 s before the second try, tripled before each further one, 8 s at most. The
// library adds jitter (±50 % by default), so that retries of many runs are spread.
func newRetryBackoff() *retryBackoff {
	p := &retryBackoff{ExponentialBackOff: *backoff.NewExponentialBackOff()}
	p.InitialInterval, p.Multiplier, p.MaxInterval = 400*time.Millisecond, 3, 8*time.Second
	return p
}

// NextBackOff returns the delay before the next try.
func (b *retryBackoff) NextBackOff() time.Duration {
	wait := b.ExponentialBackOff.NextBackOff()
	if b.last.RetryAfter > wait {
		return b.last.RetryAfter + wait/8 // some jitter, since other clients got the same delay
	}
	return wait
}

// Retry calls try until it succeeds, fails permanently, or has used three tries or the time. try reports whether it
// yielded a part: after that there is no retry. A rate limit is returned at once, since the caller waits and reports
// it, unless patient is set. So there is only one place that retries. After five consecutive failures the circuit
// breaker rejects requests for a while.
func (s *Server) Retry(ctx context.Context, patient bool, try func() (yielded bool, err *llm.Error)) *llm.Error {
	pace := newRetryBackoff()
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		yielded, err := s.tryGuarded(ctx, try)
		switch {
		case err == nil:
			return struct{}{}, nil
		case yielded || !err.Retryable() || err.Kind == llm.KindEmpty || err.Code == CodeLeftAlone,
			err.Kind == llm.KindRateLimited && !patient:
			return struct{}{}, backoff.Permanent(err)
		}
		pace.last = err
		return struct{}{}, err
	}, backoff.WithBackOff(pace), backoff.WithMaxTries(maxTries), backoff.WithMaxElapsedTime(s.RetryFor),
		backoff.WithNotify(func(err error, wait time.Duration) {
			s.Log.WarnContext(ctx, "retrying the model request", "model", s.Name, "wait", wait, "error", err)
		}))
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e
	}
	return s.Transport(ctx, err)
}

// tryGuarded calls try through the circuit breaker. The breaker has two steps, since a try may take minutes: a
// request is admitted first, and its result reported later. Each admitted request must report a result, or the
// breaker would wait forever; hence the deferred call.
func (s *Server) tryGuarded(ctx context.Context, try func() (bool, *llm.Error)) (yielded bool, err *llm.Error) {
	s.once.Do(func() {
		s.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			Name: s.Name, Timeout: openFor,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= openAfter },
			OnStateChange: func(name string, from, to gobreaker.State) {
				s.Log.Warn("the model server changed", "model", name, "from", from.String(), "to", to.String())
			},
			IsSuccessful: func(err error) bool { return err == nil },
		})
	})
	done, refused := s.breaker.Allow()
	if refused != nil {
		return false, &llm.Error{Kind: llm.KindUnreachable, Code: CodeLeftAlone, Err: refused,
			Message: "The model server failed repeatedly. Requests are paused for a few seconds. Try again in a " +
				"moment."}
	}
	ended := false
	defer func() { // try may panic, or be stopped by the consumer
		if !ended {
			done(nil)
		}
	}()
	yielded, err = try()
	ended = true
	switch {
	case err == nil:
		done(nil)
		s.Reachable.Record(time.Now(), nil)
	// A request that its caller cancelled is no evidence about the server.
	case ctx.Err() == nil && isDown(err):
		done(err)
		s.Reachable.Record(time.Now(), err)
	default:
		done(nil)
		if err.Kind == llm.KindAuth {
			s.Reachable.Record(time.Now(), err)
		}
	}
	return yielded, err
}

// isDown reports whether a failure means that the server is down, not that it refused a request. Timeouts do not
// count, since a reasoning model may just be slow.
func isDown(e *llm.Error) bool {
	return e.Kind == llm.KindUnreachable || e.Kind == llm.KindServer && e.Status >= http.StatusInternalServerError
}

// reachFor is the time for which a result of ReachCache is kept, so that frequent health checks do not load the server.
const reachFor = 10 * time.Second

// ReachCache caches whether a model's server is reachable, from a check or a request. The zero value is ready. It is
// safe for concurrent use.
type ReachCache struct {
	checking sync.Mutex // serialises checks

	mu    sync.Mutex
	until time.Time
	err   error
}

// Check returns the cached result of the last ten seconds, or calls look. Concurrent callers wait for a running check
// and share its result. A check whose deadline expired is cached, since a slow server is a result. One whose caller
// cancelled is not.
func (r *ReachCache) Check(ctx context.Context, now time.Time, look func(context.Context) error) error {
	r.checking.Lock()
	defer r.checking.Unlock()
	if err, known := r.knownResult(now); known {
		return err
	}
	err := look(ctx)
	if ctx.Err() != context.Canceled {
		r.Record(now, err)
	}
	return err
}

// knownResult returns the cached result; known is false if it has expired.
func (r *ReachCache) knownResult(now time.Time) (err error, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err, !now.After(r.until)
}

// Record caches the result of a request: the error, or nil for a usable server.
func (r *ReachCache) Record(now time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.until = err, now.Add(reachFor)
}

// longest is the maximum delay that is accepted from a server.
const longest = 24 * time.Hour

// RetryAfter parses the delay of a retry from the headers, 0 if there is no valid one. It accepts seconds,
// milliseconds in Retry-After-Ms, durations such as "1m30s", and dates, at most a day. Seconds and dates are those
// of RFC 9110, section 10.2.3; the others are providers' extensions. A date is compared with the server's Date
// header, so that a wrong local clock does not matter. An invalid header is skipped.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	for _, unit := range []struct {
		header string
		unit   time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		value := strings.TrimSpace(h.Get(unit.header))
		if value == "" {
			continue
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			if math.IsNaN(n) || n < 0 {
				continue
			}
			return time.Duration(min(n*float64(unit.unit), float64(longest)))
		}
		if d, err := time.ParseDuration(value); err == nil && d >= 0 {
			return min(d, longest)
		}
		if at, err := parseTime(value); err == nil {
			if sent, err := http.ParseTime(h.Get("Date")); err == nil {
				now = sent // both in the server's time
			}
			return min(max(at.Sub(now), 0), longest)
		}
	}
	return 0
}

// parseTime parses the date formats of HTTP, and RFC 3339.
func parseTime(value string) (time.Time, error) {
	if at, err := http.ParseTime(value); err == nil {
		return at, nil
	}
	return time.Parse(time.RFC3339, value)
}
