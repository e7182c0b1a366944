package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio/ssetest"
	"github.com/footnote/footnote/server/runlog"
)

func TestFailedRunCanBeFetched(t *testing.T) {
	b := newHarness(t)
	b.stage.events = []chat.Payload{
		chat.RunDone{
			Status: chat.RunFailed, Error: &chat.StepError{Code: chat.CodeModelFailed, Message: "The model is gone."},
		},
	}
	for path, body := range map[string]string{
		"/agent/chat":            `{"message":"Why?","session_id":"s1"}`,
		"/agent/chat/structured": `{"message":"Why?","session_id":"s1"}`,
		"/agent/query":           `{"question":"Why?","session_id":"s1"}`,
	} {
		got := b.send("POST", path, body)
		var told struct {
			RunID     string `json:"run_id"`
			SessionID string `json:"session_id"`
			Detail    string `json:"detail"`
		}
		got.decode(t, &told)
		if got.status != 500 || told.SessionID != "s1" || told.Detail != "The model is gone." ||
			got.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s, want 500", path, got.status, got.body)
		}
		if trace := b.send("GET", "/agent/runs/"+told.RunID, ""); trace.status != 200 {
			t.Errorf("%s: its run: %d %s, want 200", path, trace.status, trace.body)
		}
	}
	if got := b.send("POST", "/agent/chat", `{"message":" "}`); strings.Contains(got.body, "run_id") {
		t.Errorf("a question that began no run: %s, want no %q in it", got.body, "run_id")
	}
}

func TestStreamedAnswerUsesRequestedStyle(t *testing.T) {
	b := newHarness(t)
	b.stage.events = script()
	for style, want := range map[string]string{
		`,"citation_style":"source"`:  "It is sound [Source 1].\n\nSources:\n[Source 1] Survey.pdf",
		`,"citation_style":"numeric"`: "It is sound [1].",
		"":                            "It is sound [1].",
	} {
		got := b.send("POST", "/agent/chat", `{"message":"Is the roof sound?"`+style+`}`, "Accept", "text/event-stream")
		var answer struct {
			Type   string `json:"type"`
			RunID  string `json:"run_id"`
			Seq    int64  `json:"seq"`
			Answer string `json:"answer"`
		}
		seq := int64(0)
		for _, frame := range ssetest.NewReader(strings.NewReader(got.body)).All(t) {
			seq++
			if frame.Name == "answer" {
				reply{body: frame.Data}.decode(t, &answer)
				if answer.Seq != seq || answer.Type != "answer" || answer.RunID == "" {
					t.Errorf("%s: event %d = %s", style, seq, frame.Data)
				}
			}
		}
		again := ssetest.NewReader(
			strings.NewReader(
				b.send("GET", "/agent/runs/"+answer.RunID+"/events", "", "Accept", "text/event-stream").body,
			),
		).All(t)
		if first := ssetest.NewReader(strings.NewReader(got.body)).All(t); !slices.Equal(again, first) {
			t.Errorf("style %q: second stream =\n%v\nwant\n%v", style, again, first)
		}
		var run runlog.Trace
		b.send("GET", "/agent/runs/"+answer.RunID, "").decode(t, &run)
		if run.Text != answer.Answer || run.Answer == nil || run.Answer.Markdown != answer.Answer {
			t.Errorf("style %q: run has %q and %+v, stream has %q; want %q and Markdown %v",
				style, run.Text, run.Answer, answer.Answer, answer.Answer, answer.Answer)
		}
		for _, tools := range []string{"", "?tools=true"} {
			var history api.SessionHistory
			b.send("GET", "/agent/session/"+run.SessionID+tools, "").decode(t, &history)
			if last := history.Messages[len(history.Messages)-1]; last.Content != answer.Answer {
				t.Errorf("style %q: the conversation has %q, want %q", style, last.Content, answer.Answer)
			}
		}
		if !strings.HasPrefix(answer.Answer, want) ||
			strings.Contains(want, "Sources") && !strings.Contains(answer.Answer, b.url) {
			t.Errorf("style %q: %q, want %q", style, answer.Answer, want)
		}
	}
}

