// Package s3test gives tests a working S3 server on loopback, which they may have fail.
package s3test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Storage is an S3 server with an empty bucket. It ends with its test. Its objects are in memory. Tests break it with
// Fail to see what a storage does to Footnote that is slow, full or away.
type Storage struct {
	URL   string // of a folder of the bucket, as FOOTNOTE_BLOBS has it
	fault atomic.Pointer[http.HandlerFunc]
	calls atomic.Int64
}

// New starts a server. It takes any key, see Env.
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

// Env are settings that any key fits: the server asks for one and does not look at it.
func Env() []string {
	return []string{"AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true"}
}

// Fail has handler answer instead, until Heal.
func (s *Storage) Fail(handler http.HandlerFunc) { s.fault.Store(&handler) }

// Heal is the end of Fail.
func (s *Storage) Heal() { s.fault.Store(nil) }

// Calls is how many requests came so far.
func (s *Storage) Calls() int64 { return s.calls.Load() }

// HangUp breaks the connection without an answer: it is a handler for Fail.
func HangUp(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close() // it was to break
	}
}
