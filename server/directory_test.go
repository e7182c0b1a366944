package server

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/relay"
)

// pageWords is a phrase about actions on a page, which responses to programs must not contain.
const pageWords = "first page"

func TestUnknownV1RouteUsesOpenAIError(t *testing.T) {
	b := newHarness(t)
	for _, tt := range []struct {
		method, path string
		status       int
		code         chat.Code
		want         []string
	}{
		{"POST", "/v1/audio/speech", 404, chat.CodeNotFound, nil},
		{"POST", "/v1/embeddings", 404, chat.CodeNotFound, nil},
		{"POST", "/v1/completions", 404, chat.CodeNotFound, nil},
		{"GET", "/v1/files/a/content", 404, chat.CodeNotFound, nil},
		{"GET", "/v1", 404, chat.CodeNotFound, nil},
		{"GET", "/v1/", 404, chat.CodeNotFound, nil},
		{"MADEUP", "/v1/%00%ff", 404, chat.CodeNotFound, nil},
		{"GET", "/v1/chat/completions", 405, "method_not_allowed", []string{"POST /v1/chat/completions"}},
		{"DELETE", "/v1/models/footnote", 405, "method_not_allowed", []string{"GET /v1/models/{model}"}},
	} {
		if tt.want == nil {
			tt.want = b.routesBelow("/v1")
		}
		for _, accept := range []string{"", "*/*", "application/json", "text/html", "text/event-stream"} {
			got := b.send(tt.method, tt.path, "", "Accept", accept)
			var body relay.V1Failed
			got.decode(t, &body)
			if got.status != tt.status || body.Error.Code != tt.code || body.Error.Type != "invalid_request_error" ||
				got.header.Get("Content-Type") != "application/json" || strings.Contains(got.body, pageWords) {
				t.Errorf("%s %s: %d %s, want %d %s in OpenAI's form", tt.method, tt.path, got.status, got.body,
					tt.status, tt.code)
			}
			for _, route := range tt.want {
				if !strings.Contains(body.Error.Message, route) {
					t.Errorf("%s %s: %q, want %s in it", tt.method, tt.path, body.Error.Message, route)
				}
			}
			if tt.status == 405 && !strings.Contains(got.header.Get("Allow"), strings.Fields(tt.want[0])[0]) {
				t.Errorf("%s %s: Allow = %q, want it to fit %s", tt.method, tt.path, got.header.Get("Allow"), tt.want)
			}
		}
	}
}

// routesBelow returns the router's routes below a path.
func (b *harness) routesBelow(path string) []string {
	var list []string
	for _, route := range b.directory.programs {
		if strings.HasPrefix(routePath(route), path+"/") || routePath(route) == path {
			list = append(list, route)
		}
	}
	return list
}

