package main_test

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// neighbours returns n addresses with one port, as containers of a service have.
func neighbours(t *testing.T, n int) (addrs []string) {
	t.Helper()
	for range 100 {
		_, port, err := net.SplitHostPort(freeAddr(t))
		if err != nil {
			t.Fatal(err)
		}
		addrs = addrs[:0]
		for i := range n {
			addr := net.JoinHostPort(fmt.Sprintf("127.0.0.%d", i+1), port)
			l, err := net.Listen("tcp", addr)
			if err != nil {
				break
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			addrs = append(addrs, addr)
		}
		if len(addrs) == n {
			return addrs
		}
	}
	t.Fatal("no port is free on all addresses")
	return nil
}

// names answers every question for an address with those of servers, as the DNS of Docker and Kubernetes does for a
// service. It returns its own.
func names(t *testing.T, servers ...*server) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = conn.Close() // ends the loop
		<-done
	})
	go func() {
		defer close(done)
		packet := make([]byte, 1<<12)
		for {
			n, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(packet[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				for _, s := range servers {
					addr := netip.MustParseAddrPort(
						strings.Replace(strings.TrimPrefix(s.url, "http://"), "localhost", "127.0.0.1", 1),
					)
					m.Answers = append(m.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1},
						Body:   &dnsmessage.AResource{A: addr.Addr().As4()},
					})
				}
			}
			if raw, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(raw, from) // it asks again
			}
		}
	}()
	return conn.LocalAddr().String()
}

// behindCaddy runs Caddy with deploy/Caddyfile in front of servers that have one port. FOOTNOTE_TEST_CADDY names
// another Caddy than that of the machine. Its url is all that may be used of what it returns.
func behindCaddy(t *testing.T, servers ...*server) *server {
	t.Helper()
	program := os.Getenv("FOOTNOTE_TEST_CADDY")
	if program == "" {
		program = "caddy"
	}
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("Caddy is not on this machine: make caddy")
		}
		t.Skip("Caddy is not on this machine: make caddy")
	}
	dir, addr := t.TempDir(), freeAddr(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(servers[0].url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	conf := deployed(t, "Caddyfile", [][2]string{ // what differs on one machine: addresses, and who knows names
		{"footnote.example.com {", "http://" + addr + " {\n\tbind 127.0.0.1"},
		{"port 8080", "port " + port + "\n\t\t\tresolvers udp/" + names(t, servers...)},
	})
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte("{\n\tadmin off\n}\n"+conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "run", "--adapter", "caddyfile", "--config", file)
	cmd.Env = append(environment(nil), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	return inFront(t, "Caddy", addr, cmd)
}
