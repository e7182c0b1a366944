// Package grpc_retry provides the API that the Milvus SDK uses of version 1 of go-grpc-middleware's retry package,
// implemented with version 2. Version 1 always loads golang.org/x/net/trace, whose templates look up methods by
// name; this makes the linker keep every method of every type. Version 2 excludes it by the build tag retrynotrace.
// go.mod replaces version 1 with this module.
package grpc_retry //nolint:revive // The SDK imports the package by this name.

import (
	"context"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/retry"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// BackoffFunc returns the backoff before a retry; the first retry is attempt 1.
type BackoffFunc func(attempt uint) time.Duration

// BackoffFuncContext is a BackoffFunc with the context of the call.
type BackoffFuncContext = retry.BackoffFunc

// CallOption is an option of UnaryClientInterceptor, or of one call.
type CallOption = retry.CallOption

// WithMax sets the maximum number of attempts, including the first.
func WithMax(attempts uint) CallOption { return retry.WithMax(attempts) }

// WithBackoff sets the backoff between attempts.
func WithBackoff(wait BackoffFunc) CallOption {
	return retry.WithBackoff(func(_ context.Context, attempt uint) time.Duration { return wait(attempt) })
}

// WithCodes sets the gRPC codes that are retried.
func WithCodes(again ...codes.Code) CallOption { return retry.WithCodes(again...) }

// UnaryClientInterceptor retries calls that failed with one of the codes, until the call's context ends.
func UnaryClientInterceptor(options ...CallOption) grpc.UnaryClientInterceptor {
	return retry.UnaryClientInterceptor(options...)
}
