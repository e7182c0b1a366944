//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// hostileAnswers are replies that are expensive to render. A question of the form "draw NAME" gets one.
//
// The same texts are also used as thoughts, contexts and tool outputs. Each is at most 100 KB, and is designed so
// that a parser or the HTML grows faster than the input: by nesting, by unclosed openings, or by a table whose rows
// are padded to the width of its head. The sizes are arbitrary. A function generates each, so that only the used
// one is in memory.
var hostileAnswers = map[string]func() []byte{
	"a table of 500 × 500":     markdownTable(500, 500),
	"a table of 2,000 × 2,000": markdownTable(2000, 2000),
	"quotes in quotes":         aroundText("", repeatText(">", 30_000), " a"),
	"lists in lists": func() []byte {
		var b strings.Builder
		for depth := range 300 {
			fmt.Fprintf(&b, "%s- a\n", strings.Repeat(" ", 2*depth))
		}
		return []byte(b.String())
	},
	"brackets":         repeatText("[", 100_000),
	"list markers":     repeatText("* ", 80_000),
	"images":           repeatText("![", 100_000),
	"links in links":   aroundText("", repeatText("[a](", 60_000), ""),
	"emphasis":         repeatText("*a **a _a __a ", 100_000),
	"tiny paragraphs":  repeatText("a\n\n", 100_000),
	"backticks":        repeatText("` `` ``` ", 100_000),
	"footnotes":        repeatText("[1] ", 90_000),
	"one long word":    repeatText("a", 100_000),
	"HTML":             repeatText("<table><tr><td><b>", 100_000),
	"link definitions": repeatText("[a]: /b\n\n[a]\n\n", 60_000),
}

// hostileScript is the model of the site: hostile answers by name, endless ones, and a quick one for the bystander.
//
// It depends only on the question: “draw NAME.” answers with that text, “think NAME.” streams it before a tool
// call, and “use NAME.” makes the outside tool return it. “slowly” takes seconds for an answer. All other questions
// are the bystander's, and are answered at once or by scripted.Librarian.
func hostileScript(r scripted.Request) scripted.Reply {
	question := r.Question()
	for name, answer := range hostileAnswers {
		if strings.Contains(question, "draw "+name+".") {
			return scripted.Reply{Chunks: cutPieces(string(answer()), 400)}
		}
	}
	for name, thought := range hostileAnswers {
		if strings.Contains(question, "think "+name+".") && r.Turn() == 0 {
			search := llm.Call{Name: "search_documents", Arguments: json.RawMessage(`{"query": "warranty"}`)}
			return scripted.Reply{Chunks: cutPieces(string(thought()), 400), Calls: []llm.Call{search}}
		}
	}
	// The name is the tool's own, after its server's name.
	if name, ok := strings.CutPrefix(question, "use "); ok && r.Turn() == 0 && len(r.Tools) > 0 {
		arguments, _ := json.Marshal(wanted{strings.TrimSuffix(name, ".")}) // a text
		return scripted.Reply{Calls: []llm.Call{{Name: "outside__give", Arguments: arguments}}}
	}
	switch {
	case strings.Contains(question, "slowly"):
		return scripted.Reply{
			Chunks: cutPieces(strings.Repeat("The warranty covers the boiler for twelve years. ", 20), 20),
			// The chunks are 20 bytes, so this answer takes some ten seconds.
			Delay: 200 * time.Millisecond,
		}
	case strings.Contains(question, "warranty") && len(r.Tools) > 0 && !r.NoTools && r.Turn() == 0:
		return scripted.Librarian(r)
	case strings.Contains(question, "warranty") && r.Turn() > 0:
		return scripted.Librarian(r)
	}
	return scripted.Reply{Text: "The warranty covers the boiler for twelve years."}
}

// cutPieces splits a text into chunks of n bytes, like a model's stream. It always returns at least one chunk,
// which may be empty. A multi-byte character may be split.
func cutPieces(s string, n int) []string {
	var out []string
	for ; len(s) > n; s = s[n:] {
		out = append(out, s[:n])
	}
	return append(out, s)
}

// answerCells requests each hostile answer, and some as the thought before a tool call, and then opens all pages
// with it. Answers and thoughts are rendered by different code, so both are tested.
func answerCells() []cell {
	var cells []cell
	for _, name := range sortedKeys(hostileAnswers) {
		cells = append(cells, cell{name: "answer: " +
			name, act: func(ctx context.Context, s *site, r *result) (string, error) {
			return s.openAnswer(ctx, map[string]any{"message": "draw " + name + ".", "context_text": warranty})
		}})
	}
	// Only this cell has its own time limit.
	cells = append(cells, cell{name: "answer: a table of 500 × 500, in time",
		act: func(ctx context.Context, s *site, r *result) (string, error) { return s.answerInTime(ctx, r) }})
	for _, name := range []string{"a table of 2,000 × 2,000", "brackets", "quotes in quotes", "emphasis"} {
		cells = append(cells, cell{name: "thought: " +
			name, act: func(ctx context.Context, s *site, r *result) (string, error) {
			return s.openAnswer(ctx, map[string]any{"message": "think " + name + "."})
		}})
	}
	return cells
}

