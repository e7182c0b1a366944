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

// contextCells send each hostile text as the context of a question, at its maximum length. It is cut to
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

// hostileTitles are session names that are expensive, misleading or dangerous to render.
//
// They are within the limit of a title's length, or refused. Dangerous ones contain hostile, so that it is found on
// a page without an escape.
var hostileTitles = map[string]string{
	// Combining marks that are stacked beyond their line.
	"marks over marks": strings.Repeat("a\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309", 20),
	// Bidirectional controls: “txt.exe” may look like “exe.txt”.
	"directions in directions": strings.Repeat("\u202e\u2067\u202b", 40) + "txt.exe" + strings.Repeat("\u2066", 40),
	// Invisible characters: a name without a visible target for a click.
	"nothing that is seen": strings.Repeat("\u200b\u2060\U000E0041", 60),
	// Joined emoji: a single grapheme of very many characters.
	"faces joined to faces": strings.Repeat("👩\u200d", 99),
	"elements and scripts":  `</title></a><script>hostile()</script><img src=x onerror=hostile()>"'`,
	// A line break that would inject a header into the response for a file with this name.
	"a header of its own":       "a.md\"\r\nSet-Cookie: hostile=1\r\n\r\n<script>hostile()</script>",
	"a word without end":        strings.Repeat("W", 200),
	"brackets":                  strings.Repeat("[", 200),
	"a way out of its folder":   strings.Repeat("../", 60) + "etc/passwd",
	"a pattern of the database": strings.Repeat("%_", 80) + "'; DROP TABLE sessions; --",
}

// titleCells rename a session to each, and open the pages that list it. A title of 1 MiB must be refused; the
// others may be.
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

// hostileItems are inputs of a response that are expensive to parse, or invalid.
//
// The route follows OpenAI's Responses API, whose input is a text or a list of items. Each is a JSON value, or the
// start of one.
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

// responseCells send each of them, and expect a status from 400 to 499.
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

// openTitle sends a question that becomes a title, renames the session, and opens the pages with its name.
//
// The pages must not contain the title's HTML elements, and the name of an exported file must not inject a header.
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

// patchJSON sends a value as JSON and expects JSON.
func (s *site) patchJSON(ctx context.Context, path string, value any) (answer, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return answer{}, err
	}
	return s.sendRequest(ctx, "", http.MethodPatch, path, "application/json", "application/json",
		strings.NewReader(string(body)))
}

// toolOutputs are the outside tool's results besides hostileAnswers. They are too long for a model's answer.
var toolOutputs = map[string]func() []byte{"64 MiB": repeatText("a ", 64*mib)}

// toolCells make an external tool return each hostile text. The model calls the tool for the question “use NAME.”,
// and gets the text as the result.
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

// wanted is the tool's argument: a name in hostileAnswers or toolOutputs.
type wanted struct {
	Name string `json:"name"`
}

// serveTool is an MCP server with one tool, give, which returns the hostile text of a name. It needs no approval
// (newSite), so the run continues by itself.
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
