package request

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// paced is a stream with a number of bytes each second.
type paced struct{ bytes, left int }

// Read implements io.Reader.
func (p *paced) Read(to []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	time.Sleep(time.Second)
	n := min(p.bytes, p.left, len(to))
	p.left -= n
	return n, nil
}

// TestSlowResponseTimesOut reads responses below and above the minimum rate.
func TestSlowResponseTimesOut(t *testing.T) {
	for bytes, want := range map[int]error{leastRate - 1: errSilent, leastRate: nil} {
		synctest.Test(t, func(t *testing.T) {
			resp, err := Guard(t.Context(), 1<<20, func(context.Context) (*http.Response, error) {
				return &http.Response{Body: io.NopCloser(&paced{bytes, 100 << 10})}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if _, err := io.ReadAll(bufio.NewReaderSize(resp.Body, 64<<10)); !errors.Is(err, want) {
				t.Errorf("%d bytes per second: got %v, want %v", bytes, err, want)
			}
		})
	}
}
