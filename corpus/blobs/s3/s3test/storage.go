// Package s3test provides an S3 server on loopback for tests, with fault injection.
package s3test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Storage is an in-memory S3 server with an empty bucket, which ends with its test. Fail injects faults to simulate
// a storage that is slow, full or down.
type Storage struct {
	URL   string // of a folder in the bucket, for FOOTNOTE_BLOBS
	fault atomic.Pointer[http.HandlerFunc]
	calls atomic.Int64
}

// New starts a server. It accepts any credentials, see Env.
func New(t testing.TB) *Storage {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("originals"); err != nil {
		t.Fatal(err)
	}
	s := &Storage{}
	inner := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		if fault := s.fault.Load(); fault != nil {
			(*fault)(w, r)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.URL = "s3://originals/footnote?region=us-east-1&endpoint=" + server.URL
	return s
}

// Env returns credentials as environment variables: the server requires them but does not check them.
func Env() []string {
	return []string{"AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true"}
}

// Fail makes handler respond to all requests, until Heal.
func (s *Storage) Fail(handler http.HandlerFunc) { s.fault.Store(&handler) }

// Heal ends Fail.
func (s *Storage) Heal() { s.fault.Store(nil) }

// Calls returns the number of requests so far.
func (s *Storage) Calls() int64 { return s.calls.Load() }

// HangUp is a handler for Fail that closes the connection without a response.
func HangUp(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close() // it was to break
	}
}