// asked is the response of POST /agent/chat, with the required fields.
type asked struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	Status    string `json:"status"`
}

// surfaces are the URLs that render a question with its answer. The session is opened twice: the second response
// may be cached.
func (a asked) surfaces() []surface {
	return []surface{
		// The ids are in the URLs, so they differ for each question.
		{"/c/" + a.SessionID, "text/html"},
		{"/c/" + a.SessionID, "text/html"},
		{"/runs/" + a.RunID + "/stream", "text/event-stream"},
		{"/agent/runs/" + a.RunID, "application/json"},
		{"/agent/runs/" + a.RunID + "/export?format=md", "*/*"},
		{"/agent/runs/" + a.RunID + "/export?format=html", "*/*"},
		{"/agent/runs/" + a.RunID + "/export?format=json", "*/*"},
		{"/agent/session/" + a.SessionID, "application/json"},
		{"/", "text/html"},
	}
}

// askQuestion sends a question and waits for the answer. It also returns the response of a failed request: the
// error has the status and the start of the body.
func (s *site) askQuestion(ctx context.Context, question map[string]any) (said asked, got answer, err error) {
	if got, err = s.postJSON(ctx, "", "/agent/chat", question); err != nil {
		return said, got, err
	}
	if err := json.Unmarshal(got.body, &said); err != nil || said.SessionID == "" {
		return said, got, fmt.Errorf("POST /agent/chat: status %d: %s", got.status, clipBytes(got.body))
	}
	return said, got, nil
}

// openAnswer sends a question, then opens the session, its stream, exports and history, and returns the slowest.
// The outcome is for the last column of the table. A status other than 200 is an error, and makes the cell fail:
// accepted and stored content must stay readable.
func (s *site) openAnswer(ctx context.Context, question map[string]any) (string, error) {
	said, got, err := s.askQuestion(ctx, question)
	if err != nil {
		return "", err
	}
	slowest, err := s.openAll(ctx, strings.NewReplacer(said.SessionID, "…", said.RunID, "…"), said.surfaces())
	return fmt.Sprintf("%s in %d ms; %s", said.Status, got.took.Milliseconds(), slowest), err
}

// mostOfAnswer is the time limit for the answer with a table of 500 × 500, including the model's stream. It also
// applies to each page, stream and export that shows it. Unlike the other hostile answers, a user might really ask
// for a table of that size. docs/security.md documents the limit.
const mostOfAnswer = 100 * time.Millisecond

// answerInTime requests a table of 500 × 500 ten times, and opens all pages with it each time. It compares the
// fastest of the ten with the limit, since the machine may have other load. Ids are replaced with “…” so that the
// times of ten questions have the same key.
func (s *site) answerInTime(ctx context.Context, r *result) (string, error) {
	fastest := map[string]time.Duration{}
	// note records the minimum time of each URL.
	note := func(what string, took time.Duration) {
		if before, ok := fastest[what]; !ok || took < before {
			fastest[what] = took
		}
	}
	for range 10 {
		said, got, err := s.askQuestion(ctx, map[string]any{
			"message": "draw a table of 500 × 500.", "context_text": warranty,
		})
		if err != nil {
			return "", err
		}
		note("the answer", got.took)
		ids := strings.NewReplacer(said.SessionID, "…", said.RunID, "…")
		for _, at := range said.surfaces() {
			got, err := s.getPath(ctx, "", at.path, at.accept)
			if err != nil || got.status != http.StatusOK {
				return "", fmt.Errorf("GET %s: status = %d, want 200: %w", at.path, got.status, err)
			}
			note(ids.Replace(at.path), got.took)
		}
	}
	// The outcome names the slowest URL except the answer itself.
	slowest := "the answer"
	for _, what := range sortedKeys(fastest) {
		if fastest[what] > mostOfAnswer {
			r.noteProblem("%s took %v at the fastest, want at most %v", what, fastest[what], mostOfAnswer)
		}
		if what != "the answer" && (slowest == "the answer" || fastest[what] > fastest[slowest]) {
			slowest = what
		}
	}
	return fmt.Sprintf("fastest of ten: the answer %d ms; slowest to open: %s, %d ms",
		fastest["the answer"].Milliseconds(), slowest, fastest[slowest].Milliseconds()), nil
}

// surface is a URL that renders hostile text. accept is the Accept header.
type surface struct{ path, accept string }

// openAll opens surfaces in order and returns the slowest, with shortened ids. It stops at the first error. ids
// shortens URLs for the outcome.
func (s *site) openAll(ctx context.Context, ids *strings.Replacer, surfaces []surface) (string, error) {
	var slowest time.Duration
	var where string
	for _, at := range surfaces {
		got, err := s.getPath(ctx, "", at.path, at.accept)
		if err != nil {
			return "", fmt.Errorf("GET %s: %w", at.path, err)
		}
		if got.status != http.StatusOK {
			return "", fmt.Errorf("GET %s: status = %d, want 200: %s", at.path, got.status, clipBytes(got.body))
		}
		if got.took > slowest {
			slowest, where = got.took, ids.Replace(at.path)
		}
	}
	return fmt.Sprintf("slowest to open: %s, %d ms", where, slowest.Milliseconds()), nil
}
