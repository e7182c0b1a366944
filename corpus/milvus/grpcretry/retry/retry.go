// Package grpc_retry has what the Milvus SDK calls of version 1 of go-grpc-middleware's retry package, and leaves the
// work to version 2. Version 1 always loads golang.org/x/net/trace, whose templates look for methods by name; with
// them in a program the linker keeps every method of every type. Version 2 leaves them out by the build tag
// retrynotrace. go.mod replaces version 1 by this module.
package grpc_retry //nolint:revive // The SDK imports the package by this name.

import (
	"context"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/retry"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// BackoffFunc says how long to wait before a further attempt; the first one after a failure is number 1.
type BackoffFunc func(attempt uint) time.Duration

// BackoffFuncContext is a BackoffFunc that sees the context of the call.
type BackoffFuncContext = retry.BackoffFunc

// CallOption is a setting of UnaryClientInterceptor, or of one call.
type CallOption = retry.CallOption

// WithMax is how often a call is attempted at most, the first attempt included.
func WithMax(attempts uint) CallOption { return retry.WithMax(attempts) }

// WithBackoff sets how long to wait between attempts.
func WithBackoff(wait BackoffFunc) CallOption {
	return retry.WithBackoff(func(_ context.Context, attempt uint) time.Duration { return wait(attempt) })
}

// WithCodes sets the gRPC codes after which a call is attempted again.
func WithCodes(again ...codes.Code) CallOption { return retry.WithCodes(again...) }

// UnaryClientInterceptor attempts calls again that failed with one of the codes, until the call's context ends.
func UnaryClientInterceptor(options ...CallOption) grpc.UnaryClientInterceptor {
	return retry.UnaryClientInterceptor(options...)
}
