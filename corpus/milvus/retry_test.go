package milvus

import (
	"context"
	"testing"
	"time"

	grpc_retry "github.com/grpc-ecosystem/go-grpc-middleware/retry"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Calls of the Milvus SDK are retried as configured, although the package that it imports is replaced.
func TestSDKCallsAreRetried(t *testing.T) {
	for _, c := range []struct {
		name     string
		failures int
		code     codes.Code
		attempts int
		want     codes.Code
	}{
		{"no failure", 0, codes.Unavailable, 1, codes.OK},
		{"two failures", 2, codes.Unavailable, 3, codes.OK},
		{"failures without end", 100, codes.Unavailable, 4, codes.Unavailable},
		{"a failure for good", 100, codes.InvalidArgument, 1, codes.InvalidArgument},
	} {
		t.Run(c.name, func(t *testing.T) {
			var waits []uint
			call := grpc_retry.UnaryClientInterceptor(grpc_retry.WithMax(4), grpc_retry.WithCodes(codes.Unavailable),
				grpc_retry.WithBackoff(func(attempt uint) time.Duration {
					waits = append(waits, attempt)
					return time.Microsecond
				}))
			attempts := 0
			err := call(t.Context(), "/a/b", nil, nil, nil,
				func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
					if attempts++; attempts <= c.failures {
						return status.Error(c.code, "not now")
					}
					return nil
				})
			if got := status.Code(err); got != c.want || attempts != c.attempts {
				t.Errorf("got code %v after %d attempts, want %v after %d", got, attempts, c.want, c.attempts)
			}
			if got, want := len(waits), c.attempts-1; got != want {
				t.Errorf("got %d waits (%v), want %d", got, waits, want)
			}
		})
	}
}
