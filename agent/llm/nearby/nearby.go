// Package nearby discovers model servers on this machine: it requests the lists of models from their usual ports
// concurrently. The entry point is Find.
//
// No request may leave the machine: LoopbackClient dials only the loopback address, whatever a name resolves to.
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

	"github.com/footnote/footnote/text/host"
)

// Look is the recommended timeout of Find, which callers set.
const Look = 300 * time.Millisecond

// Port is the default port of a model server.
type Port struct {
	Number  int
	Program string // display name
}

// Ports are the default ports of self-hosted model servers.
var Ports = []Port{
	{11434, "Ollama"}, {1234, "LM Studio"}, {8081, "llama.cpp"}, {8080, "llama.cpp"}, {8000, "vLLM"}, {1337, "Jan"},
	{8082, "LocalAI"},
}

// Server is a discovered model server.
type Server struct {
	Port
	Models []Model // in the server's order; empty: it has no models
}

// BaseURL returns the URL of its OpenAI-compatible API.
func (p Port) BaseURL() string { return fmt.Sprintf("http://localhost:%d/v1", p.Number) }

// IsNamed reports whether a base URL is this port of this machine.
func (p Port) IsNamed(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Port() == strconv.Itoa(p.Number) && host.IsHere(u.Hostname())
}

// Model is a server's metadata of a model. Zero fields are unknown.
type Model struct {
	Name    string
	Bytes   int64  // size of its file
	Size    string // number of parameters, like 8.2B, as the server reports it
	Context int    // context length in tokens
	Loaded  bool   // it is in memory
	Tools   *bool  // it supports tool calls; nil: unknown
}

// Find returns the model servers on this machine, in the order of ports. It requests all ports concurrently, until
// ctx is cancelled, and omits those that have not responded. Errors are ignored, since most ports have no listener.
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

// Best returns the best model: with support for tool calls before unknown support, then loaded ones, then the
// largest. ok is false without models. Ties are resolved by the order of servers and of their lists. The file size
// is a proxy for the number of parameters, which few servers report.
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

// merits are the sort keys of a model, the most important first.
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

// LoopbackClient returns an HTTP client that connects only to this machine: it dials the loopback address with the
// URL's port, without a proxy. IPv4 is tried first, as most servers listen only there. Redirects are not followed.
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
