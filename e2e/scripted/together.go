package scripted

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
)

// RefuseTogether forwards requests without a given field to next. Requests with the field get status 400 and body.
// The first n of them are held until all n have arrived, so that none can depend on another's refusal.
func RefuseTogether(next http.Handler, n int, field, body string) http.Handler {
	var come atomic.Int64
	all := make(chan struct{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has disconnected
		}
		if !bytes.Contains(sent, []byte(`"`+field+`"`)) {
			r.Body = io.NopCloser(bytes.NewReader(sent))
			next.ServeHTTP(w, r)
			return
		}
		if come.Add(1) == int64(n) {
			close(all)
		}
		select {
		case <-all:
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, body)
	})
}
