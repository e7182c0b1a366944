package httpio

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestThePaceOfTransfers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transfer := func(bytes int, pause time.Duration) (ended time.Duration, sent int) {
			p, began := pace{timeout: 30 * time.Second}, time.Now()
			for sent < 100<<10 {
				now := time.Now()
				if deadline := p.waitDeadline(now); !now.Add(pause).Before(deadline) {
					return deadline.Sub(began), sent
				}
				time.Sleep(pause)
				p.addWait(now, bytes)
				sent += bytes
			}
			return time.Since(began), sent
		}
		for _, tt := range []struct {
			name  string
			bytes int
			pause time.Duration
			ended time.Duration
			whole bool
		}{
			{"a byte a second ends after the timeout", 1, time.Second, 30 * time.Second, false},
			{"a slow line passes, however long it takes", 4 << 10, 3 * time.Second, 75 * time.Second, true},
			{"a pause as long as the timeout ends it", 4 << 10, 30 * time.Second, 30 * time.Second, false},
		} {
			ended, sent := transfer(tt.bytes, tt.pause)
			if ended.Round(time.Second) != tt.ended || (sent >= 100<<10) != tt.whole {
				t.Errorf("%s: ended after %v with %d bytes, want %v, whole: %v", tt.name, ended, sent,
					tt.ended, tt.whole)
			}
		}
	})
}

// slowConn is a response's way to a client that takes each write only after a pause.
type slowConn struct {
	http.ResponseWriter
	pause    time.Duration
	deadline time.Time
	taken    int
}

func (w *slowConn) SetWriteDeadline(at time.Time) error { w.deadline = at; return nil }

func (w *slowConn) Write(p []byte) (int, error) {
	if !time.Now().Add(w.pause).Before(w.deadline) {
		return 0, http.ErrHandlerTimeout
	}
	time.Sleep(w.pause)
	w.taken += len(p)
	return len(p), nil
}

func TestASlowReaderIsCutOffUnlessItReadsAStream(t *testing.T) {
	for kind, whole := range map[string]bool{"application/json": false, "text/event-stream": true} {
		synctest.Test(t, func(t *testing.T) {
			conn := &slowConn{
				ResponseWriter: discardResponse{http.Header{"Content-Type": {kind}}}, pause: 5 * time.Second,
			}
			w := &pacedWriter{
				ResponseWriter: conn, control: http.NewResponseController(conn), pace: pace{timeout: 20 * time.Second},
			}
			w.WriteHeader(http.StatusOK)
			var err error
			for range 100 {
				if _, err = w.Write([]byte("drop")); err != nil {
					break
				}
			}
			if (err == nil) != whole {
				t.Errorf("%s: %d bytes taken, error %v; want whole: %v", kind, conn.taken, err, whole)
			}
		})
	}
}

type discardResponse struct{ header http.Header }

func (w discardResponse) Header() http.Header         { return w.header }
func (w discardResponse) Write(p []byte) (int, error) { return len(p), nil }
func (w discardResponse) WriteHeader(int)             {}
