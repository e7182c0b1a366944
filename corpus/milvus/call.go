package milvus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/footnote/footnote/chat"
)

const (
	// Both are what a user reads.
	saysNothing = "Milvus, which keeps the vectors, does not answer."
	saysNo      = "Milvus, which keeps the vectors, can't do this now; the log has the details."
)

// callServer does one thing on the server within callTime. What do returns is dropped when it comes late. Failures are
// chat.Errors. do runs in a goroutine of its own, which Close waits for; the client may not heed ctx. If the caller's
// own context was cancelled, its error comes back and the server gets no rest for it.
func callServer[T any](
	ctx context.Context, s *Store, what string, do func(context.Context, client.Client) (T, error),
) (out T, err error) {
	if err := s.beginCall(); err != nil {
		return out, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, callTime, errSlow)
	defer cancel()
	type result struct {
		value T
		err   error
	}
	// One place, so that a result that comes late doesn't hold its goroutine.
	done := make(chan result, 1)
	go func() {
		defer s.calls.Done()
		var r result
		conn, err := s.connectClient(limited)
		if err == nil {
			r.value, err = do(limited, conn)
		}
		r.err = err
		done <- r
	}()
	select {
	case r := <-done:
		out, err = r.value, r.err
	case <-limited.Done():
		err = context.Cause(limited)
	}
	if err == nil {
		return out, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return out, ctx.Err() // the caller left: that says nothing about the server
	}
	return out, s.explainError(fmt.Errorf("%s: %w", what, err))
}

// beginCall counts a call in, unless the server rests. The caller must see to it that calls.Done follows.
func (s *Store) beginCall() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errClosed
	// gone stays: another Footnote moved the alias to another model, which no rest mends.
	case s.gone != nil:
		return s.gone
	case time.Now().Before(s.rest):
		return s.restErr
	}
	s.calls.Add(1)
	return nil
}

// isResting reports whether calls fail at once, since the server did not answer.
func (s *Store) isResting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.rest)
}

// explainError makes an error for the caller of what the client returned. Without an answer the server gets a rest. A
// refused password is told as such, and does not make the server rest. Any other answer than that of a server which is
// away has the collection looked for again, as it may have been dropped.
func (s *Store) explainError(err error) error {
	if _, ours := errors.AsType[*chat.Error](err); ours {
		return err
	}
	// err was wrapped once by callServer; below that is the client's own error with the server's code.
	code := status.Code(errors.Unwrap(err))
	switch {
	case code == codes.Unauthenticated || code == codes.PermissionDenied:
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "Milvus refuses the user or the password.",
			Hint: "Check MILVUS_USER and MILVUS_PASSWORD.", Err: err,
		}
	case code != codes.Unavailable && code != codes.DeadlineExceeded && !errors.Is(err, errSlow) &&
		!errors.Is(err, context.DeadlineExceeded):
		s.forgetCollection()
		return unavailableError(saysNo, err)
	}
	out := unavailableError(saysNothing, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	// Calls that were under way when the rest began fail as well, and must not make it longer.
	if now := time.Now(); now.After(s.rest) {
		s.rest, s.restErr = now.Add(restTime), out
	}
	s.index = nil // it may come back without what it had
	return out
}

// forgetCollection has the collection looked for again.
func (s *Store) forgetCollection() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index = nil
}

// connectClient returns the client, connecting first if need be. One attempt is under way at a time, and all wait for
// it.
func (s *Store) connectClient(ctx context.Context) (client.Client, error) {
	s.mu.Lock()
	if s.conn != nil {
		defer s.mu.Unlock()
		return s.conn, nil
	}
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	if s.dialing == nil {
		// The attempt outlives its callers: each of them may leave, and the next finds it under way.
		s.dialing = make(chan struct{})
		s.calls.Add(1)
		go s.dialServer(s.dialing) //nolint:contextcheck // all callers wait for the attempt, so none may end it
	}
	done := s.dialing
	s.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// The attempt failed, or was closed meanwhile, and said why.
	if s.conn == nil {
		return nil, s.dialErr
	}
	return s.conn, nil
}
