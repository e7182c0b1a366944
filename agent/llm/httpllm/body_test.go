package httpllm

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRequestBodyIsReleasedOnceTheResponseBegins(t *testing.T) {
	want := bytes.Repeat([]byte("a question "), 10_000)
	received := make(chan []byte, 1)
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		received <- body
		_ = http.NewResponseController(w).Flush()
		<-end
	}))
	defer server.Close()
	defer close(end)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := new(Server).Respond(req, NewHTTPClient().Do)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := <-received; !bytes.Equal(got, want) {
		t.Errorf("got a body of %d bytes, want the %d bytes of the request", len(got), len(want))
	}
	if _, err := req.GetBody(); err == nil {
		t.Error("got the body after the response began, want an error")
	}
	if n, err := req.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("got %d bytes and error %v from the sent body, want io.EOF", n, err)
	}
}
