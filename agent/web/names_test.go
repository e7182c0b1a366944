package web

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a name server on loopback that gives every name the same addresses.
type names struct {
	conn      net.PacketConn
	addresses atomic.Pointer[[]netip.Addr]
	asked     atomic.Int64
}

func newNames(t *testing.T, addresses ...netip.Addr) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{conn: conn}
	n.answer(addresses...)
	ended := make(chan struct{})
	go func() { defer close(ended); n.serve() }()
	t.Cleanup(func() { _ = conn.Close(); <-ended })
	return n
}

func (n *names) answer(addresses ...netip.Addr) { n.addresses.Store(&addresses) }

func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}

func (n *names) serve() {
	buffer := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buffer[:size]) != nil || len(m.Questions) == 0 {
			continue
		}
		n.asked.Add(1)
		q := m.Questions[0]
		m.Response, m.Authoritative, m.Additionals = true, true, nil
		for _, a := range *n.addresses.Load() {
			header := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
			switch {
			case a.Is4() && q.Type == dnsmessage.TypeA:
				m.Answers = append(m.Answers, dnsmessage.Resource{
					Header: header, Body: &dnsmessage.AResource{A: a.As4()},
				})
			case a.Is6() && q.Type == dnsmessage.TypeAAAA:
				m.Answers = append(m.Answers, dnsmessage.Resource{
					Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()},
				})
			}
		}
		reply, err := m.Pack()
		if err != nil {
			continue
		}
		if _, err := n.conn.WriteTo(reply, from); err != nil {
			return
		}
	}
}
