//go:build linux

package main

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// A fault is what is wrong with a link.
type fault string

// The texts are what the rows and docs/reliability.md call them.
const (
	// Every byte passes at once.
	fine fault = ""
	// Each piece is late by 300 ms, both ways, and none is lost: timeouts must not be so short that they make an error
	// of this.
	latency fault = "latency 300 ms"
	// Connections stay open and nothing passes. Only a limit of time on the other side notices it.
	stalled fault = "bandwidth 0"
	// Connections that are open are cut; new ones are accepted and are cut at their first byte.
	reset fault = "reset"
	// Each piece comes in parts of 11 bytes: a reader must not take one read for one message.
	sliced fault = "slice"
	// Each connection is cut when 2 KB have passed: in the middle of a message, and again with the next connection.
	limited fault = "limit 2 KB"
	// Nobody listens, as when a server has ended.
	refused fault = "refused"
)

// All are choices.
const (
	lateBy     = 300 * time.Millisecond // of each piece, with latency
	sliceBytes = 11
	limitBytes = 2 << 10 // that a connection passes on, both ways together
)

// A link is a wire between a replica and what it depends on, which can be disturbed. It is safe for concurrent use.
//
// It listens in place of the other side and copies bytes both ways. It knows no protocol, so it can stand before
// PostgreSQL, Milvus, HTTP and a bucket. Its address stays the same while it refuses and after that.
type link struct {
	life              context.Context // of its connections
	network, addr     string          // where it listens
	toNetwork, target string

	mu       sync.Mutex
	listener net.Listener
	fault    fault
	changed  chan struct{} // closed when another fault begins
	wires    map[*wire]bool
	closed   bool
	wg       sync.WaitGroup
}

// wire is one connection. It has one goroutine for each direction, and either may cut it.
type wire struct {
	from, to net.Conn
	mu       sync.Mutex
	left     int // bytes, while there is a limit
}

// newLink listens and passes on to target. An addr of port 0 takes a free one. network and toNetwork are “tcp” or
// “unix”.
func newLink(ctx context.Context, network, addr, toNetwork, target string) (*link, error) {
	l := &link{life: ctx, network: network, addr: addr, toNetwork: toNetwork, target: target, changed: make(
		chan struct{},
	), wires: map[*wire]bool{}}
	return l, l.listenAgain()
}

// listenAgain begins to accept connections at the address, also after refused.
func (l *link) listenAgain() error {
	if l.network == "unix" {
		if err := os.Remove(l.addr); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	listener, err := new(net.ListenConfig).Listen(l.life, l.network, l.addr)
	if err != nil {
		return err
	}
	l.addr = listener.Addr().String()
	l.mu.Lock()
	l.listener = listener
	l.mu.Unlock()
	l.wg.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			l.wg.Go(func() { l.connectWire(from) })
		}
	})
	return nil
}

// connectWire connects to the target and copies until both directions have ended. A target that is not there cuts the
// connection at once.
func (l *link) connectWire(from net.Conn) {
	to, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(l.life, l.toNetwork, l.target)
	if err != nil {
		abortConn(from)
		return
	}
	w := &wire{from: from, to: to, left: limitBytes}
	l.mu.Lock()
	l.wires[w] = true
	if l.closed {
		w.cutWire()
	}
	l.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { l.passBytes(w, to, from) })
	both.Go(func() { l.passBytes(w, from, to) })
	both.Wait()
	l.mu.Lock()
	delete(l.wires, w)
	l.mu.Unlock()
}

// setFault begins another fault, on connections that are open and on new ones. Bytes that wait in stalled or latency
// are passed on, or not, as the new fault has it. Each connection's allowance of limited begins anew.
func (l *link) setFault(f fault) error {
	l.mu.Lock()
	before := l.fault
	l.fault = f
	close(l.changed)
	l.changed = make(chan struct{})
	for w := range l.wires {
		w.mu.Lock()
		w.left = limitBytes
		w.mu.Unlock()
		if f == reset || f == refused {
			w.cutWire()
		}
	}
	listener := l.listener
	l.mu.Unlock()
	switch {
	case f == refused && before != refused:
		return listener.Close()
	case f != refused && before == refused:
		return l.listenAgain()
	}
	return nil
}

// passBytes copies one direction until either side ends.
func (l *link) passBytes(w *wire, to, from net.Conn) {
	defer w.cutWire()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && !l.sendBytes(w, to, buf[:n]) {
			return
		}
		if err != nil {
			return
		}
	}
}

// sendBytes passes bytes on as the fault has it, and reports whether more may follow. While it is stalled it waits
// here, and looks again at which fault there is when that has changed.
func (l *link) sendBytes(w *wire, to net.Conn, p []byte) bool {
	for {
		l.mu.Lock()
		f, changed := l.fault, l.changed
		l.mu.Unlock()
		switch f {
		case stalled:
			<-changed // set and close see to it
			continue
		case latency:
			select {
			case <-time.After(lateBy):
			case <-changed:
			}
		case reset:
			return false
		case sliced:
			for len(p) > sliceBytes {
				if _, err := to.Write(p[:sliceBytes]); err != nil {
					return false
				}
				p = p[sliceBytes:]
			}
		case limited:
			w.mu.Lock()
			n := min(w.left, len(p))
			w.left -= n
			w.mu.Unlock()
			_, err := to.Write(p[:n])
			return err == nil && n == len(p)
		case fine, refused:
		}
		_, err := to.Write(p)
		return err == nil
	}
}

// cutWire ends a connection as a crash does: what is under way is lost.
func (w *wire) cutWire() {
	abortConn(w.from)
	abortConn(w.to)
}

// abortConn closes a connection; without lingering, TCP sends a reset instead of an orderly end.
func abortConn(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it may be closed
	}
	_ = c.Close() // it may be closed
}

// close ends the link and waits for its goroutines.
func (l *link) close() {
	// From here on, wires that are still being connected are cut as soon as they are there.
	l.mu.Lock()
	l.closed, l.fault = true, reset
	close(l.changed)
	l.changed = make(chan struct{})
	_ = l.listener.Close() // it may be refused
	for w := range l.wires {
		w.cutWire()
	}
	l.mu.Unlock()
	l.wg.Wait()
}
