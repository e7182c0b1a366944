//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/footnote/footnote/chat"
)

// hostileTables are requests for tables over documents that must be refused.
//
// A table has a row for each document and a column for each question, and a run fills each cell. A request over the
// limits must be refused before any run starts.
var hostileTables = map[string]func() string{
	"no body":        func() string { return `{}` },
	"lists in lists": func() string { return strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000) },
	"columns to the end of the body": func() string {
		return `{"columns":[` + strings.Repeat(`{"name":"a"},`, 50_000) + `{"name":"a"}]}`
	},
	"a name of 1 MiB": func() string { return `{"columns":[{"name":"` + strings.Repeat("a", mib) + `"}]}` },
	"a question of 1 MiB": func() string {
		return `{"columns":[{"name":"a","question":"` + strings.Repeat("a", mib) + `"}]}`
	},
	"names that nobody sees": func() string { return `{"columns":[{"name":"\u0000"}]}` },
	"less than no tokens":    func() string { return `{"columns":[{"name":"a"}],"max_tokens":-1}` },
	"documents without end": func() string {
		return `{"columns":[{"name":"a"}],"document_ids":[` + strings.Repeat(`"x",`, 100_000) + `"x"]}`
	},
}

// tableCells send each of them, and create a table with hostile names, which is rendered and exported. The hostile
// names are those of hostileTitles.
func tableCells() []cell {
	var cells []cell
	for _, name := range sortedKeys(hostileTables) {
		cells = append(cells, cell{name: "table: " + name,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				body := hostileTables[name]()
				r.input = int64(len(body))
				got, err := s.sendRequest(ctx, s.attack, http.MethodPost, "/agent/table", "application/json",
					"application/json", strings.NewReader(body))
				if err == nil && (got.status < 400 || got.status > 499) {
					err = fmt.Errorf("POST /agent/table: status = %d, want 4xx: %s", got.status, clipBytes(got.body))
				}
				return fmt.Sprintf("refused (%d) in %d ms", got.status, got.took.Milliseconds()), err
			}})
	}
	for _, name := range sortedKeys(hostileTitles) {
		cells = append(cells, cell{name: "table: " + name,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.openTable(ctx, r, hostileTitles[name])
			}})
	}
	return cells
}

// openTable creates a table with hostile names, edits a cell to a hostile text, and opens all pages with it.
//
// Pages must not contain the name's HTML elements, and the exported file's name must not inject a header. The name
// is cut to chat.MaxGridName characters, the question is not.
func (s *site) openTable(ctx context.Context, r *result, text string) (string, error) {
	name := string([]rune(text)[:min(len([]rune(text)), chat.MaxGridName)])
	got, err := s.postJSON(ctx, "", "/agent/table", map[string]any{
		"name": name, "columns": []any{map[string]any{"name": name, "question": text}},
	})
	if err != nil || got.status >= 500 {
		return "", fmt.Errorf("POST /agent/table: status = %d, %w: %s", got.status, err, clipBytes(got.body))
	}
	if got.status != http.StatusCreated { // an invisible name is refused
		return fmt.Sprintf("refused (%d)", got.status), nil
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(got.body, &made); err != nil {
		return "", err
	}
	at := "/tables/" + made.ID
	edited, err := s.patchJSON(ctx, at+"/cells/0/0", map[string]any{"text": text})
	if err != nil || edited.status >= 500 {
		return "", fmt.Errorf("PATCH of a cell: status = %d, %w: %s", edited.status, err, clipBytes(edited.body))
	}
	slowest, err := s.openAll(ctx, strings.NewReplacer(made.ID, "…"), []surface{
		{"/tables", "text/html"}, {"/tables", "application/json"}, {at, "text/html"}, {at, "application/json"},
		{at + "/cells", "text/html"}, {at + "/cells/0/0", "text/html"}, {at + "/export?format=csv", "*/*"},
		{at + "/export?format=xlsx", "*/*"}, {at + "/export?format=json", "*/*"},
	})
	if err != nil {
		return "", err
	}
	for _, path := range []string{"/tables", at, at + "/cells/0/0"} {
		page, err := s.getPath(ctx, "", path, "text/html")
		if err != nil {
			return "", err
		}
		if strings.Contains(string(page.body), "<script>hostile") || strings.Contains(string(page.body), "<img src=x") {
			r.noteProblem("GET %s has the name's elements as its own", path)
		}
	}
	file, err := s.getPath(ctx, "", at+"/export?format=csv", "*/*")
	if err == nil && file.header.Get("Set-Cookie") != "" {
		r.noteProblem("an export has a header of the name's: %q", file.header.Get("Set-Cookie"))
	}
	return "filled and edited; " + slowest, err
}
