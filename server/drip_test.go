package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// dial opens a connection to a bench and sends the beginning of a request.
func (b *bench) dial(request string) net.Conn {
	b.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, request); err != nil {
		b.t.Fatal(err)
	}
	return conn
}

func TestABodyThatDripsIsCutOff(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Limits.ReadTimeout = 100 * time.Millisecond })
	for name, head := range map[string]string{
		"with a length": "Content-Length: 1000000\r\n\r\n{",
		"in chunks":     "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn := b.dial("POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + head)
			drop := " "
			if strings.HasPrefix(head, "Transfer") {
				drop = "1\r\n \r\n"
			}
			done := make(chan struct{})
			go func() { // each drop comes long before a single read would time out
				tick := time.NewTicker(10 * time.Millisecond)
				defer tick.Stop()
				for range tick.C {
					select {
					case <-done:
						return
					default:
					}
					if _, err := io.WriteString(conn, drop); err != nil {
						return
					}
				}
			}()
			defer close(done)
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("no answer while the body drips: %v, want no error", err)
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusBadRequest {
				t.Errorf("status = %d, want 400", res.StatusCode)
			}
		})
	}
}
