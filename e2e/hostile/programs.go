//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// programCells are attacks of OAuth clients, with and without a token.
//
// They use the routes for registration, tokens and tool calls, which must be reachable without a key.
func programCells() []cell {
	return []cell{
		{
			name: "program: 3,000 that register themselves", keys: true,
			// A thousand characters of two bytes each, since a client's metadata is stored.
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.floodRequests(ctx, 3000, func(ctx context.Context, n int) (answer, error) {
					return s.postJSON(ctx, "", "/oauth/register", map[string]any{
						"client_name":   strings.Repeat("é", 1000),
						"redirect_uris": []string{"https://evil.example/" + fmt.Sprint(n)},
					})
				})
			},
		},
		{name: "program: what no program should send", keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.oddRequests(ctx)
			}},
	}
}

// oddRequests sends invalid requests to the routes for programs, and expects a status below 500 each time, and no
// token.
//
// Each value is sent in each place: as the whole body, in a form, in JSON and in calls of MCP. The outcome has the
// number of requests.
func (s *site) oddRequests(ctx context.Context) (string, error) {
	odd := []string{
		"", "x", "\x00", "{", "[}", "null", "%zz", strings.Repeat("a", 1<<20), strings.Repeat("[", 100_000), "é\u202e",
		"../../etc/passwd", "javascript:alert(1)", "https://evil.example/\r\nX: y", "' OR 1=1 --", "fno_", "fnr_",
	}
	n := 0
	for _, value := range odd {
		body, err := json.Marshal(map[string]any{"redirect_uris": []string{value}, "client_name": value})
		if err != nil {
			return "", err
		}
		form := url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {value}, "client_id": {value}, "code": {value},
			"token": {value}, "redirect_uri": {value}, "response_type": {"code"}, "answer": {"allow"}, "id": {value},
		}.Encode()
		// call returns a JSON-RPC request, as in MCP.
		call := func(method string, params any) string {
			raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
			if err != nil {
				panic(err) // encoding maps of strings can't fail
			}
			return string(raw)
		}
		const asForm, asJSON = "application/x-www-form-urlencoded", "application/json"
		for _, sent := range []struct{ key, path, kind, body string }{
			{"", "/oauth/register", asJSON, string(body)}, {"", "/oauth/register", asJSON, value},
			{"", "/oauth/token", asForm, form}, {"", "/oauth/token", asForm, value}, {"", "/oauth/revoke", asForm,
				form},
			{s.attack, "/oauth/authorize", asForm, form}, {s.attack, "/connections/end", asForm, form},
			{s.attack, "/mcp", asJSON, call("tools/call", map[string]any{
				"name": "fetch", "arguments": map[string]any{"id": value},
			})},
			{s.attack, "/mcp", asJSON, call("resources/read", map[string]any{"uri": "footnote://documents/" + value})},
			{s.attack, "/mcp", asJSON, call("resources/list", map[string]any{"cursor": value})},
			{s.attack, "/mcp", asJSON, call("completion/complete", map[string]any{
				"ref":      map[string]any{"type": "ref/resource", "uri": "footnote://documents/{id}"},
				"argument": map[string]any{"name": "id", "value": value},
			})},
			{s.attack, "/mcp", asJSON, call("notifications/cancelled", map[string]any{"requestId": value})},
		} {
			got, err := s.sendRequest(
				ctx, sent.key, http.MethodPost, sent.path, "application/json, text/event-stream", sent.kind,
				strings.NewReader(sent.body),
			)
			if err != nil {
				return "", fmt.Errorf("%s with %.40q: %w", sent.path, value, err)
			}
			if got.status >= http.StatusInternalServerError || strings.Contains(string(got.body), "access_token") {
				return "", fmt.Errorf("%s with %.40q: status %d: %.300s", sent.path, value, got.status, got.body)
			}
			n++
		}
	}
	return fmt.Sprintf("%d requests, none above 499", n), nil
}
