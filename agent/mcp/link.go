package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// All values but the last were not measured.
const (
	connectTime = time.Minute // a program may have to be downloaded first
	listTime    = 15 * time.Second
	firstWait   = 250 * time.Millisecond // backoff before a reconnect; doubled up to longestWait
	longestWait = time.Minute
	stayed      = 30 * time.Second // a connection that lasted this long resets the backoff
	pingEvery   = 30 * time.Second

	notDelivered = -32005 // the SDK's code for a request that failed with an HTTP status
)

// link is the connection to one server. Only run writes session and tools, under mu; calls read them from other
// goroutines. A call never connects: without a session it fails, and lost triggers a reconnect.
//
// session is nil until the first connection has listed its tools. version is this program's version, sent to the
// server.
type link struct {
	name    string
	server  Server
	version string
	log     *slog.Logger
	hide    *strings.Replacer
	tried   chan struct{} // closed after the first attempt
	lost    chan struct{} // signal of a call that the connection is dead

	mu      sync.Mutex
	session *sdk.ClientSession // nil while the server is away
	tools   []*Tool
}

// run keeps the connection open until ctx is cancelled.
//
// It retries without limit, so that a server that starts later is found. tried is closed after the first attempt,
// successful or not, so that a run waits no longer than that.
func (l *link) run(ctx context.Context) {
	wait, first := firstWait, sync.OnceFunc(func() { close(l.tried) })
	defer first()
	for ctx.Err() == nil {
		began := time.Now()
		err := l.live(ctx, first)
		first()
		if ctx.Err() != nil {
			return
		}
		// A connection that lasted resets the backoff.
		if time.Since(began) > stayed {
			wait = firstWait
		}
		l.log.WarnContext(ctx, "MCP server is unavailable: retrying", "in", wait, "error", l.errorWords(err))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, longestWait)
	}
}

