// Package stdio speaks the Model Context Protocol on standard input and output, for chat programs that start their
// servers themselves. It hands each message to /mcp of a Footnote server and writes what comes back, a line each.
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
	"strings"
	"sync"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/remote"
)

// Command speaks the Model Context Protocol on standard input and output, for programs that start their servers.
//
//	footnote mcp      ends when its input does
//
// Only messages go to standard output: a line of anything else would break the protocol.
type Command struct{}

// maxMCPLine is how long a message may be, in bytes. It bounds what one message takes of memory, in both directions.
// The figure is a choice.
const maxMCPLine = 16 << 20

// maxMCPCalls is how many messages are under way at once; a further one waits. A client that sends more is held by its
// own pipe, since no further line is read. It is a choice.
const maxMCPCalls = 32

// stdioBridge hands messages from a program to the server's /mcp, and what it answers back. It keeps no state of the
// protocol but what HTTP asks for in headers: the session, the version, and who waits. Several messages are under way
// at once, and answers come in the order in which they are ready. mu guards what the handshake brought and the output.
//
// The client ends it by closing its input; calls that are under way are then given up.
type stdioBridge struct {
	server *remote.Server
	calls  sync.WaitGroup
	slots  chan struct{}

	mu      sync.Mutex
	out     io.Writer
	label   string // the server's name for this client
	version string // of the protocol that both speak
	err     error  // of writing
	stops   map[string]context.CancelFunc
}

// message is what the bridge must know of one.
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

// Run hands messages on until its input ends.
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
	// reading blocks until a line comes, and an interrupt must not wait for one
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
				cancel() // nobody waits for what is under way
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

// take hands one message on. Introductions are answered before the next message is taken: what follows depends on them.
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
	// it is handed on all the same, below: a client that was introduced is known to the server by its session
	if m.Method == "notifications/cancelled" {
		b.mu.Lock()
		// of a client that was not introduced, the closed request is how the server learns of it
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

// send posts a message and writes what comes of it. A failure is told to the client as the answer to its message.
func (b *stdioBridge) send(ctx context.Context, m message, line []byte) {
	resp, err := b.server.Do(ctx, http.MethodPost, "/mcp", b.headers(m), bytes.NewReader(line))
	if err == nil {
		err = b.relay(m, resp)
	}
	// a notification has no id and gets no answer, and nobody waits for one that was cancelled
	if err != nil && ctx.Err() == nil && len(m.ID) > 0 {
		b.refuse(m.ID, -32603, chat.MessageOf(err))
	}
}

// headers are those that the protocol asks for over HTTP. They are empty, and left out, before the server has said
// what they are.
func (b *stdioBridge) headers(m message) map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	headers := map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Session-Id": b.label, "Mcp-Protocol-Version": b.version,
	}
	if m.Params.Meta.Version != "" {
		headers["Mcp-Protocol-Version"], headers["Mcp-Method"] = m.Params.Meta.Version, m.Method
		// a call has a name, a resource has an address, and never both
		headers["Mcp-Name"] = m.Params.Name + m.Params.URI
	}
	return headers
}

// relay writes the messages of an answer, as they come. A stream of server-sent events has a message in each event;
// any other answer is one message or none.
func (b *stdioBridge) relay(m message, resp *http.Response) error {
	defer resp.Body.Close()
	if label := resp.Header.Get("Mcp-Session-Id"); label != "" && m.Method == "initialize" {
		b.mu.Lock()
		b.label = label
		b.mu.Unlock()
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // none: no message
	if kind != "text/event-stream" {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxMCPLine))
		if err != nil {
			return err
		}
		return b.write(m, body)
	}
	var data bytes.Buffer
	scanner := bufio.NewScanner(resp.Body)
	scanner.Buffer(nil, maxMCPLine)
	for scanner.Scan() {
		text, isData := strings.CutPrefix(scanner.Text(), "data:")
		switch {
		case isData:
			data.WriteString(strings.TrimPrefix(text, " "))
		case scanner.Text() == "":
			if err := b.write(m, data.Bytes()); err != nil {
				return err
			}
			data.Reset()
		}
	}
	return scanner.Err()
}

// write writes a message as one line. Only one goroutine writes at a time. It keeps the version of the protocol that
// the server agrees to. A client that can't be written to any more is kept in b.err and ends the bridge later.
func (b *stdioBridge) write(to message, body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	var line bytes.Buffer
	// a line is a message: line ends inside one would be taken for its end
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

// refuse answers a message that can't be handed on.
// The codes are those of JSON-RPC 2.0: -32700 for what can't be read, -32603 for a failure that is not the client's.
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
