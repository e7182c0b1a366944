package httpllm

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
)

// sentBody is a request body that drops its content once it is read or closed. net/http keeps a request until its
// response ends, which takes minutes for a stream. It is safe for concurrent use.
type sentBody struct {
	mu      sync.Mutex
	content io.ReadCloser
}

// Read implements io.Reader.
func (b *sentBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.content == nil {
		return 0, io.EOF
	}
	n, err := b.content.Read(p)
	if errors.Is(err, io.EOF) {
		b.content = nil
	}
	return n, err
}

// Close implements io.Closer.
func (b *sentBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.content = nil
	return nil
}

// releaseBody prepares a request so that net/http can send its body again only until released is called.
func releaseBody(req *http.Request) (released func()) {
	var mu sync.Mutex
	get := req.GetBody
	if get == nil {
		return func() {}
	}
	req.Body = &sentBody{content: req.Body}
	req.GetBody = func() (io.ReadCloser, error) {
		mu.Lock()
		defer mu.Unlock()
		if get == nil {
			return nil, errors.New("the body of an answered request was released")
		}
		content, err := get()
		return &sentBody{content: content}, err
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		get = nil
	}
}

// copyBuffers holds the buffers of copyConn.
var copyBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyConn is a connection that copies request bodies through a shared buffer. A net.TCPConn allocates one for each
// request.
type copyConn struct{ net.Conn }

// ReadFrom implements io.ReaderFrom.
func (c copyConn) ReadFrom(r io.Reader) (int64, error) {
	buffer := copyBuffers.Get().(*[32 << 10]byte)
	defer copyBuffers.Put(buffer)
	return io.CopyBuffer(struct{ io.Writer }{c.Conn}, r, buffer[:])
}

// dialCopying is a dialer's DialContext for copyConn.
func dialCopying(dialer *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return copyConn{conn}, nil
	}
}