func TestStoppedAnswerStaysInConversation(t *testing.T) {
	b := newHarness(t)
	run := b.begin("Why?")
	b.append(run.ID, chat.RunStarted{}, chat.AnswerDelta{Text: "So far"}, chat.RunDone{Status: chat.RunCancelled})
	var history api.SessionHistory
	b.send("GET", "/agent/session/"+run.SessionID, "").decode(t, &history)
	if n := len(history.Messages); n != 2 || history.Messages[1].Content != "So far" {
		t.Errorf("messages %+v, want the question and %q", history.Messages, "So far")
	}
}

func TestFilterDatesAndTimes(t *testing.T) {
	b := newHarness(t)
	b.added("Survey.md", survey)
	for value, want := range map[string]int{
		`"2020-01-01"`: 1, `"2020-01-01T00:00:00Z"`: 1, `"2120-01-01"`: 0, `"2120-01-01T00:00:00+02:00"`: 0,
		`""`: 1, `null`: 1,
	} {
		got := b.send("POST", "/search", `{"query":"gutters","filters":{"added_after":`+value+`}}`)
		var found api.SearchResponse
		got.decode(t, &found)
		if got.status != 200 || found.TotalResults != want {
			t.Errorf("added_after %s: %d %s, want %d", value, got.status, got.body, want)
		}
	}
	for _, value := range []string{`"last week"`, `"2020-13-01"`, `5`, `{}`} {
		got := b.send("POST", "/search", `{"query":"gutters","filters":{"added_before":`+value+`}}`)
		if p := got.problem(t); got.status != 400 || !strings.Contains(string(p.Detail), "filters.added_before") {
			t.Errorf("added_before %s: %d %s, want 400", value, got.status, got.body)
		}
	}
}

func TestSearchUsesDocumentDates(t *testing.T) {
	b := newHarness(t)
	b.added("Old.md", "---\ndate: 2019-06-05\n---\n"+survey)
	b.added("New.md", "---\ndate: 2024-03-01\n---\n"+strings.ReplaceAll(survey, "gutters", "gutters there"))
	b.added("Undated.md", strings.ReplaceAll(survey, "gutters", "gutters here"))
	for filters, want := range map[string]string{
		`{"year":2024}`: "New.md", `{"year":"2019"}`: "Old.md", `{"year":2020}`: "",
		`{"year":null,"date_from":"","date_to":null}`: "New.md Old.md Undated.md",
		`{"date_from":"2019-07"}`:                     "New.md", `{"date_to":"2019-06-05"}`: "Old.md",
		`{"date_from":"2019","date_to":"2024"}`: "New.md Old.md",
		`{"date_from":"2019","title":"new"}`:    "New.md",
	} {
		for _, path := range []string{"/search", "/agent/retrieve"} {
			got := b.send("POST", path, `{"query":"gutters","top_k":50,"mode":"lexical","filters":`+filters+`}`)
			var names []string
			for _, name := range []string{"New.md", "Old.md", "Undated.md"} {
				if strings.Contains(got.body, `"`+name+`"`) {
					names = append(names, name)
				}
			}
			if found := strings.Join(names, " "); got.status != 200 || found != want {
				t.Errorf("%s %s: %d, found %q, want %q: %s", path, filters, got.status, found, want, got.body)
			}
		}
	}
	for filters, want := range map[string]string{
		`{"year":"last"}`: `filters.year must be a date like 2026-01-31, 2026-01 or 2026, ` +
			`not "last".`,
		`{"year":2024.5}`:                           `filters.year must be a date`,
		`{"year":true}`:                             `The field "filters.year" can't be`,
		`{"date_from":2024}`:                        `The field "filters.date_from" can't be a number`,
		`{"date_from":"5/24"}`:                      `filters.date_from must be a date like`,
		`{"date_to":"2024-02-30"}`:                  `filters.date_to must be a date like`,
		`{"date_from":"2025","date_to":"2024"}`:     "No date is both 2025 or later and 2024 or earlier.",
		`{"year":2024,"date_from":"2025-01-01"}`:    "No date is both 2025-01-01 or later and 2024 or earlier.",
		`{"document_ids":[],"date_to":"yesterday"}`: `filters.date_to must be a date like`,
	} {
		for _, path := range []string{"/search", "/agent/retrieve"} {
			got := b.send("POST", path, `{"query":"gutters","filters":`+filters+`}`)
			if p := got.problem(t); got.status != 400 || !strings.Contains(string(p.Detail), want) {
				t.Errorf("%s %s: %d %s, want %q", path, filters, got.status, got.body, want)
			}
		}
	}
}

