// Package remote is the HTTP client of a Footnote server for the commands: a server named in the settings, the one
// that uses the data directory, or one started for a command.
//
// Errors that the server explains become a *chat.Error with its message and code. A broken stream of events is
// resumed after its last event ([Server.Ask]); other requests are not retried.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// Server is the client of a Footnote server: the one in the settings, the one that uses the data directory, or one
// started for this command. Its methods are safe for concurrent use.
//
// The creator sets URL, and Key if the server requires one. Stop is set if the server was started for this command.
type Server struct {
	URL    string
	Key    string // of the user; empty for a server without keys
	client http.Client
	Stop   func() error // stops a server that was started for one command; nil: not ours
}

// Close stops the server if it was started for this command.
func (r *Server) Close() error {
	if r.Stop == nil {
		return nil
	}
	return r.Stop()
}

// Do sends a request with headers; empty ones are skipped. The caller closes the response's body.
//
// A status of 400 and above becomes a *chat.Error with the server's message. An unreachable server, also behind a
// proxy, is a *chat.Error with CodeUnavailable. A rejected upload is not an error despite its status: the body has the
// reason for each file. The only timeout is that of ctx.
func (r *Server) Do(
	ctx context.Context, method, path string, headers map[string]string, body io.Reader,
) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.URL+path, body)
	if err != nil {
		return nil, err
	}
	for name, value := range headers {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if r.Key != "" {
		req.Header.Set("X-API-Key", r.Key)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeUnavailable, Message: locale.Say(
				"The Footnote server at {1} does not answer", r.URL,
			), Err: err,
		}
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	defer resp.Body.Close()
	var problem struct {
		Code     chat.Code       `json:"code"`
		Detail   string          `json:"detail"`
		Rejected json.RawMessage `json:"rejected"`
	}
	told, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err == nil {
		err = json.Unmarshal(told, &problem)
	}
	if err == nil && problem.Rejected != nil { // a rejected upload: the body has the reason for each file
		resp.Body = io.NopCloser(bytes.NewReader(told))
		return resp, nil
	}
	if err != nil || problem.Detail == "" {
		switch resp.StatusCode {
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout: // of a proxy
			return nil, &chat.Error{
				Code: chat.CodeUnavailable,
				Message: locale.Say(
					"There is no Footnote server behind {1} now: {2}", r.URL, resp.Status,
				),
			}
		}
		return nil, fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return nil, &chat.Error{Code: problem.Code, Message: locale.Message(problem.Detail)}
}

// JSON sends a value as JSON, if it is not nil, and decodes the response into another one, if that is not nil. The path
// is relative to the server's URL, with its query.
func (r *Server) JSON(ctx context.Context, method, path string, send, into any) error {
	headers, body := map[string]string{"Accept": "application/json"}, io.Reader(nil)
	if send != nil {
		raw, err := json.Marshal(send)
		if err != nil {
			return err
		}
		headers["Content-Type"], body = "application/json", bytes.NewReader(raw)
	}
	resp, err := r.Do(ctx, method, path, headers, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if into == nil {
		return nil
	}
	return decodeReply(resp, into)
}

// maxReply is the maximum size of a JSON response, in bytes. A longer one is cut off and fails to decode.
const maxReply = 64 << 20

// decodeReply decodes the JSON of a response. Unknown fields are ignored, since the server may be newer.
func decodeReply(resp *http.Response, v any) error {
	return json.NewDecoder(io.LimitReader(resp.Body, maxReply)).Decode(v)
}
