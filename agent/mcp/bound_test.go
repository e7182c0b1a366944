package mcp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestAResultThatIsTooLargeFailsOnlyItsCall(t *testing.T) {
	for name, options := range map[string]*sdk.StreamableHTTPOptions{
		"as an event": {}, "as JSON": {JSONResponse: true}, "as an event without a session": {Stateless: true},
	} {
		t.Run(name, func(t *testing.T) {
			tools := workshop()
			sdk.AddTool(tools, &sdk.Tool{Name: "flood"},
				func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
					return text(strings.Repeat("a ", maxMessage)), nil, nil
				})
			web := httptest.NewServer(sdk.NewStreamableHTTPHandler(
				func(*http.Request) *sdk.Server { return tools }, options,
			))
			t.Cleanup(web.Close)
			c, log := connected(t, map[string]Server{"shop": {URL: web.URL}})
			got, err := c.Call(t.Context(), find(t, c, "shop__flood"), json.RawMessage(`{}`))
			if err != nil || !got.Failed || !strings.Contains(got.Text, "larger than 4 MB") {
				t.Errorf("a result of 8 MiB = %.80q %v, %v; want a failure that says so", got.Text, got.Failed, err)
			}
			got, err = c.Call(t.Context(), find(t, c, "shop__greet"), json.RawMessage(`{"name":"Ada"}`))
			if err != nil || got.Text != "Good day, Ada" {
				t.Errorf("the next call = %.80q, %v; want %q", got.Text, err, "Good day, Ada")
			}
			if strings.Contains(log.String(), "is away") {
				t.Errorf("the connection was lost, want it kept:\n%s", log)
			}
		})
	}
}

func TestEventsPassButForThoseThatAreTooLarge(t *testing.T) {
	large := "data: " + strings.Repeat("a", maxMessage) + "\n"
	for _, tt := range []struct{ name, body, instead, want string }{
		{"events", "id: 1\ndata: a\n\n: still here\n\ndata: b\r\n\r\n", "",
			"id: 1\ndata: a\n\n: still here\n\ndata: b\r\n\r\n"},
		{"one that breaks off", "data: a\n\ndata: b", "", "data: a\n\ndata: b"},
		{"one of long lines", "data: " + strings.Repeat("a", 9000) + "\ndata: b\n\n", "",
			"data: " + strings.Repeat("a", 9000) + "\ndata: b\n\n"},
		{"a large one among others", "data: a\n\n" + large + "\ndata: b\n\n", "", "data: a\n\ndata: b\n\n"},
		{"a large one of many lines", strings.Repeat("data: a\n", maxMessage/8+1) + "\ndata: b\n\n", "", "data: b\n\n"},
		{"a large one in answer to a call", "data: a\n\n" + large + "\ndata: b\n\n", "data: no\n\n",
			"data: a\n\ndata: no\n\n"},
		{"a large one that breaks off", large, "data: no\n\n", "data: no\n\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newEvents(io.NopCloser(strings.NewReader(tt.body)), []byte(tt.instead))
			got, err := io.ReadAll(e)
			if err != nil || string(got) != tt.want {
				t.Errorf("events = %.200q, %v; want %.200q", got, err, tt.want)
			}
		})
	}
}

func TestAResultOfTooManyValuesIsReplaced(t *testing.T) {
	list := `{"jsonrpc":"2.0","id":7,"result":{"tools":[` + strings.Repeat("{},", maxNested) + `{}]}}`
	for kind, body := range map[string]string{
		"application/json": list, "text/event-stream": ": \"\ndata: " + list + "\n\n",
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(web.Close)
		call := strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, call)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := bounded{http.DefaultTransport}.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || len(got) > 1000 || !strings.Contains(string(got), `"code":-32000`) {
			t.Errorf("%s: %d bytes, %.200s, %v; want an error in its place", kind, len(got), got, err)
		}
	}
}
