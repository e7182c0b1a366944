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

// hostileAnswers are replies that are expensive to draw. A question of the form "draw NAME" gets one.
//
// The same texts are also used as thoughts, as contexts and as outputs of tools. Each is small to send, 100 KB or
// less, and is meant to make a parser or a page of HTML grow faster than its input: by nesting, by openings that never
// close, or by a table whose every row is filled up to the width of its head. The sizes are choices. A function makes
// each, so that only the one that is used is in memory.
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
// It looks at the question alone: “draw NAME.” answers with that text, “think NAME.” says it before a call of a tool,
// “use NAME.” has the outside tool give it, and “slowly” takes seconds for an answer. What is none of these is the
// bystander's, and is answered at once or as scripted.Librarian does.
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
	// The name is the tool's own, behind that of its server.
	if name, ok := strings.CutPrefix(question, "use "); ok && r.Turn() == 0 && len(r.Tools) > 0 {
		arguments, _ := json.Marshal(wanted{strings.TrimSuffix(name, ".")}) // a text
		return scripted.Reply{Calls: []llm.Call{{Name: "outside__give", Arguments: arguments}}}
	}
	switch {
	case strings.Contains(question, "slowly"):
		return scripted.Reply{
			Chunks: cutPieces(strings.Repeat("The warranty covers the boiler for twelve years. ", 20), 20),
			// The pieces are 20 bytes, so this answer takes some ten seconds.
			Delay: 200 * time.Millisecond,
		}
	case strings.Contains(question, "warranty") && len(r.Tools) > 0 && !r.NoTools && r.Turn() == 0:
		return scripted.Librarian(r)
	case strings.Contains(question, "warranty") && r.Turn() > 0:
		return scripted.Librarian(r)
	}
	return scripted.Reply{Text: "The warranty covers the boiler for twelve years."}
}

// cutPieces cuts a text as a model streams it, n bytes each. It always returns at least one piece, which may be empty.
// A character of several bytes may be cut in two.
func cutPieces(s string, n int) []string {
	var out []string
	for ; len(s) > n; s = s[n:] {
		out = append(out, s[:n])
	}
	return append(out, s)
}

// answerCells asks for each hostile answer, and for some as the thought before a tool call, and then opens whatever
// shows it. An answer and a thought are drawn by different code, so both are tried.
func answerCells() []cell {
	var cells []cell
	for _, name := range sortedKeys(hostileAnswers) {
		cells = append(cells, cell{name: "answer: " +
			name, act: func(ctx context.Context, s *site, r *result) (string, error) {
			return s.openAnswer(ctx, map[string]any{"message": "draw " + name + ".", "context_text": warranty})
		}})
	}
	// This cell alone has a bound of time of its own.
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

// asked is what POST /agent/chat says of a question. Only the fields that are needed are read.
type asked struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	Status    string `json:"status"`
}

// surfaces are the addresses that draw a question with its answer. The conversation is opened twice: the second time
// it may come from what was kept of the first.
func (a asked) surfaces() []surface {
	return []surface{
		// The ids are in the addresses, so they differ for each question.
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

// askQuestion asks and waits for the answer. It returns what the server said also when that was no answer: an error
// names the status and the beginning of the body.
func (s *site) askQuestion(ctx context.Context, question map[string]any) (said asked, got answer, err error) {
	if got, err = s.postJSON(ctx, "", "/agent/chat", question); err != nil {
		return said, got, err
	}
	if err := json.Unmarshal(got.body, &said); err != nil || said.SessionID == "" {
		return said, got, fmt.Errorf("POST /agent/chat: status %d: %s", got.status, clipBytes(got.body))
	}
	return said, got, nil
}

// openAnswer asks, then opens the conversation, its stream, exports and history, and says which took longest. Its
// outcome is for the last column of the table. An address that doesn't answer with 200 is an error, and makes the cell
// fail: what was asked and stored must stay readable.
func (s *site) openAnswer(ctx context.Context, question map[string]any) (string, error) {
	said, got, err := s.askQuestion(ctx, question)
	if err != nil {
		return "", err
	}
	slowest, err := s.openAll(ctx, strings.NewReplacer(said.SessionID, "…", said.RunID, "…"), said.surfaces())
	return fmt.Sprintf("%s in %d ms; %s", said.Status, got.took.Milliseconds(), slowest), err
}

// mostOfAnswer is how long the answer with a table of 500 × 500 may take, its model's streaming included, and each
// page, stream and export that shows it. A table of that size is as large as somebody might really ask for, unlike the
// other hostile answers. docs/security.md has the promise.
const mostOfAnswer = 100 * time.Millisecond

// answerInTime asks for a table of 500 × 500 ten times, opens everything that shows it each time, and judges the
// fastest of the ten: what else the machine does is not the server's. Ids are replaced by “…” so that the times of ten
// questions come together.
func (s *site) answerInTime(ctx context.Context, r *result) (string, error) {
	fastest := map[string]time.Duration{}
	// note keeps the smallest time of each address.
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
	// The outcome names the slowest address that is not the answer itself.
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

// surface is an address that draws what is hostile. accept is the header that says which of its forms is wanted.
type surface struct{ path, accept string }

// openAll opens surfaces one after the other and says which took longest, its ids shortened. It stops at the first
// that fails. ids shortens addresses for the outcome.
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
