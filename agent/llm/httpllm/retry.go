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

// Bounds of retries and of the circuit breaker: docs/decisions/model-servers.md. No measurement is recorded.
const (
	maxTries = 3

	// A server that failed so often in a row is left alone for so long. Then one request tries it.
	openAfter = 5
	openFor   = 15 * time.Second
)

// CodeLeftAlone is the code of the error for requests that were not sent because the server failed too often.
const CodeLeftAlone = "left_alone"

// pace waits longer after each failure, and at least as long as the server asked for.
type pace struct {
	backoff.ExponentialBackOff
	last *llm.Error
}

// newPace waits 0.4 s before the second try and three times as long before each further one, 8 s at most. The library
// spreads each wait at random around its length (its default, ±50 %), so that many runs do not come back at the same
// moment.
func newPace() *pace {
	p := &pace{ExponentialBackOff: *backoff.NewExponentialBackOff()}
	p.InitialInterval, p.Multiplier, p.MaxInterval = 400*time.Millisecond, 3, 8*time.Second
	return p
}

// NextBackOff returns the wait before the next try.
func (p *pace) NextBackOff() time.Duration {
	wait := p.ExponentialBackOff.NextBackOff()
	if p.last.RetryAfter > wait {
		return p.last.RetryAfter + wait/8 // a little apart from others who were told the same
	}
	return wait
}

// Retry calls try until it succeeds, fails for good, or three tries or the time are spent. try reports whether it
// yielded anything: after that nothing is tried again. A rate limit goes to the caller at once, who waits and says
// so, unless patient is set: nothing is tried again in two places. A server that failed five times in a row is not
// asked for a while.
func (s *Server) Retry(ctx context.Context, patient bool, try func() (yielded bool, err *llm.Error)) *llm.Error {
	pace := newPace()
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
			s.Log.WarnContext(ctx, "the model is tried again", "model", s.Name, "wait", wait, "error", err)
		}))
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e
	}
	return s.Transport(ctx, err)
}

// tryGuarded calls try unless the server is left alone. The circuit breaker has two steps because a try may take
// minutes: a request is let in first, and its end told later. Each one that is let in must tell its end, else the
// breaker would wait for it for ever; hence the deferred call.
func (s *Server) tryGuarded(ctx context.Context, try func() (bool, *llm.Error)) (yielded bool, err *llm.Error) {
	s.once.Do(func() {
		s.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			Name: s.Name, Timeout: openFor,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= openAfter },
			OnStateChange: func(name string, from, to gobreaker.State) {
				s.Log.Warn("the model's server changed", "model", name, "from", from.String(), "to", to.String())
			},
			IsSuccessful: func(err error) bool { return err == nil },
		})
	})
	done, refused := s.breaker.Allow()
	if refused != nil {
		return false, &llm.Error{Kind: llm.KindUnreachable, Code: CodeLeftAlone, Err: refused,
			Message: "The model server failed several times in a row and is left alone for a few seconds. Try again " +
				"in a moment."}
	}
	ended := false
	defer func() { // try may panic, or be left by the consumer
		if !ended {
			done(nil)
		}
	}()
	yielded, err = try()
	ended = true
	switch {
	case err == nil:
		done(nil)
		s.Reach.Learn(time.Now(), nil)
	// A request that its caller stopped says nothing of the server.
	case ctx.Err() == nil && isDown(err):
		done(err)
		s.Reach.Learn(time.Now(), err)
	default:
		done(nil)
		if err.Kind == llm.KindAuth {
			s.Reach.Learn(time.Now(), err)
		}
	}
	return yielded, err
}

// isDown reports whether a failure says that the server is down, rather than that it did not like a request. Timeouts
// do not count: a model that thinks for long is slow, and others wait for it with reason.
func isDown(e *llm.Error) bool {
	return e.Kind == llm.KindUnreachable || e.Kind == llm.KindServer && e.Status >= http.StatusInternalServerError
}

// reachFor is how long the answer of a look is kept, so that a health check asked often does not load the model's
// server.
const reachFor = 10 * time.Second

// Reach remembers what was last found of a model's server, by a look at it or by a request. The zero value is ready,
// and it is safe for concurrent use.
type Reach struct {
	looking sync.Mutex // one look at a time

	mu    sync.Mutex
	until time.Time
	err   error
}

// Ask returns what look finds, or was found in the ten seconds before now. What it finds for a caller who has gone says
// nothing of the server and is not kept. Callers that come while a look is under way wait for it and share its answer.
// A look for a caller whose time ran out is kept, as a server that does not answer in time is a finding; one for a
// caller who left is not.
func (r *Reach) Ask(ctx context.Context, now time.Time, look func(context.Context) error) error {
	r.looking.Lock()
	defer r.looking.Unlock()
	if err, known := r.knownResult(now); known {
		return err
	}
	err := look(ctx)
	if ctx.Err() != context.Canceled {
		r.Learn(now, err)
	}
	return err
}

// knownResult returns what was found last; known is false when that is too long ago.
func (r *Reach) knownResult(now time.Time) (err error, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err, !now.After(r.until)
}

// Learn keeps what a request found: that the server can't be used, or nil.
func (r *Reach) Learn(now time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.until = err, now.Add(reachFor)
}

// longest is the most that a server is believed.
const longest = 24 * time.Hour

// RetryAfter reads how long to wait from the headers; 0 means that they do not say, or nothing sensible. It takes
// seconds, milliseconds in Retry-After-Ms, durations such as "1m30s", and dates, and believes a day at most. Seconds
// and dates are those of RFC 9110, section 10.2.3; the others are what providers send instead. A date is compared with
// the server's own Date header, so that a wrong clock here does not matter. Where a header makes no sense the next is
// read.
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
				now = sent // both by the server's clock
			}
			return min(max(at.Sub(now), 0), longest)
		}
	}
	return 0
}

// parseTime reads the forms of HTTP, and the one of RFC 3339.
func parseTime(value string) (time.Time, error) {
	if at, err := http.ParseTime(value); err == nil {
		return at, nil
	}
	return time.Parse(time.RFC3339, value)
}
