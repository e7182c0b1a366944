package main_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// The settings file names a server of tools; its key comes from the environment and is seen nowhere else.
func TestToolsOfAServerFromTheSettingsFile(t *testing.T) {
	t.Parallel()
	const key = "tool-canary-8861"
	tools := sdk.NewServer(&sdk.Implementation{Name: "stock", Version: "1"}, nil)
	sdk.AddTool(tools, &sdk.Tool{Name: "count"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{
				Content: []sdk.Content{&sdk.TextContent{Text: "There are 17 slates, says " + key}},
			}, nil, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return tools }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != key {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	model := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return scripted.Reply{Calls: []llm.Call{{ID: "x", Name: "stock__count", Arguments: []byte(`{}`)}}}
		}
		return scripted.Reply{Text: "There are 17 slates."}
	}})
	data := newDir(t)
	file := filepath.Join(filepath.Dir(data), "footnote.yaml")
	if err := os.WriteFile(
		file, []byte(
			"mcp:\n  servers:\n    stock:\n      url: "+web.URL+
				"\n      headers: {X-Key: \"${STOCK_KEY}\"}\n      approve: never\n",
		), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	s := serve(t, data, "OPENAI_BASE_URL="+model.url, "OPENAI_API_KEY=x", "OPENAI_MODEL=scripted", "STOCK_KEY="+key,
		"FOOTNOTE_LOG_LEVEL=debug")
	var seen strings.Builder
	for _, ev := range s.run("How many slates are in stock?").raw {
		seen.WriteString(ev.data)
	}
	if !strings.Contains(seen.String(), "17 slates, says [set]") {
		t.Errorf("the tool was not called:\n%s\n%s", seen.String(), s.log)
	}
	s.end(os.Interrupt)
	if strings.Contains(seen.String()+s.log.String(), key) {
		t.Error("the key is seen")
	}
	for text, says := range map[string]string{
		`{"a":{"url":"` + web.URL + `","headers":{"X":"${NOT_SET_ANYWHERE}"}}}`: "NOT_SET_ANYWHERE",
		`{"a":{}}`: "either a command or a url",
		`{"a":{"command":"x","approve":"sometimes"}}`: "always, never",
		`{"a":{"command":"x","colour":1}}`:            "colour",
		key:                                           "not JSON",
	} {
		got := command(t, "", []string{"FOOTNOTE_MCP_SERVERS=" + text}, "serve", "--data="+newDir(t),
			"--addr=127.0.0.1:0")
		if got.code != 2 || !strings.Contains(got.stderr, says) || strings.Contains(got.stderr, key) {
			t.Errorf("%s: code %d, %s; want 2, %q in it, no %q in it", text, got.code, got.stderr, says, key)
		}
	}
}
