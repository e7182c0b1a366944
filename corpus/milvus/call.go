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
	// Both are user-facing messages.
	saysNothing = "Milvus, the vector store, is not responding."
	saysNo      = "Milvus, the vector store, returned an error. See the log for details."
)

// callServer runs do against the server with the timeout callTime. It discards a late result. Failures are
// chat.Errors. do runs in a separate goroutine, which Close waits for, since the client may ignore ctx. If the
// caller's context was cancelled, callServer returns its error and does not start a rest period.
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
	// Buffered, so that a late result does not block its goroutine.
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
		return out, ctx.Err() // the caller left: that is no evidence about the server
	}
	return out, s.explainError(fmt.Errorf("%s: %w", what, err))
}

// beginCall registers a call, unless the server is in a rest period. The caller must call calls.Done.
func (s *Store) beginCall() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errClosed
	// gone is permanent: another Footnote moved the alias to another model.
	case s.gone != nil:
		return s.gone
	case time.Now().Before(s.rest):
		return s.restErr
	}
	s.calls.Add(1)
	return nil
}

// explainError converts an error of the client. A timeout or a connection failure starts a rest period. An
// authentication failure does not, and has its own message. Any other response makes the store look up the
// collection again, as it may have been dropped.
func (s *Store) explainError(err error) error {
	if _, ours := errors.AsType[*chat.Error](err); ours {
		return err
	}
	// callServer has wrapped err once; below that is the client's error with the server's code.
	code := status.Code(errors.Unwrap(err))
	switch {
	case code == codes.Unauthenticated || code == codes.PermissionDenied:
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "Milvus rejected the user or the password.",
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
	// Calls that were running when the rest period began fail as well, and must not extend it.
	if now := time.Now(); now.After(s.rest) {
		s.rest, s.restErr = now.Add(restTime), out
	}
	s.index = nil // it may come back without its data
	return out
}

// forgetCollection resets the collection, so that it is looked up again.
func (s *Store) forgetCollection() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index = nil
}

// connectClient returns the client and connects if necessary. Concurrent callers share one attempt.
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
		// The attempt outlives its callers, so that the next caller can share it.
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
	// The attempt failed, or the store was closed meanwhile.
	if s.conn == nil {
		return nil, s.dialErr
	}
	return s.conn, nil
}
