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

// A fault is a failure mode of a link.
type fault string

// The names are those in the rows and in docs/reliability.md.
const (
	// Every byte is forwarded at once.
	fine fault = ""
	// Each chunk is delayed by 300 ms in both directions, and none is lost: timeouts must not be so short that this
	// is an error.
	latency fault = "latency 300 ms"
	// Connections stay open and no bytes are forwarded. Only a timeout on the other side detects it.
	stalled fault = "bandwidth 0"
	// Open connections are reset; new ones are accepted and reset at their first byte.
	reset fault = "reset"
	// Each chunk is split into parts of 11 bytes: a reader must not parse one read as one message.
	sliced fault = "slice"
	// Each connection is reset after 2 KB: in the middle of a message, and again with the next connection.
	limited fault = "limit 2 KB"
	// Connections are refused, like those to a stopped server.
	refused fault = "refused"
)

// All values are arbitrary.
const (
	lateBy     = 300 * time.Millisecond // delay of each chunk, with latency
	sliceBytes = 11
	limitBytes = 2 << 10 // bytes that a connection forwards, in both directions together
)

// A link is a proxy between a replica and a dependency, which can inject faults. It is safe for concurrent use.
//
// It listens in place of the other side and copies bytes both ways. It is independent of the protocol, so it can
// proxy PostgreSQL, Milvus, HTTP and a bucket. Its address stays the same during and after refused.
type link struct {
	life              context.Context // of its connections
	network, addr     string          // the address that it listens on
	toNetwork, target string

	mu       sync.Mutex
	listener net.Listener
	fault    fault
	changed  chan struct{} // closed when the fault changes
	wires    map[*wire]bool
	closed   bool
	wg       sync.WaitGroup
}

// wire is one connection. It has one goroutine for each direction, and either may cut it.
type wire struct {
	from, to net.Conn
	mu       sync.Mutex
	left     int // bytes until the limit
}

// newLink listens and forwards to target. An addr with port 0 uses a free one. network and toNetwork are “tcp” or
// “unix”.
func newLink(ctx context.Context, network, addr, toNetwork, target string) (*link, error) {
	l := &link{life: ctx, network: network, addr: addr, toNetwork: toNetwork, target: target, changed: make(
		chan struct{},
	), wires: map[*wire]bool{}}
	return l, l.listenAgain()
}

// listenAgain starts to accept connections at the address, also after refused.
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

// connectWire connects to the target and copies until both directions have ended. An unreachable target closes the
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

// setFault sets another fault for open and new connections. Bytes that wait in stalled or latency are handled by
// the new fault. The byte count of limited restarts for each connection.
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

// sendBytes forwards bytes according to the fault, and reports whether more may follow. While stalled it waits for
// a change of the fault.
func (l *link) sendBytes(w *wire, to net.Conn, p []byte) bool {
	for {
		l.mu.Lock()
		f, changed := l.fault, l.changed
		l.mu.Unlock()
		switch f {
		case stalled:
			<-changed // closed by set and close
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

// cutWire ends a connection like a crash: bytes in flight are lost.
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

// close closes the link and waits for its goroutines.
func (l *link) close() {
	// From here on, connections in progress are cut once they are established.
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
