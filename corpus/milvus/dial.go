package milvus

import (
	"context"
	"errors"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"
)

// dialOptions returns gRPC options for a non-blocking connection. Keepalive pings are sent only during calls:
// servers with gRPC's default limits, like Milvus Lite, close a connection with too many pings without a call. The
// first call after a pause sends one, so that a dead connection is detected with that call. Responses may have 64
// MiB: 16,384 hits, or 10,000 vectors.
func dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: callTime}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: callTime,
			},
			MinConnectTimeout: callTime,
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64 << 20)),
	}
}

// dialServer connects and closes done. It runs in a goroutine that connectClient started and Close waits for. It
// discards a client that can't get the server's version.
func (s *Store) dialServer(done chan struct{}) {
	defer s.calls.Done()
	ctx, cancel := context.WithTimeoutCause(context.Background(), callTime, errSlow)
	defer cancel()
	conn, err := client.NewClient(ctx, client.Config{
		Address: s.cfg.Address, Username: s.cfg.User, Password: s.cfg.Password, DBName: s.cfg.Database,
		EnableTLSAuth: s.cfg.TLS,
		DisableConn:   true, // its own first call leaks the connection on failure; ours gets the version
		DialOptions:   dialOptions(),
	})
	var version string
	if err == nil {
		if version, err = conn.GetVersion(ctx); err != nil {
			err = errors.Join(err, conn.Close())
		} else {
			s.cfg.Log.InfoContext(ctx, "connected to Milvus", "version", version)
		}
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dialErr = err; err == nil {
		s.conn, s.version = conn, version
		s.signalLost() // signals possible data loss
	}
	s.dialing = nil
	close(done)
}
