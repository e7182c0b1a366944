package openai

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"footnote/llm"
)

const maxTries = 3

// pace waits longer after each failure, and at least as long as the server asked for.
type pace struct {
	backoff.ExponentialBackOff
	last *llm.Error
}

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

// retry calls try until it succeeds, fails for good, or tries and time are spent. try reports whether it yielded
// anything: after that nothing is tried again.
func (m *Model) retry(ctx context.Context, try func() (yielded bool, err *llm.Error)) *llm.Error {
	pace := newPace()
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		yielded, err := try()
		switch {
		case err == nil:
			return struct{}{}, nil
		case yielded || !err.Retryable() || err.Kind == llm.KindEmpty:
			return struct{}{}, backoff.Permanent(err)
		}
		pace.last = err
		return struct{}{}, err
	}, backoff.WithBackOff(pace), backoff.WithMaxTries(maxTries), backoff.WithMaxElapsedTime(m.retryFor),
		backoff.WithNotify(func(err error, wait time.Duration) {
			m.log.WarnContext(ctx, "the model is tried again", "model", m.name, "wait", wait, "error", err)
		}))
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e
	}
	return m.transportError(ctx, err)
}