// live connects and blocks until the connection is lost. The context has to live as long as the connection, so a
// timer bounds the attempt instead of a deadline. Tools are listed before the session is used, so that a called tool
// is a listed one.
//
// ready is called when tools can be called. All its goroutines have ended when it returns.
func (l *link) live(ctx context.Context, ready func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changed := make(chan struct{}, 1)
	client := sdk.NewClient(&sdk.Implementation{Name: "footnote", Version: l.version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, KeepAlive: pingEvery,
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case changed <- struct{}{}:
			default:
			}
		},
	})
	overdue := time.AfterFunc(connectTime, cancel) // not a deadline: the context has to outlive it
	transport, logged := l.transport(ctx)
	defer logged()
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		overdue.Stop()
		return err
	}
	// One goroutine waits for the end of the connection; the deferred function receives from it, so it never
	// outlives this call.
	gone := make(chan error, 1)
	go func() { gone <- session.Wait() }()
	defer func() {
		l.use(nil)
		if err := session.Close(); err != nil {
			l.log.Debug("could not close an MCP connection", "error", l.errorWords(err))
		}
		<-gone
	}()
	if err := l.list(ctx, session); err != nil || !overdue.Stop() {
		return cmpErr(err, context.DeadlineExceeded)
	}
	select {
	case <-l.lost: // signal about an earlier connection
	default:
	}
	l.use(session)
	ready()
	for {
		select {
		case <-changed:
			if err := l.list(ctx, session); err != nil {
				return err
			}
		case <-l.lost:
			return sdk.ErrConnectionClosed
		case err := <-gone:
			gone <- err
			return cmpErr(err, sdk.ErrConnectionClosed)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// cmpErr returns err, or otherwise if err is nil.
func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// use sets the session that calls use; nil: the server is away.
func (l *link) use(session *sdk.ClientSession) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = session
}

// current returns the session, nil while the server is away.
func (l *link) current() *sdk.ClientSession {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// transport returns the transport to the server, and a function that waits until the program's stderr is logged.
func (l *link) transport(ctx context.Context) (sdk.Transport, func()) {
	if l.server.URL != "" {
		client := &http.Client{
			Transport: bounded{headers{l.server.Headers, http.DefaultTransport}},
			// a redirect would send the key to another server
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		return &sdk.StreamableClientTransport{Endpoint: l.server.URL, HTTPClient: client}, func() {}
	}
	// the program is stopped by closing its input, and killed only if it does not exit
	command := exec.CommandContext(context.WithoutCancel(ctx), l.server.Command, l.server.Args...)
	command.Env = l.server.programEnvironment()
	command.WaitDelay = time.Second
	reader, writer := io.Pipe()
	command.Stderr = writer
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.logLines(reader)
	}()
	return &sdk.CommandTransport{Command: command, TerminateDuration: 2 * time.Second}, func() {
		_ = writer.Close() // a pipe's Close never fails
		<-done
	}
}

// logLines logs the stderr of a program, with secrets redacted.
func (l *link) logLines(r io.Reader) {
	lines := bufio.NewReaderSize(r, 2000)
	for {
		line, _, err := lines.ReadLine() // a longer line is logged in parts
		if err != nil {
			return
		}
		l.log.Debug("MCP server says", "line", l.hide.Replace(string(line)))
	}
}

// headers adds a server's headers to each request.
type headers struct {
	values map[string]string
	http.RoundTripper
}

// RoundTrip adds the headers to a copy of the request, as http.RoundTripper requires.
func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.values {
		r.Header.Set(name, value)
	}
	return h.RoundTripper.RoundTrip(r)
}

// list reads the server's tools and keeps the configured and valid ones. An invalid tool is logged and skipped; an
// error of the listing itself ends the connection.
func (l *link) list(ctx context.Context, session *sdk.ClientSession) error {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	var found []*Tool
	taken := map[string]bool{}
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		if len(l.server.Tools) > 0 && !slices.Contains(l.server.Tools, t.Name) {
			continue
		}
		tool, err := l.readTool(t)
		switch {
		case err != nil:
			l.log.WarnContext(ctx, "MCP tool is skipped", "tool", cutRunes(t.Name, 100), "error", l.errorWords(err))
		case taken[tool.Name]:
			l.log.WarnContext(ctx, "MCP tool is skipped: its name is in use", "tool", tool.Name)
		case len(found) == maxTools:
			l.log.WarnContext(ctx, "MCP server has too many tools; list the required ones", "used", maxTools)
			l.keep(found)
			return nil
		default:
			taken[tool.Name] = true
			found = append(found, tool)
		}
	}
	l.keep(found)
	l.log.InfoContext(ctx, "connected to MCP server", "tools", len(found))
	return nil
}

// keep replaces the list of tools.
func (l *link) keep(tools []*Tool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tools = tools
}

// call runs a tool. A response of the server, including a refusal, is a Result. Only a server that can't be reached
// is an error, which triggers a reconnect. A cancelled call does not.
func (l *link) call(ctx context.Context, tool string, args json.RawMessage) (Result, error) {
	session := l.current()
	if session == nil {
		return Result{}, l.awayError(nil)
	}
	res, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err == nil {
		return l.readResult(res), nil
	}
	if ctx.Err() != nil {
		return Result{}, err
	}
	if answered, ok := errors.AsType[*jsonrpc.Error](err); ok && answered.Code != notDelivered {
		return Result{
			Text: "The server rejected the call: " + cutRunes(l.hide.Replace(answered.Message), 1000), Failed: true,
		}, nil
	}
	select {
	case l.lost <- struct{}{}:
	default:
	}
	return Result{}, l.awayError(err)
}

// awayError returns the message for a model that the server is away, with the advice to continue without it.
func (l *link) awayError(cause error) error {
	e := &chat.Error{Code: chat.CodeUnavailable, Message: locale.Say(
		"The tool's server {1} can't be reached. It is being tried again; go on without it, or try once "+
			"more later.", l.name,
	)}
	if cause != nil {
		e.Err = errors.New(l.errorWords(cause))
	}
	return e
}

// errorWords returns an error's text with secrets redacted, at most 500 runes.
func (l *link) errorWords(err error) string {
	if err == nil {
		return ""
	}
	return cutRunes(l.hide.Replace(err.Error()), 500)
}
