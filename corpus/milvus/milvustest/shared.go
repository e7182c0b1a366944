package milvustest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared holds the servers that the tests of this process share.
var shared struct {
	sync.Mutex
	servers map[Kind]*Server
	errs    map[Kind]error
}

// Main runs a package's tests, stops the shared servers, and returns the exit code.
func Main(m interface{ Run() int }) int {
	code := m.Run()
	if err := CloseShared(); err != nil {
		fmt.Fprintln(os.Stderr, "stop Milvus:", err)
		return max(code, 1)
	}
	return code
}

// CloseShared stops the shared servers. It is for a TestMain.
func CloseShared() error {
	shared.Lock()
	defer shared.Unlock()
	var errs []error
	for _, s := range shared.servers {
		errs = append(errs, s.Close())
	}
	shared.servers, shared.errs = nil, nil
	return errors.Join(errs...)
}

// Shared returns the address of a shared server; each test creates its own collections. If the servers are not
// installed, the test is skipped, or fails in CI. A startup error is cached, so that it is not retried.
func Shared(t testing.TB, kind Kind) string {
	t.Helper()
	if address := os.Getenv(AddressEnv(kind)); address != "" {
		return address
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.servers == nil {
		shared.servers, shared.errs = map[Kind]*Server{}, map[Kind]error{}
	}
	if shared.servers[kind] == nil && shared.errs[kind] == nil {
		s, err := Start(context.WithoutCancel(t.Context()), kind)
		if err != nil {
			shared.errs[kind] = err
		} else {
			shared.servers[kind] = s
		}
	}
	need(t, shared.errs[kind])
	return shared.servers[kind].Address
}

// ForTest starts a server for one test, which may stop it; it ends with that test.
func ForTest(t testing.TB, kind Kind) *Server {
	t.Helper()
	s, err := Start(t.Context(), kind)
	need(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("stop Milvus: %v", err)
		}
	})
	return s
}

// need skips the test if the servers are not installed, except in CI, and fails it on other errors.
func need(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
