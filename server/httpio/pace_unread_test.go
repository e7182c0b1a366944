package httpio

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestABodyThatNobodyReadsHoldsNoConnection(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]http.HandlerFunc{
		"nothing is written": func(http.ResponseWriter, *http.Request) {},
		"a refusal is written": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no key", http.StatusUnauthorized)
		},
		"much is written":       func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 100<<10)) },
		"a part of it was read": func(_ http.ResponseWriter, r *http.Request) { _, _ = r.Body.Read(make([]byte, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := Limits{ReadTimeout: 50 * time.Millisecond}.WithDefaults()
			server := httptest.NewServer(Wrap(limits, handle))
			defer server.Close()
			conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprint(
				conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\nx",
			); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 ") {
				t.Errorf("read %.40q, %v, want an answer and the connection's end", got, err)
			}
		})
	}
}
