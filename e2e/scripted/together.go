package scripted

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
)

// RefuseTogether is next for requests that do not name a field. Those that do are answered with status 400 and body,
// the first n of them only when all n have come: none of these can have learnt from the refusal of another.
func RefuseTogether(next http.Handler, n int, field, body string) http.Handler {
	var come atomic.Int64
	all := make(chan struct{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
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
