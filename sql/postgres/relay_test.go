package postgres

import (
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A relay stands between a DB and the server's socket. It can be shut, which breaks every connection and refuses new
// ones, or stalled, which takes bytes and passes none on.
type relay struct {
	t      *testing.T
	url    string // through the relay
	socket string
	target string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	stalled  chan struct{} // closed when bytes may pass; nil when they may
	wg       sync.WaitGroup
}

func newRelay(t *testing.T, through string) *relay {
	t.Helper()
	u, err := url.Parse(through)
	if err != nil {
		t.Fatal(err)
	}
	dir := u.Query().Get("host")
	if !strings.HasPrefix(dir, "/") {
		t.Skip("the server to test with is not reached by a socket")
	}
	r := &relay{t: t, target: filepath.Join(dir, ".s.PGSQL.5432"), conns: make(map[net.Conn]bool)}
	own := t.TempDir()
	r.socket = filepath.Join(own, ".s.PGSQL.5432")
	query := u.Query()
	query.Set("host", own)
	u.RawQuery = query.Encode()
	r.url = u.String()
	r.open()
	t.Cleanup(func() { r.resume(); r.shut(); r.wg.Wait() })
	return r
}

func (r *relay) open() {
	r.t.Helper()
	listener, err := net.Listen("unix", r.socket)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	r.listener = listener
	r.mu.Unlock()
	r.wg.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("unix", r.target)
			if err != nil {
				_ = from.Close()
				continue
			}
			r.mu.Lock()
			r.conns[from], r.conns[to] = true, true
			r.mu.Unlock()
			r.wg.Go(func() { r.pass(to, from) })
			r.wg.Go(func() { r.pass(from, to) })
		}
	})
}

func (r *relay) pass(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		r.mu.Lock()
		stalled := r.stalled
		r.mu.Unlock()
		if stalled != nil {
			<-stalled
		}
		if _, writeErr := to.Write(buf[:n]); err != nil || writeErr != nil {
			if !errors.Is(err, io.EOF) {
				_ = from.Close()
			}
			return
		}
	}
}

func (r *relay) shut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.listener.Close()
	for c := range r.conns {
		_ = c.Close()
	}
	clear(r.conns)
}

func (r *relay) stall() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stalled = make(chan struct{})
}

func (r *relay) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stalled != nil {
		close(r.stalled)
		r.stalled = nil
	}
}
