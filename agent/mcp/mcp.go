// Package mcp provides tools of other servers to models, by the Model Context Protocol. The servers are configured
// by the operator, never by a request. A Client keeps a connection to each: it connects, lists the tools, and
// reconnects with backoff. All output of a server is untrusted data, its secrets are redacted from logs and results,
// and results are limited in size.
//
// mcp.go has the configuration and the Client, link.go one connection, tool.go converts tools and results, bound.go
// limits HTTP responses. The official SDK implements the protocol. /mcp, by which others use this server, is in
// server/mcpserver.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/lazy"
	"github.com/footnote/footnote/text/locale"
)

// Server is the configuration of one MCP server, which is reached by starting Command, or at URL.
type Server struct {
	// started without a shell; its environment is Env and a few harmless variables, never this program's keys
	Command string
	Args    []string          //
	Env     map[string]string // values are secret
	URL     string            // endpoint with streamable HTTP
	Headers map[string]string // sent with each request to URL; values are secret
	Tools   []string          // names of the tools to use; empty: all
	Free    bool              // tools need no approval
	Held    []string          // exceptions of Free, which need approval
	Timeout time.Duration     // timeout of a call; 0: the agent's default
}

// Tool is a tool of an MCP server.
type Tool struct {
	// name for models: the server's name, two underscores, the tool's name; matches ^[a-zA-Z0-9_-]{1,64}$
	Name        string
	Server      string
	Remote      string // its name on the server
	Description string // plain text of at most 2,000 runes
	Schema      json.RawMessage
	Approve     bool // each call needs approval
	Timeout     time.Duration
}

// serverName limits a server's name, so that a tool's name fits the 64 characters that providers allow.
var serverName = lazy.Regexp(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,22}[a-zA-Z0-9])?$`)

// Check validates a server's configuration. Its errors contain no secret.
func (s Server) Check(name string) error {
	switch {
	case !serverName().MatchString(name):
		return fmt.Errorf("the MCP server name %q may contain only letters, digits and hyphens, at most 24", name)
	case (s.Command == "") == (s.URL == ""):
		return fmt.Errorf("the MCP server %s needs either a command or a url", name)
	case s.URL == "" && len(s.Headers) > 0:
		return fmt.Errorf("the MCP server %s has headers, which require a url", name)
	case s.Command == "" && len(s.Args)+len(s.Env) > 0:
		return fmt.Errorf("the MCP server %s has args or env, which require a command", name)
	case s.Timeout < 0 || s.Timeout > 10*time.Minute:
		return fmt.Errorf("the timeout of the MCP server %s must be at most 10m", name)
	}
	if s.URL != "" {
		if u, err := url.Parse(s.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("the url of the MCP server %s must be a URL like https://tools.example.org/mcp", name)
		}
	}
	return nil
}

// Config holds the dependencies of a Client.
type Config struct {
	Servers map[string]Server
	Version string // this program's version, sent to the servers
	Log     *slog.Logger
}

// Client keeps a connection to each server. It is safe for concurrent use.
type Client struct {
	links []*link // sorted by name
}

// New validates the configuration. It does not connect: see Run. Servers are sorted by name, so that the order of
// tools is the same in every run.
func New(cfg Config) (*Client, error) {
	c := &Client{}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(cfg.Servers)) {
		server := cfg.Servers[name]
		if err := server.Check(name); err != nil {
			errs = append(errs, err)
			continue
		}
		c.links = append(c.links, &link{
			name: name, server: server, version: cfg.Version, log: cfg.Log.With("mcp_server", name),
			hide:  server.secretReplacer(),
			tried: make(chan struct{}), lost: make(chan struct{}, 1),
		})
	}
	return c, errors.Join(errs...)
}

// secretReplacer returns a replacer that redacts a server's secrets in logs and results. Values of fewer than four
// bytes are not redacted, since they occur in other words.
func (s Server) secretReplacer() *strings.Replacer {
	var pairs []string
	hide := func(value string) {
		if len(value) >= 4 {
			pairs = append(pairs, value, "[set]")
		}
	}
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for _, v := range values {
			hide(v)
			// The token after a scheme such as Bearer may occur alone in the server's output.
			if _, token, ok := strings.Cut(v, " "); ok { // "Bearer …"
				hide(token)
			}
		}
	}
	if u, err := url.Parse(s.URL); err == nil {
		hide(u.RawQuery)
		if password, ok := u.User.Password(); ok {
			hide(password)
		}
	}
	return strings.NewReplacer(pairs...)
}

// Run connects to all servers concurrently and reconnects, until ctx is cancelled. Then it stops the programs it
// started.
func (c *Client) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, l := range c.links {
		wg.Go(func() { l.run(ctx) })
	}
	wg.Wait()
}

// Settled waits until each server has been tried once, or ctx is cancelled.
func (c *Client) Settled(ctx context.Context) {
	for _, l := range c.links {
		select {
		case <-l.tried:
		case <-ctx.Done():
			return
		}
	}
}

// Tools returns the tools of all servers that were ever reached, by server and name. The tools of a lost server stay
// listed; their calls fail until it is reconnected.
func (c *Client) Tools() []*Tool {
	var out []*Tool
	for _, l := range c.links {
		l.mu.Lock()
		out = append(out, l.tools...)
		l.mu.Unlock()
	}
	return out
}

// Servers returns the names of the servers, in order.
func (c *Client) Servers() (names []string) {
	for _, l := range c.links {
		names = append(names, l.name)
	}
	return names
}

// Ping returns an error while a server is away. It waits for the first attempt to connect, until ctx is cancelled.
func (c *Client) Ping(ctx context.Context, server string) error {
	i := slices.IndexFunc(c.links, func(l *link) bool { return l.name == server })
	if i < 0 {
		return noServer(server)
	}
	l := c.links[i]
	select {
	case <-l.tried:
	case <-ctx.Done():
	}
	if l.current() == nil {
		return &chat.Error{
			Code: chat.CodeUnavailable,
			Message: locale.Say(
				"The MCP server {1} can't be reached. It is being tried again.", server,
			),
		}
	}
	return nil
}

// noServer returns the error for an unknown server.
func noServer(name string) error {
	return &chat.Error{Code: chat.CodeNotFound, Message: locale.Say(
		"There is no MCP server {1}.", name,
	)}
}

// Knows reports whether a tool's name has the prefix of a configured server, reached or not.
func (c *Client) Knows(name string) bool {
	server, _, ok := strings.Cut(name, between)
	return ok && slices.ContainsFunc(c.links, func(l *link) bool { return l.name == server })
}

// Call runs a tool with a JSON object as its arguments. A failure that the tool reports is not an error. It returns
// chat.CodeUnavailable while the server is away and being reconnected.
func (c *Client) Call(ctx context.Context, t *Tool, args json.RawMessage) (Result, error) {
	for _, l := range c.links {
		if l.name == t.Server {
			return l.call(ctx, t.Remote, args)
		}
	}
	return Result{}, noServer(t.Server)
}

// programEnvironment returns the environment of a started program: Env and the variables that programs need to
// start, which are not secret.
func (s Server) programEnvironment() []string {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "APPDATA",
		"LOCALAPPDATA", "USERPROFILE", "PATHEXT",
	} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env = append(env, name+"="+s.Env[name])
	}
	return env
}