func TestEveryRouteValidatesNamespaces(t *testing.T) {
	b := newHarness(t)
	b.stage.events = script() // an accepted question gets an answer, so that the test does not wait for one
	for _, name := range []string{"a/b c", strings.Repeat("n", 5000), ".web.x"} {
		for path, body := range map[string]string{
			"/chat": `{"message":"Why?"`, "/agent/chat": `{"message":"Why?"`, "/agent/query": `{"question":"Why?"`,
			"/search":              `{"query":"why"`,
			"/agent/retrieve":      `{"query":"why"`,
			"/v1/chat/completions": `{"model":"footnote","messages":[{"role":"user","content":"Why?"}]`,
			"/v1/responses":        `{"model":"footnote","input":"Why?"`,
			"/ui/chat":             `{"id":"c","messages":[{"role":"user","parts":[{"type":"text","text":"Why?"}]}]`,
		} {
			if got := b.send("POST", path, body+`,"namespace":"`+name+`"}`); got.status != 400 ||
				!strings.Contains(got.body, "A namespace can have up to 128") {
				t.Errorf("%s %.10s: %d %s; want 400 and %q in it",
					path, name, got.status, got.body, "A namespace can have up to 128")
			}
		}
		if got := b.send("GET", "/documents?namespace="+strings.ReplaceAll(name, " ", "%20"), ""); got.status != 400 {
			t.Errorf("GET /documents %.10s: %d %s, want 400", name, got.status, got.body)
		}
	}
}

func TestAgentStepsAreReportedWithoutResults(t *testing.T) {
	steps := []chat.Step{
		{CallID: "c1", Step: "semantic_search", ToolName: "semantic_search", Status: chat.StatusError,
			Message: "The search failed", ActionType: chat.ActionSearching},
	}
	for name, failed := range map[string]error{"nothing": nil, "a failure": errors.New("the model is gone")} {
		t.Run(name, func(t *testing.T) {
			b := newHarness(t, func(c *Config) {
				c.Gather = func(context.Context, string, chat.RunRequest, int) (api.Gathered, error) {
					return api.Gathered{Steps: steps, Notes: []string{"A note."}}, failed
				}
			})
			b.added("Survey.md", survey)
			var got api.RetrieveResponse
			b.send("POST", "/agent/retrieve", `{"query":"gutters"}`).decode(t, &got)
			if len(got.Chunks) != 1 || len(got.AgentTrace.Steps) != 2 || len(got.AgentTrace.ToolCalls) != 2 ||
				got.AgentTrace.Steps[0].CallID != "c1" {
				t.Errorf("trace = %+v; want 2 steps, 2 tool calls, Steps[0].CallID %q", got.AgentTrace, "c1")
			}
			if len(got.Notes) != 2 || got.Notes[0] != "A note." || !strings.Contains(got.Notes[1], "a plain search") {
				t.Errorf("notes = %q; want 2 notes, %q, %q in it", got.Notes, "A note.", "a plain search")
			}
		})
	}
}

// A client that sends its whole body before it reads, as Python's http.client does.
func TestBodyOverLimitIsDrainedBeforeRejection(t *testing.T) {
	b := newHarness(t)
	for _, chunked := range []bool{false, true} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		const size = 5 << 20
		head, body := fmt.Sprintf("Content-Length: %d", size), strings.Repeat("x", size)
		if chunked {
			head, body = "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, body)
		}
		if _, err := fmt.Fprintf(conn,
			"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n\r\n%s", head,
			body); err != nil {
			t.Fatalf("chunked %v: the body was not taken: %v, want no error", chunked, err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("chunked %v: %+v, %v; want StatusCode %d", chunked, res, err, http.StatusRequestEntityTooLarge)
		}
		if err == nil {
			_ = res.Body.Close()
		}
	}
}

func TestBodyDrainIsBounded(t *testing.T) {
	b := newHarness(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn,
		"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\nxxx",
		6<<20); err != nil {
		t.Fatal(err)
	}
	// the server's timeout for a body is longer
	if err := conn.SetReadDeadline(time.Now().Add(25 * time.Second)); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Fatalf("%+v, %v; want StatusCode %d", res, err, http.StatusRequestEntityTooLarge)
	}
	_ = res.Body.Close()
}
