// Package stdio implements the Model Context Protocol on standard input and output, for chat clients that start
// their servers themselves. It forwards each message to /mcp of a Footnote server and writes the responses, one per
// line.
package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/remote"
	"github.com/footnote/footnote/text/sse"
)

// Command implements the Model Context Protocol on standard input and output, for programs that start their
// servers.
//
//	footnote mcp      ends when its input does
//
// Only messages are written to standard output: any other line would break the protocol.
type Command struct{}

// maxMCPLine is the maximum size of a message in bytes. It limits the memory of one message, in both directions.
// The value is arbitrary.
const maxMCPLine = 16 << 20

// maxMCPCalls is the maximum number of concurrent messages; a further one waits. A client that sends more gets
// backpressure from its pipe, since no further line is read. The value is arbitrary.
const maxMCPCalls = 32

// stdioBridge forwards messages from a client to the server's /mcp, and the responses back. Its only protocol state
// is that of the HTTP headers: the session, the version, and the pending requests. Messages are handled
// concurrently, and responses are written in the order in which they are ready. mu guards the handshake's state and
// the output.
//
// The client ends it by closing its input; pending calls are then cancelled.
type stdioBridge struct {
	server *remote.Server
	calls  sync.WaitGroup
	slots  chan struct{}

	mu      sync.Mutex
	out     io.Writer
	label   string // the session id of this client
	version string // the negotiated protocol version
	err     error  // of the output
	stops   map[string]context.CancelFunc
}

// message holds the fields of a message that the bridge parses.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
	Result struct {
		Version string `json:"protocolVersion"`
	} `json:"result"`
}

// Run forwards messages until its input ends.
func (*Command) Run(p *command.Program) (err error) {
	server, err := p.Connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	ctx, cancel := context.WithCancel(p.Ctx)
	bridge := &stdioBridge{
		server: server, out: p.Stdout, slots: make(chan struct{}, maxMCPCalls), stops: map[string]context.CancelFunc{},
	}
	// A read blocks until a line is complete, and an interrupt must not wait for that.
	lines := make(chan []byte)
	broke := make(chan error, 1)
	go func() { // ends with the input, or with the process
		defer close(lines)
		scanner := bufio.NewScanner(p.Stdin)
		scanner.Buffer(nil, maxMCPLine)
		for scanner.Scan() {
			select {
			case lines <- bytes.Clone(scanner.Bytes()):
			case <-ctx.Done():
				return
			}
		}
		broke <- scanner.Err()
	}()
	for ctx.Err() == nil {
		select {
		case line, ok := <-lines:
			if !ok {
				cancel() // cancels requests in flight
				bridge.calls.Wait()
				select {
				case err := <-broke:
					return errors.Join(err, bridge.err)
				default:
					return bridge.err
				}
			}
			bridge.take(ctx, line)
		case <-ctx.Done():
		}
	}
	cancel()
	bridge.calls.Wait()
	return bridge.err
}

// take forwards one message. An initialize request is answered before the next message is handled, since later ones
// depend on it.
func (b *stdioBridge) take(ctx context.Context, line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil && m.Method == "" {
		b.refuse(nil, -32700, "This is not one JSON-RPC message.")
		return
	}
	if m.Method == "initialize" {
		b.send(ctx, m, line)
		return
	}
	// It is forwarded below as well: the server identifies an initialised client by its session.
	if m.Method == "notifications/cancelled" {
		b.mu.Lock()
		// For a client without initialize, the closed request notifies the server.
		if stop := b.stops[string(m.Params.RequestID)]; stop != nil && b.version == "" {
			stop()
		}
		b.mu.Unlock()
	}
	call, stop := context.WithCancel(ctx)
	name := string(m.ID)
	if name != "" {
		b.mu.Lock()
		b.stops[name] = stop
		b.mu.Unlock()
	}
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		stop()
		return
	}
	b.calls.Go(func() {
		defer func() {
			stop()
			b.mu.Lock()
			delete(b.stops, name)
			b.mu.Unlock()
			<-b.slots
		}()
		b.send(call, m, line)
	})
}

// send posts a message and writes the response. An error is written as the response to the message.
func (b *stdioBridge) send(ctx context.Context, m message, line []byte) {
	resp, err := b.server.Do(ctx, http.MethodPost, "/mcp", b.headers(m), bytes.NewReader(line))
	if err == nil {
		err = b.relay(m, resp)
	}
	// A notification has no id and gets no response, and a cancelled request no longer needs one.
	if err != nil && ctx.Err() == nil && len(m.ID) > 0 {
		b.refuse(m.ID, -32603, chat.MessageOf(err).String())
	}
}

// headers returns the protocol's HTTP headers. They are empty, and left out, until the server has sent their
// values.
func (b *stdioBridge) headers(m message) map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	headers := map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Session-Id": b.label, "Mcp-Protocol-Version": b.version,
	}
	if m.Params.Meta.Version != "" {
		headers["Mcp-Protocol-Version"], headers["Mcp-Method"] = m.Params.Meta.Version, m.Method
		// A call has a name, a resource a URI, never both.
		headers["Mcp-Name"] = m.Params.Name + m.Params.URI
	}
	return headers
}

// relay writes the messages of a response as they arrive. A stream of server-sent events has a message in each
// event; any other response is one message or none.
func (b *stdioBridge) relay(m message, resp *http.Response) error {
	defer resp.Body.Close()
	if label := resp.Header.Get("Mcp-Session-Id"); label != "" && m.Method == "initialize" {
		b.mu.Lock()
		b.label = label
		b.mu.Unlock()
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // empty: no message
	if kind != "text/event-stream" {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxMCPLine))
		if err != nil {
			return err
		}
		return b.write(m, body)
	}
	for events := sse.NewReader(resp.Body, maxMCPLine); ; {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = b.write(m, event.Data)
		}
		if err != nil {
			return err
		}
	}
}

// write writes a message as one line. Only one goroutine writes at a time. It stores the protocol version that the
// server agrees to. A write error of the client's pipe is stored in b.err and ends the bridge later.
func (b *stdioBridge) write(to message, body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	var line bytes.Buffer
	// A message is one line, so line breaks inside it are removed.
	if err := json.Compact(&line, body); err != nil {
		return err
	}
	line.WriteByte('\n')
	b.mu.Lock()
	defer b.mu.Unlock()
	var answer message
	if to.Method == "initialize" && json.Unmarshal(body, &answer) == nil && answer.Result.Version != "" {
		b.version = answer.Result.Version
	}
	if _, err := b.out.Write(line.Bytes()); err != nil {
		b.err = errors.Join(b.err, err)
	}
	return nil
}

// refuse writes an error response. The codes are those of JSON-RPC 2.0: -32700 for a parse error, -32603 for an
// internal error.
func (b *stdioBridge) refuse(id json.RawMessage, code int, why string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why},
	})
	if err == nil {
		err = b.write(message{}, body)
	}
	if err != nil {
		b.mu.Lock()
		b.err = errors.Join(b.err, err)
		b.mu.Unlock()
	}
}
