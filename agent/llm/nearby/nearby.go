// Package nearby finds model servers that run on this machine: it asks the ports that they usually listen on for their
// lists of models, all at once, and nobody elsewhere. Start with Find.
//
// It must never reach another machine: LoopbackClient dials the loopback address alone, whatever a name stands for.
package nearby

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Look is how long a whole look around is meant to take; callers bound it.
const Look = 300 * time.Millisecond

// Port is where a model server listens unless it is told otherwise.
type Port struct {
	Number  int
	Program string // for people
}

// Ports are those of the servers that people run themselves.
var Ports = []Port{
	{11434, "Ollama"}, {1234, "LM Studio"}, {8081, "llama.cpp"}, {8080, "llama.cpp"}, {8000, "vLLM"}, {1337, "Jan"},
	{8082, "LocalAI"},
}

// Server is a model server that answered.
type Server struct {
	Port
	Models []Model // in the server's order; empty: it has none yet
}

// BaseURL is the address of its OpenAI-compatible API.
func (p Port) BaseURL() string { return fmt.Sprintf("http://localhost:%d/v1", p.Number) }

// IsNamed reports whether a base URL is this port of this machine.
func (p Port) IsNamed(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Port() == strconv.Itoa(p.Number) && IsHere(base)
}

// IsHere reports whether a base URL is of this machine.
func IsHere(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Model is what a server says of one of its models. Zero fields: nothing.
type Model struct {
	Name    string
	Bytes   int64  // of its file
	Size    string // its parameters, like 8.2B, as the server has it
	Context int    // tokens that it can read at once
	Loaded  bool   // it is in memory
	Tools   *bool  // it can call tools; nil: the server does not say
}

// Find returns the servers that listen on this machine, in the order of ports. It asks all of them at once, until ctx
// ends: what has not answered by then is left out. What goes wrong is no error: a port on which nothing listens is the
// usual case.
func Find(ctx context.Context, ports []Port) []Server {
	client := LoopbackClient()
	defer client.CloseIdleConnections()
	found := make([]*Server, len(ports))
	var all sync.WaitGroup
	for i, port := range ports {
		all.Go(func() {
			if models, err := list(ctx, client, port.Number); err == nil {
				found[i] = &Server{port, models}
			}
		})
	}
	all.Wait()
	var servers []Server
	for _, s := range found {
		if s != nil {
			servers = append(servers, *s)
		}
	}
	return servers
}

// Best is the model that suits best: one that can call tools before one of which that is not known, then one that is in
// memory, then the largest. ok is false without models. Of equals the first counts, in the order of servers and of
// their lists. The size of the file stands for the number of parameters, which few servers tell.
func Best(servers []Server) (at Port, best Model, ok bool) {
	for _, s := range servers {
		for _, m := range s.Models {
			if !ok || slices.Compare(m.merits(), best.merits()) > 0 {
				at, best, ok = s.Port, m, true
			}
		}
	}
	return at, best, ok
}

// merits are what models are compared by, the weightiest first.
func (m Model) merits() []int64 {
	tools, loaded := int64(1), int64(0)
	if m.Tools != nil {
		tools = 0
		if *m.Tools {
			tools = 2
		}
	}
	if m.Loaded {
		loaded = 1
	}
	return []int64{tools, loaded, m.Bytes}
}

// LoopbackClient reaches this machine and nothing else: whatever the address says it connects to the loopback address
// of the same port, without a proxy, and follows nobody elsewhere. IPv4 comes first, as most servers listen there only.
// Redirects are returned as they are.
func LoopbackClient() *http.Client {
	var dialer net.Dialer
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		conn, err4 := dialer.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
		if err4 == nil {
			return conn, nil
		}
		conn, err6 := dialer.DialContext(ctx, network, net.JoinHostPort("::1", port))
		if err6 != nil {
			return nil, fmt.Errorf("%w; %w", err4, err6)
		}
		return conn, nil
	}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dial, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
