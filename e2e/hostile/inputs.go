//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/chat"
)

// contextCells give each hostile text as the context of a question, as long as that may be. It is cut to
// chat.MaxContext characters; longer ones are refused.
func contextCells() []cell {
	var cells []cell
	for _, name := range sortedKeys(hostileAnswers) {
		cells = append(cells, cell{name: "context: " + name,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				text := hostileAnswers[name]()
				r.input = int64(len(text))
				return s.openAnswer(ctx, map[string]any{
					"message":      "What does the warranty cover?",
					"context_text": string([]rune(string(text))[:min(len([]rune(string(text))), chat.MaxContext)]),
				})
			}})
	}
	return cells
}

// hostileTitles are names of conversations that are expensive, misleading or dangerous to draw.
//
// They are below the limit of a title's length, or refused. What is dangerous has hostile in it, so that it is found
// on a page that does not escape it.
var hostileTitles = map[string]string{
	// Marks that are drawn over one another, beyond their line.
	"marks over marks": strings.Repeat("a\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309", 20),
	// Marks that turn the direction of a text around: “txt.exe” may look like “exe.txt”.
	"directions in directions": strings.Repeat("\u202e\u2067\u202b", 40) + "txt.exe" + strings.Repeat("\u2066", 40),
	// Characters that nobody sees: a name one can't click on.
	"nothing that is seen": strings.Repeat("\u200b\u2060\U000E0041", 60),
	// Faces that are joined to one: a single sign of very many characters.
	"faces joined to faces": strings.Repeat("👩\u200d", 99),
	"elements and scripts":  `</title></a><script>hostile()</script><img src=x onerror=hostile()>"'`,
	// A line break that would begin a header of an answer whose file has this name.
	"a header of its own":       "a.md\"\r\nSet-Cookie: hostile=1\r\n\r\n<script>hostile()</script>",
	"a word without end":        strings.Repeat("W", 200),
	"brackets":                  strings.Repeat("[", 200),
	"a way out of its folder":   strings.Repeat("../", 60) + "etc/passwd",
	"a pattern of the database": strings.Repeat("%_", 80) + "'; DROP TABLE sessions; --",
}

// titleCells name a conversation after each, and open what lists it. A title of 1 MiB has to be refused; the others
// may be.
func titleCells() []cell {
	var cells []cell
	for _, name := range sortedKeys(hostileTitles) {
		cells = append(cells, cell{name: "title: " + name,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.openTitle(ctx, r, hostileTitles[name])
			}})
	}
	return append(cells, cell{name: "title: 1 MiB", act: func(ctx context.Context, s *site, _ *result) (string, error) {
		said, _, err := s.askQuestion(ctx, map[string]any{
			"message": strings.Repeat("a", chat.MaxQuestion), "context_text": warranty,
		})
		if err != nil {
			return "", err
		}
		got, err := s.patchJSON(ctx, "/sessions/"+said.SessionID, map[string]any{"title": strings.Repeat("a", mib)})
		if err == nil && (got.status < 400 || got.status > 499) {
			err = fmt.Errorf("PATCH /sessions/…: status = %d, want 4xx: %s", got.status, clipBytes(got.body))
		}
		return fmt.Sprintf("refused (%d) in %d ms", got.status, got.took.Milliseconds()), err
	}})
}

// hostileItems are inputs of a response that are expensive to read, or no conversation.
//
// The route follows OpenAI's Responses API, whose input may be a text or a list of items. Each is a JSON value, or the
// beginning of one.
var hostileItems = map[string]func() string{
	"a text of 1 MiB": func() string { return `"` + strings.Repeat("a", mib) + `"` },
	"lists in lists":  func() string { return strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000) },
	"items that say nothing": func() string {
		return `[` + strings.Repeat(`{"type":"reasoning"},`, 20_000) + `{}]`
	},
	"parts without end": func() string {
		return `[{"role":"user","content":[` + strings.Repeat(`{},`, 50_000) + `{}]}]`
	},
	"answers without end": func() string {
		return `[` + strings.Repeat(`{"role":"assistant","content":"a"},`, 9_000) + `{}]`
	},
	"half of a conversation":  func() string { return `[{"role":"user","content":"Why` },
	"a number of many digits": func() string { return strings.Repeat("9", 100_000) },
}

