package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"footnote/chat"
)

// remote is a Footnote server to work with: the one that is named, the one that has the data directory, or one
// started for this command alone.
type remote struct {
	url    string
	key    string // of the user who asks; empty for a server without keys
	client http.Client
	stop   func() error // ends a server that was started for one command; nil: it is not ours
}

// close ends the server if it was started for this command alone.
func (r *remote) close() error {
	if r.stop == nil {
		return nil
	}
	return r.stop()
}

// postBody sends a body and returns the response; a status of 400 and above becomes a *chat.Error with the server's
// sentence.
func (r *remote) postBody(
	ctx context.Context, path, contentType, accept string, body io.Reader,
) (*http.Response, error) {
	return r.sendBody(ctx, http.MethodPost, path, contentType, accept, body)
}

// sendBody makes a request with a body and without further headers.
func (r *remote) sendBody(
	ctx context.Context, method, path, contentType, accept string, body io.Reader,
) (*http.Response, error) {
	return r.sendRequest(ctx, method, path, map[string]string{"Content-Type": contentType, "Accept": accept}, body)
}

// sendRequest makes a request with headers; empty ones are left out.
func (r *remote) sendRequest(
	ctx context.Context, method, path string, headers map[string]string, body io.Reader,
) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, body)
	if err != nil {
		return nil, err
	}
	for name, value := range headers {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if r.key != "" {
		req.Header.Set("X-API-Key", r.key)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeUnavailable, Message: "The Footnote server at " + r.url + " does not answer", Err: err,
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
	if err == nil && problem.Rejected != nil { // an upload of which nothing was taken: the body says why, file by file
		resp.Body = io.NopCloser(bytes.NewReader(told))
		return resp, nil
	}
	if err != nil || problem.Detail == "" {
		switch resp.StatusCode {
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout: // of a proxy
			return nil, &chat.Error{
				Code:    chat.CodeUnavailable,
				Message: "There is no Footnote server behind " + r.url + " now: " + resp.Status,
			}
		}
		return nil, fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return nil, &chat.Error{Code: problem.Code, Message: problem.Detail}
}

// getJSON decodes a JSON answer into v.
func (r *remote) getJSON(ctx context.Context, path string, v any) error {
	resp, err := r.sendBody(ctx, http.MethodGet, path, "", "application/json", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(v)
}