func TestUnknownRouteIsProblem(t *testing.T) {
	b := newHarness(t)
	for _, tt := range []struct {
		method, path, accept string
		status               int
		first                string   // of the routes; "": any
		has                  []string // among the routes
	}{
		{"GET", "/agent", "", 404, "", b.routesBelow("/agent")},
		{"POST", "/agent/ask", "text/html", 404, "", b.routesBelow("/agent")},
		{"GET", "/agent/chat", "text/html", 405, "POST /agent/chat", nil},
		{"PUT", "/agent/query", "application/json", 405, "POST /agent/query", nil},
		{"GET", "/mcp", "text/event-stream", 405, "POST /mcp", nil},
		{"DELETE", "/mcp", "", 405, "POST /mcp", nil},
		{"GET", "/mcp/sse", "text/event-stream", 404, "POST /mcp", nil},
		{"GET", "/mcp/sse", "text/html", 404, "POST /mcp", nil},
		{"POST", "/searches", "application/json", 404, "", b.directory.programs},
		{"GET", "/documents/a/b/c", "application/json", 404, "", b.routesBelow("/documents")},
		{"GET", "/nothing", "application/json, text/html;q=0.9", 404, "", b.directory.programs},
		{"GET", "/nothing", "application/json, text/plain, */*", 404, "", b.directory.programs},
		{"PUT", "/documents", "application/json", 405, "", b.directory.at("/documents")},

		// a wrong base address
		{"GET", "/models", "*/*", 404, "GET /v1/models", nil},
		{"GET", "/api/v1/models", "*/*", 404, "GET /v1/models", nil},
		{"POST", "/v1/v1/chat/completions/", "*/*", 404, "POST /v1/chat/completions", nil},
		{"POST", "/chat/completions", "*/*", 404, "POST /v1/chat/completions", []string{"POST /chat"}},
		{"POST", "/openai/deployments/footnote/chat/completions", "*/*", 404, "POST /v1/chat/completions", nil},
		{"POST", "/api/agent/query", "*/*", 404, "POST /agent/query", nil},
	} {
		got := b.send(tt.method, tt.path, "", "Accept", tt.accept)
		if strings.HasPrefix(tt.path, "/v1/") {
			if !strings.Contains(got.body, tt.first) || got.status != tt.status {
				t.Errorf("%s %s: %d %s, want %d and %s", tt.method, tt.path, got.status, got.body, tt.status, tt.first)
			}
			continue
		}
		p := got.problem(t)
		if got.status != tt.status || got.header.Get("Content-Type") != "application/problem+json" ||
			strings.Contains(string(p.Detail), pageWords) || p.RequestID == "" || len(p.Routes) == 0 {
			t.Errorf(
				"%s %s: %d %s, want %d as a problem with routes",
				tt.method,
				tt.path,
				got.status,
				got.body,
				tt.status,
			)
			continue
		}
		if tt.first != "" && (p.Routes[0] != tt.first || !strings.Contains(string(p.Detail), tt.first)) {
			t.Errorf("%s %s: routes %q and %q, want %s first", tt.method, tt.path, p.Routes, p.Detail, tt.first)
		}
		for _, route := range tt.has {
			if !slices.Contains(p.Routes, route) {
				t.Errorf("%s %s: %s is missing in %q", tt.method, tt.path, route, p.Routes)
			}
		}
		if (tt.status == 405) != (got.header.Get("Allow") != "") {
			t.Errorf("%s %s: Allow = %q", tt.method, tt.path, got.header.Get("Allow"))
		}
	}
}

func TestBrowserGetsErrorPage(t *testing.T) {
	b := newHarness(t)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/nothing", 404}, {"GET", "/documents/a/b/c", 404}, {"GET", "/c/a/b/c", 404},
		{"GET", "/chat", 405}, // the question box posts there
	} {
		got := b.send(tt.method, tt.path, "", "Accept", browser)
		if got.status != tt.status || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") ||
			strings.Contains(got.body, "openapi.json describes") {
			t.Errorf("%s %s: %d %s %.200s, want %d and a page", tt.method, tt.path, got.status,
				got.header.Get("Content-Type"), got.body, tt.status)
		}
	}
	if got := b.send("GET", "/ui/models", ""); got.status != 404 || strings.Contains(got.body, pageWords) ||
		!strings.Contains(got.body, "POST /ui/chat") || strings.HasPrefix(got.body, "{") {
		t.Errorf("a client of the AI SDK: %d %s, want a sentence that names its routes", got.status, got.body)
	}
}

func TestListedRoutesMatchRouter(t *testing.T) {
	b := newHarness(t)
	for _, route := range b.directory.programs {
		method, path, _ := strings.Cut(route, " ")
		got := b.send("OPTIONS", strings.NewReplacer("{", "", "}", "").Replace(path), "")
		if got.status != http.StatusNoContent || !strings.Contains(got.header.Get("Allow"), method) {
			t.Errorf("%s: documented, but the router answers %d, Allow %q", route, got.status, got.header.Get("Allow"))
		}
	}
	if n := len(b.directory.programs); n < 50 {
		t.Errorf("%d routes, want 50 or more", n)
	}
	if pages := b.directory.at("/find"); len(pages) > 0 {
		t.Errorf("%q: documented, but routes of the page", pages)
	}
}

// A client that sends its whole body before it reads gets the response, not a broken connection.
func TestUnknownRouteWithLargeBodyIsAnswered(t *testing.T) {
	b := newHarness(t)
	for method, path := range map[string]string{"POST": "/v1/embeddings", "PUT": "/agent/chat"} {
		body := struct{ *bytes.Reader }{bytes.NewReader(make([]byte, 5<<20))} // without a Content-Length
		req, err := http.NewRequestWithContext(t.Context(), method, b.url+path, body)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Errorf("%s %s: %v, want an answer", method, path, err)
			continue
		}
		if _ = res.Body.Close(); res.StatusCode < 404 || res.StatusCode > 405 || body.Len() > 0 {
			t.Errorf("%s %s: %d with %d bytes unread, want 404 or 405 and all read", method, path, res.StatusCode,
				body.Len())
		}
	}
}