// responseCells ask with each of them, and expect a refusal. Any status from 400 to 499 is a refusal.
func responseCells() []cell {
	var cells []cell
	for _, name := range sortedKeys(hostileItems) {
		cells = append(cells, cell{name: "response: " + name,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				body := `{"model":"footnote","input":` + hostileItems[name]() + `}`
				r.input = int64(len(body))
				got, err := s.sendRequest(ctx, s.attack, http.MethodPost, "/v1/responses", "application/json",
					"application/json", strings.NewReader(body))
				if err == nil && (got.status < 400 || got.status > 499) {
					err = fmt.Errorf("POST /v1/responses: status = %d, want 4xx: %s", got.status, clipBytes(got.body))
				}
				return fmt.Sprintf("refused (%d) in %d ms", got.status, got.took.Milliseconds()), err
			}})
	}
	return cells
}

// openTitle asks a question that becomes a title, names the conversation, and opens what shows its name.
//
// The page and the conversation must not have the title's elements as their own, and the name of an exported file must
// not bring a header of its own.
func (s *site) openTitle(ctx context.Context, r *result, title string) (string, error) {
	said, _, err := s.askQuestion(ctx, map[string]any{
		"message": title + " What does the warranty cover?", "context_text": warranty,
	})
	if err != nil {
		return "", err
	}
	got, err := s.patchJSON(ctx, "/sessions/"+said.SessionID, map[string]any{"title": title})
	if err != nil || got.status >= 500 {
		return "", fmt.Errorf("PATCH /sessions/…: status = %d, %w: %s", got.status, err, clipBytes(got.body))
	}
	// A search for the first characters of the title must work, too.
	slowest, err := s.openAll(ctx, strings.NewReplacer(said.SessionID, "…", said.RunID, "…"), append(
		said.surfaces(), surface{"/sessions", "application/json"},
		surface{"/find?" + url.Values{"q": {string([]rune(title)[:20])}}.Encode(), "text/html"},
	))
	if err != nil {
		return "", err
	}
	for _, at := range []string{"/", "/c/" + said.SessionID} {
		page, err := s.getPath(ctx, "", at, "text/html")
		if err != nil {
			return "", err
		}
		if strings.Contains(string(page.body), "<script>hostile") || strings.Contains(string(page.body), "<img src=x") {
			r.noteProblem("GET %s has the title's elements as its own", at)
		}
	}
	export, err := s.getPath(ctx, "", "/agent/runs/"+said.RunID+"/export?format=md", "*/*")
	if err == nil && export.header.Get("Set-Cookie") != "" {
		r.noteProblem("an export has a header of the title's: %q", export.header.Get("Set-Cookie"))
	}
	return fmt.Sprintf("renamed: %d; %s", got.status, slowest), err
}

// patchJSON sends a value as JSON and wants JSON.
func (s *site) patchJSON(ctx context.Context, path string, value any) (answer, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return answer{}, err
	}
	return s.sendRequest(ctx, "", http.MethodPatch, path, "application/json", "application/json",
		strings.NewReader(string(body)))
}

// toolOutputs are what the outside tool gives beside hostileAnswers. They are too long to be an answer of a model.
var toolOutputs = map[string]func() []byte{"64 MiB": repeatText("a ", 64*mib)}

// toolCells have a tool of another server give each hostile text. The model calls the tool when the question says “use
// NAME.”, and gets what it gave as the result.
func toolCells() []cell {
	var cells []cell
	for _, name := range append(sortedKeys(hostileAnswers), sortedKeys(toolOutputs)...) {
		cells = append(cells, cell{name: "tool output: " + name,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.openAnswer(ctx, map[string]any{"message": "use " + name + "."})
			}})
	}
	return cells
}

// wanted is the argument of the tool: a name in hostileAnswers or toolOutputs.
type wanted struct {
	Name string `json:"name"`
}

// serveTool is an MCP server whose one tool, give, returns the hostile text of a name. It needs no approval (newSite),
// so the run goes on by itself.
func serveTool() *httptest.Server {
	tools := sdk.NewServer(&sdk.Implementation{Name: "outside", Version: "1"}, nil)
	sdk.AddTool(tools, &sdk.Tool{Name: "give", Description: "Gives a text."},
		func(_ context.Context, _ *sdk.CallToolRequest, in wanted) (*sdk.CallToolResult, any, error) {
			text := hostileAnswers[in.Name]
			if text == nil {
				text = toolOutputs[in.Name]
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text())}}}, nil, nil
		})
	return httptest.NewServer(sdk.NewStreamableHTTPHandler(
		func(*http.Request) *sdk.Server { return tools }, &sdk.StreamableHTTPOptions{Stateless: true},
	))
}
