package milvus

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
	"github.com/footnote/footnote/corpus/milvus/milvustest"
)

// A server with gRPC's default limits allows a keepalive ping every five minutes, and without calls every two
// hours.
func TestIdleConnectionIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, listener := grpc.NewServer(), bufconn.Listen(1<<20)
		grpc_health_v1.RegisterHealthServer(server, health.NewServer())
		go func() { _ = server.Serve(listener) }()
		defer server.Stop()
		dialed := 0
		conn, err := grpc.NewClient("passthrough:///pipe",
			append(dialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()),
				grpc.WithIdleTimeout(0), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
					dialed++
					return listener.DialContext(ctx)
				}))...)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, pause := range []time.Duration{
			0, time.Second, 30 * time.Second, 90 * time.Second, 15 * time.Second, time.Hour,
		} {
			for range 5 {
				time.Sleep(pause)
				ctx, cancel := context.WithTimeout(t.Context(), callTime)
				if _, err := grpc_health_v1.NewHealthClient(conn).Check(ctx,
					&grpc_health_v1.HealthCheckRequest{}); err != nil {
					t.Errorf("a call after a pause of %v: %v, want no error", pause, err)
				}
				cancel()
			}
		}
		if dialed != 1 {
			t.Errorf("%d connections were made, want 1", dialed)
		}
	})
}

// Packets are lost without an error: the call times out, and the next one uses another connection.
func TestDeadConnectionTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, listener := grpc.NewServer(), bufconn.Listen(1<<20)
		grpc_health_v1.RegisterHealthServer(server, health.NewServer())
		go func() { _ = server.Serve(listener) }()
		defer server.Stop()
		var links []*deadEnd
		conn, err := grpc.NewClient("passthrough:///pipe", append(dialOptions(),
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
				c, err := listener.DialContext(ctx)
				link := &deadEnd{Conn: c}
				links = append(links, link)
				return link, err
			}))...)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		check := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), callTime)
			defer cancel()
			_, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
			return err
		}
		if err := check(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		links[0].broken.Store(true)
		if check() == nil {
			t.Fatal("got an answer over a dead connection")
		}
		time.Sleep(time.Second)
		if err := check(); err != nil {
			t.Errorf("the next call: %v, want no error", err)
		}
		if len(links) != 2 {
			t.Errorf("%d connections were made, want 2", len(links))
		}
	})
}

// deadEnd is a connection that can drop everything sent.
type deadEnd struct {
	net.Conn
	broken atomic.Bool
}

func (d *deadEnd) Write(p []byte) (int, error) {
	if d.broken.Load() {
		return len(p), nil
	}
	return d.Conn.Write(p)
}

func TestMain(m *testing.M) { os.Exit(milvustest.Main(m)) }

// kinds are the servers for every contract test.
var kinds = []milvustest.Kind{milvustest.Standalone, milvustest.Lite}

// openNew opens a store with separate collections, and closes it when the test ends.
func openNew(t testing.TB, kind milvustest.Kind, alone bool) *Store {
	t.Helper()
	address := milvustest.Shared(t, kind)
	return open(t, Config{Address: address, Collection: milvustest.Collection(t, address), Model: "test", Alone: alone})
}

func open(t testing.TB, cfg Config) *Store {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v, want no error", err)
		}
	})
	return s
}

func TestVectors(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			corpustest.TestVectors(t, func(t *testing.T) corpus.Vectors { return openNew(t, kind, false) })
		})
	}
	for _, kind := range kinds {
		t.Run("models on "+string(kind), func(t *testing.T) {
			t.Parallel()
			corpustest.TestVectorModels(t, func(t *testing.T) func(string) corpus.Vectors {
				address := milvustest.Shared(t, kind)
				cfg := Config{Address: address, Collection: milvustest.Collection(t, address)}
				return func(model string) corpus.Vectors {
					cfg := cfg
					cfg.Model = model
					return open(t, cfg)
				}
			})
		})
	}
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		corpustest.TestVectors(t, func(t *testing.T) corpus.Vectors { return openNew(t, milvustest.Standalone, true) })
	})
}

func TestCloseStopsGoroutines(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, err := New(Config{Address: "127.0.0.1:1", Model: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("Ping without a server: got no error, want one")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
