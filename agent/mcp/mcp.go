// Package mcp gives models the tools of other servers, by the Model Context Protocol. Which servers there are is for
// whoever runs this one to say, never for a request. Client keeps a link to each: it connects, lists the tools, and
// connects again when a server was lost. Everything that a server says is data, its secrets are never logged or told,
// and results are bounded.
//
// mcp.go has the settings and the Client, link.go one connection, tool.go what a tool and a result are here, bound.go
// bounds what comes over HTTP. The protocol itself is the official SDK's. /mcp, by which others use this server, is
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
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
)

// Server is one server and how it is reached: by starting Command, or at URL.
type Server struct {
	// started without a shell; its environment is Env and a few harmless variables, never this program's keys
	Command string
	Args    []string          //
	Env     map[string]string // values are secret
	URL     string            // of a server with streamable HTTP
	Headers map[string]string // sent with each request to URL; values are secret
	Tools   []string          // only these of its tools; empty: all
	Free    bool              // tools run without a person's word
	Held    []string          // but not these
	Timeout time.Duration     // of one call; 0: the agent's own
}

// Tool is one tool of a server.
type Tool struct {
	// what models call it: the server's name, two underscores, the tool's own; fits ^[a-zA-Z0-9_-]{1,64}$
	Name        string
	Server      string
	Remote      string // what its server calls it
	Description string // plain text of at most 2,000 runes
	Schema      json.RawMessage
	Approve     bool // a person has to allow each call
	Timeout     time.Duration
}

// serverName leaves room for the tool's name in the 64 signs that providers allow.
var serverName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,22}[a-zA-Z0-9])?$`)

// Check says what is wrong with a server's settings; nil if nothing is. It names no secret.
func (s Server) Check(name string) error {
	switch {
	case !serverName.MatchString(name):
		return fmt.Errorf("the MCP server's name %q is not made of letters, digits and hyphens, at most 24", name)
	case (s.Command == "") == (s.URL == ""):
		return fmt.Errorf("the MCP server %s needs either a command or a url", name)
	case s.URL == "" && len(s.Headers) > 0:
		return fmt.Errorf("the MCP server %s has headers, which need a url", name)
	case s.Command == "" && len(s.Args)+len(s.Env) > 0:
		return fmt.Errorf("the MCP server %s has args or env, which need a command", name)
	case s.Timeout < 0 || s.Timeout > 10*time.Minute:
		return fmt.Errorf("the timeout of the MCP server %s goes up to 10m", name)
	}
	if s.URL != "" {
		if u, err := url.Parse(s.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("the url of the MCP server %s is not like https://tools.example.org/mcp", name)
		}
	}
	return nil
}

// Config wires a Client.
type Config struct {
	Servers map[string]Server
	Version string // of this program, told to the servers
	Log     *slog.Logger
}

// Client keeps a connection to each server. It is safe for concurrent use.
type Client struct {
	links []*link // by name
}

// New checks the settings. It connects to nothing: see Run. Servers are kept in the order of their names, so that tools
// stand in the same order in every run.
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

// secretReplacer replaces a server's secrets in what is logged or told. Values of fewer than four bytes are too common
// in other words to be taken out.
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
			// The word behind a scheme is the secret itself, and may stand alone in what a server says.
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

// Run connects to all servers at once, and again whenever one is lost, until ctx ends. Then it ends the programs that
// it started.
func (c *Client) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, l := range c.links {
		wg.Go(func() { l.run(ctx) })
	}
	wg.Wait()
}

// Settled waits until each server has been tried once, or ctx ends.
func (c *Client) Settled(ctx context.Context) {
	for _, l := range c.links {
		select {
		case <-l.tried:
		case <-ctx.Done():
			return
		}
	}
}

// Tools are the tools of the servers that have been reached, by server and name. A server that was lost keeps its
// tools listed; their calls fail until it is back.
func (c *Client) Tools() []*Tool {
	var out []*Tool
	for _, l := range c.links {
		l.mu.Lock()
		out = append(out, l.tools...)
		l.mu.Unlock()
	}
	return out
}

// Servers are the names of the servers, in order.
func (c *Client) Servers() (names []string) {
	for _, l := range c.links {
		names = append(names, l.name)
	}
	return names
}

// Reach fails while the server of a name is away. One that was never tried is waited for until ctx ends.
func (c *Client) Reach(ctx context.Context, server string) error {
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
			Code:    chat.CodeUnavailable,
			Message: "The MCP server " + server + " can't be reached. It is being tried again.",
		}
	}
	return nil
}

// noServer says that there is no server of a name.
func noServer(name string) error {
	return &chat.Error{Code: chat.CodeNotFound, Message: "There is no MCP server " + name + "."}
}

// Knows reports whether a tool's name belongs to one of the servers, reached or not.
func (c *Client) Knows(name string) bool {
	server, _, ok := strings.Cut(name, between)
	return ok && slices.ContainsFunc(c.links, func(l *link) bool { return l.name == server })
}

// Call runs a tool with a JSON object as its arguments. A tool that says it failed is no error. It fails with
// chat.CodeUnavailable when the server is away; it is then being reached again.
func (c *Client) Call(ctx context.Context, t *Tool, args json.RawMessage) (Result, error) {
	for _, l := range c.links {
		if l.name == t.Server {
			return l.call(ctx, t.Remote, args)
		}
	}
	return Result{}, noServer(t.Server)
}

// programEnvironment is what a started program gets to see of this one's. What these names hold programs need to start,
// and none of it is a secret.
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
