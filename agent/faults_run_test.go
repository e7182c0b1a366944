package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/agent/llm/textcalls"
	"github.com/footnote/footnote/chat"
)

// The outcomes of an answer.
const (
	mended   = "" // the model's own answer
	replaced = "fallback"
)

// faultRow is a provider fault and its expected handling by a run.
type faultRow struct {
	fault   string
	replies []wired
	ends    string   // mended, replaced, or the status of the run
	steps   []string // of tools and of what was done about the fault, with their status; nil: one good search
	asked   int      // requests; 0: one for each reply
	never   string   // text that the user must not see at the end
	ask     string   // the question; empty: of the holiday
	says    string   // the answer; empty: goodAnswer
}

// Provider faults through a whole run: its steps, the stored rows, and the text that the user sees.
func TestProviderFaultsInWholeRun(t *testing.T) {
	t.Parallel()
	long := toolCalls(
		`{"index":0,"id":"r1","function":{"name":"search_documents",` +
			`"arguments":"{\"query\":\"sickness doctor certificate\"}"}}`,
	)
	for _, row := range []faultRow{
		{fault: "1: a clean end before anything is tried again",
			replies: []wired{looks, {body: ": hello\n\n"}, answers}},
		{fault: "1: a clean end after text was shown",
			replies: []wired{looks, {body: events(piece("There are some days"))}}, ends: replaced, never: "some days"},
		{fault: "2: an end inside an event",
			replies: []wired{looks, {body: events(piece("There are some days")) + `data: {"cho`}}, ends: replaced,
			never: "some days"},
		{fault: "3: a reset in the middle",
			replies: []wired{looks, {body: events(piece("There are some days")), reset: true}}, ends: replaced,
			never: "some days"},
		{fault: "3: a reset before anything is tried again",
			replies: []wired{looks, {body: ": hello\n\n", reset: true}, answers}},
		{fault: "4: no [DONE]",
			replies: []wired{
				{body: events(lookUp, ends("tool_calls"))}, {body: strings.TrimSuffix(answers.body, events(theEnd))},
			}},
		{fault: "5: a finish that is empty",
			replies: []wired{
				{body: events(lookUp, ends(""), theEnd)}, {body: strings.ReplaceAll(answers.body, `"stop"`, `""`)},
			}},
		{fault: "6: silence after text was shown",
			replies: []wired{looks, {body: events(piece("There are some days")), silent: true}}, ends: replaced,
			never: "some days"},
		{fault: "7, 8, 9, 12: comments, odd keepalives, CRLF and a byte order mark",
			replies: []wired{
				looks, {
					body: "\xef\xbb\xbf" + strings.ReplaceAll(": hi\n\ndata:\n\nevent: keepalive\n\n"+answers.body,
						"\n", "\r\n"),
				},
			}},
		{fault: "14: an error in the stream, then none",
			replies: []wired{looks, {body: events(`{"error":{"message":"boom","code":503}}`)}, answers}},
		{fault: "14: an error after text was shown",
			replies: []wired{
				looks, {body: events(piece("There are some days"), `{"error":{"message":"boom","code":503}}`)},
			}, ends: replaced, never: "some days"},
		{fault: "17: a page of HTML", replies: []wired{looks, {kind: "text/html", body: "<html>Sign in</html>"}},
			ends: replaced, never: "Sign in"},
		{fault: "17: one JSON document",
			replies: []wired{
				looks, {kind: "application/json",
					body: `{"choices":[{"message":{"content":"There are 28 days of paid holiday a year [1]."}}]}`},
			}},
		{fault: "17: one JSON document that is no reply",
			replies: []wired{looks, {kind: "application/json", body: `{"status":"some days"}`}},
			ends:    replaced, never: "some days"},
		{fault: "17: another content type", replies: []wired{looks, {kind: "text/plain", body: "The server is up."}},
			ends: replaced, never: "server is up"},
		{fault: "22, 27: a call without index and id",
			replies: []wired{
				{
					body: events(
						toolCalls(`{"function":{"name":"search_documents","arguments":"{\"query\":\"holiday\"}"}}`),
						ends("tool_calls"), theEnd,
					),
				}, answers,
			}},
		{fault: "23: index 0 for both calls",
			replies: []wired{
				{
					body: events(
						lookUp,
						toolCalls(
							`{"index":0,"id":"s2","function":{"name":"search_documents",`+
								`"arguments":"{\"query\":\"roof\"}"}}`,
						), ends("tool_calls"), theEnd,
					),
				}, answers,
			},
			steps: []string{"parallel complete", "search_documents complete", "search_documents complete"}},
		{fault: "26, 28: id and name in each chunk",
			replies: []wired{
				{
					body: events(toolCalls(
						`{"index":0,"id":"s1","function":{"name":"search_documents","arguments":"{\"query\":"}}`,
					),
						toolCalls(
							`{"index":0,"id":"s1","function":{"name":"search_documents","arguments":"\"holiday\"}"}}`,
						),
						ends("tool_calls"), theEnd),
				}, answers,
			}},
		{fault: "31: malformed arguments",
			replies: []wired{
				{
					body: events(
						toolCalls(
							`{"index":0,"id":"s1","function":{"name":"search_documents",`+
								`"arguments":"{\"query\": holi"}}`,
						), ends("tool_calls"), theEnd,
					),
				}, looks, answers,
			},
			steps: []string{"search_documents error", "search_documents complete"}},
		{fault: "32: arguments in a string",
			replies: []wired{
				{
					body: events(
						toolCalls(
							`{"index":0,"id":"s1","function":{"name":"search_documents",`+
								`"arguments":"\"{\\\"query\\\":\\\"holiday\\\"}\""}}`,
						), ends("tool_calls"), theEnd,
					),
				}, answers,
			}},
		{fault: "34: cut calls", replies: []wired{{body: events(lookUp, ends("length"), theEnd)}, looks, answers},
			steps: []string{"review error", "search_documents complete"}},
		{fault: "35: calls with finish stop", replies: []wired{{body: events(lookUp, ends("stop"), theEnd)}, answers}},
		{fault: "36: a filter",
			replies: []wired{looks, {body: events(piece("There are some days"), ends("content_filter"), theEnd)}},
			ends:    string(chat.RunGuardrailTriggered)},
		{fault: "37: a name with a channel",
			replies: []wired{
				{body: strings.Replace(looks.body, "search_documents", "search_documents<|channel|>commentary", 1)},
				answers,
			}},
		{fault: "37: an unknown tool",
			replies: []wired{{body: strings.Replace(looks.body, "search_documents", "web_browser", 1)}, looks, answers},
			steps:   []string{"web_browser error", "search_documents complete"}},
		{fault: "38: a call as text",
			replies: []wired{
				{
					body: events(piece("<tool_call>\n"),
						piece(`{"name":"search_documents","arguments":{"query":"holiday"}}`), piece("\n</tool_call>"),
						ends("stop"), theEnd),
				}, answers,
			}, never: "tool_call"},
		{fault: "39: a call that its server could not read",
			replies: []wired{
				{status: 400, kind: "application/json",
					body: `{"error":{"message":"Failed to call a function","code":"tool_use_failed",` +
						`"failed_generation":"<function=x"}}`}, looks, answers,
			},
			steps: []string{"review error", "search_documents complete"}},
		{fault: "42: an empty answer", replies: []wired{looks, {body: events(ends("stop"), theEnd)}},
			ends: replaced, asked: 2},
		{fault: "44: a limit, then none",
			replies: []wired{
				looks, {status: 429, after: "0.01", kind: "application/json",
					body: `{"error":{"message":"slow down"}}`}, answers,
			}},
		{fault: "45: a spent quota",
			replies: []wired{
				looks, {status: 429, kind: "application/json",
					body: `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`},
			}, ends: replaced},
		{fault: "46: a failed server, then none",
			replies: []wired{looks, {status: 500, body: "oops"}, {status: 503, body: "oops"}, answers}},
		{fault: "47: a context that is too long",
			replies: []wired{
				looks, {body: events(long, ends("tool_calls"), theEnd)},
				{status: 400, kind: "application/json",
					body: `{"error":{"message":"This model's maximum context length is 4096 tokens",` +
						`"code":"context_length_exceeded"}}`}, answers,
			},
			steps: []string{"search_documents complete", "search_documents complete"}},
		{fault: "10: data without a space, of many lines",
			replies: []wired{
				looks, {body: strings.ReplaceAll(strings.ReplaceAll(answers.body, "data: ", "data:"), `"delta":`,
					"\"delta\":\ndata:")},
			}},
		{fault: "11: a rune split over two chunks and over reads",
			replies: []wired{looks, {body: events("{\"choices\":[{\"delta\":{\"content\":\"\xe6\x97\"}}]}",
				"{\"choices\":[{\"delta\":{\"content\":\"\xa5本: 28 days of paid holiday a year [1] \xf0\x9f\"}}]}",
				"{\"choices\":[{\"delta\":{\"content\":\"\x91\x8d é\"}}]}", ends("stop"), theEnd)}},
			says: "日本: 28 days of paid holiday a year [1] 👍 é", never: "\ufffd"},
		{fault: "13: an endless line",
			replies: []wired{looks, {body: "data: {\"x\":\"" + strings.Repeat("a", 8<<20+1<<17)}}, ends: replaced},
		{fault: "15: vLLM's error object, then none",
			replies: []wired{
				looks, {body: events(`{"object":"error","message":"boom","type":"InternalServerError","code":503}`)},
				answers,
			}},
		{fault: "15: a bare string after text was shown",
			replies: []wired{looks, {body: events(piece("There are some days"), `"overloaded"`)}}, ends: replaced,
			never: "some days"},
		{fault: "16: a null error",
			replies: []wired{looks, {body: strings.ReplaceAll(answers.body, `{"choices"`, `{"error":null,"choices"`)}}},
		{fault: "18: a chunk without choices",
			replies: []wired{looks, {body: events(`{"choices":[],"prompt_filter_results":[{"x":1}]}`) + answers.body}}},
		{fault: "19: odd values",
			replies: []wired{
				looks, {
					body: events(`{"created":1.5e9,"choices":[{"index":0}]}`, `{"choices":[{"delta":null}]}`,
						`{"choices":[{"delta":{"content":null}}]}`) + answers.body,
				},
			}},
		{fault: "20: a usage-only chunk",
			replies: []wired{
				looks, {
					body: strings.Replace(answers.body, events(theEnd),
						events(`{"usage":{"prompt_tokens":5,"completion_tokens":9}}`, theEnd), 1),
				},
			}},
		{fault: "21: stream_options refused",
			replies: []wired{
				{status: 400, kind: "application/json",
					body: `{"error":{"message":"Unsupported parameter: stream_options"}}`}, looks, answers,
			}},
		{fault: "24: a continuation on another index",
			replies: []wired{
				{body: events(toolCalls(`{"index":0,"id":"s1","function":{"name":"search_documents","arguments":""}}`),
					toolCalls(`{"index":1,"function":{"arguments":"{\"query\":\"holiday\"}"}}`),
					ends("tool_calls"), theEnd)},
				answers,
			}},
		{fault: "25: a wild index",
			replies: []wired{
				{body: strings.Replace(looks.body, `"index":0,"id"`, `"index":9223372036854775807,"id"`, 1)}, answers,
			}},
		{fault: "29: the arguments sent again",
			replies: []wired{
				{body: events(lookUp, toolCalls(`{"index":0,"function":{"arguments":"{\"query\":\"holiday\"}"}}`),
					ends("tool_calls"), theEnd)}, answers,
			}},
		{fault: "30: empty arguments",
			replies: []wired{
				{body: events(toolCalls(`{"index":0,"id":"l1","function":{"name":"list_documents","arguments":""}}`),
					ends("tool_calls"), theEnd)}, looks, answers,
			},
			steps: []string{"list_documents complete", "search_documents complete"}},
		{fault: "33: an argument of the wrong kind",
			replies: []wired{{body: strings.Replace(looks.body, `\"holiday\"`, `[7]`, 1)}, looks, answers},
			steps:   []string{"search_documents error", "search_documents complete"}},
		{fault: "40: reasoning that must go back",
			replies: []wired{
				{body: events(`{"choices":[{"delta":{"reasoning_content":"Let me look."}}]}`) + looks.body},
				{status: 400, kind: "application/json",
					body: `{"error":{"message":"Missing reasoning_content in the assistant message: it must be ` +
						`passed back"}}`}, answers,
			}},
		{fault: "41: reasoning alone",
			replies: []wired{
				looks, {body: events(`{"choices":[{"delta":{"reasoning_content":"I wonder."}}]}`,
					ends("stop"), theEnd)},
			}, ends: replaced, never: "I wonder"},
		{fault: "48: a prompt that was dropped silently",
			ask: strings.Repeat("The mill stands by the river, and its wheel turns slowly. ", 400) +
				"How many days of paid holiday does an employee get?",
			replies: []wired{
				looks, {
					body: strings.Replace(answers.body, events(theEnd),
						events(`{"choices":[],"usage":{"prompt_tokens":2048,"completion_tokens":9}}`, theEnd), 1),
				},
			},
			steps: []string{"search_documents complete", "notice error"}},
		{fault: "49: a server that fails to parse a call",
			replies: []wired{
				{status: 500, kind: "application/json",
					body: `{"error":{"code":500,"message":"Failed to parse input at pos 12: <tool_call>",` +
						`"type":"server_error"}}`}, looks, answers,
			},
			steps: []string{"review error", "search_documents complete"}},
		{fault: "a small model's thoughts, names, arguments, footnotes and tokens", replies: []wired{
			{
				body: events(piece("I should search.\n</think>\n\n"),
					piece(`<tool_call>{"name":"Search","arguments":{"q":["holiday"],"max_results":"10"}}`),
					piece("\n</tool_call><|im_end|>"), ends("stop"), theEnd),
			},
			{body: events(piece("Page 1 says 28.\n</think>\n\nThere are 28 days of paid "),
				piece("holiday a year [doc1]."), piece("<|im_end|>\n<|im_start|>user\nAnd the roof?"), ends("stop"),
				theEnd)}}, never: "think"},
		{fault: "50: the same call again and again", replies: []wired{looks, looks, looks, answers},
			steps: []string{"search_documents complete", "search_documents complete", "search_documents skipped"}},
	} {
		for _, way := range []struct {
			name string
			step int // bytes
		}{{"whole", 1 << 20}, {"a byte at a time", 1}} {
			t.Run(row.fault+", "+way.name, func(t *testing.T) {
				t.Parallel()
				checkFault(t, row, way.step)
			})
		}
	}
}

// checkFault runs a fault whose responses are sent in chunks of step bytes, and checks the steps, rows and text.
func checkFault(t *testing.T, row faultRow, step int) {
	remote, asked := provider(t, step, row.replies...)
	h := newHarness(t, textcalls.New(remote, textcalls.Auto), withFallback)
	got := h.answer(asks(cmp.Or(row.ask, "How many days of paid holiday does an employee get?")))
	if want := max(row.asked, len(row.replies)); row.ends != replaced && int(asked.Load()) != want ||
		row.asked > 0 && int(asked.Load()) != row.asked {
		t.Errorf("the server was asked %d times, want %d", asked.Load(), want)
	}
	if row.steps == nil {
		row.steps = []string{"search_documents complete"}
	}
	if row.ends == replaced {
		row.steps = append(row.steps, "fallback error")
	}
	var steps []string
	for _, s := range got.ended() {
		if s.ToolName != "" && !slices.Contains(steps, "fallback error") || s.Step == "fallback" ||
			slices.Contains([]string{"parallel", "review", "notice"}, s.Step) {
			steps = append(steps, s.Step+" "+string(s.Status))
		}
	}
	if !slices.Equal(steps, row.steps) {
		t.Errorf("steps %q, want %q:%s", steps, row.steps, dump(got.log))
	}
	h.checkStored(got)
	if row.never != "" && strings.Contains(got.text(), row.never) {
		t.Errorf("answer has %q, want it hidden", got.text())
	}
	switch row.ends {
	case mended:
		if a := got.answer(); a.Markdown != cmp.Or(row.says, goodAnswer) || len(a.Citations) != 1 {
			t.Errorf("answer %q with %d citations, want 1 citation", a.Markdown, len(a.Citations))
		}
	case replaced:
		if a := got.answer(); !strings.Contains(a.Markdown, "28 days") || len(a.Citations) == 0 {
			t.Errorf("answer %q with %d citations; want %q in it and some citations",
				a.Markdown, len(a.Citations), "28 days")
		}
	default:
		if d := got.done(); string(d.Status) != row.ends || d.Error == nil || len(all[chat.Answer](got)) != 0 {
			t.Errorf("it ended %+v, want %v", d, row.ends)
		}
	}
}

// checkStored compares a finished run's log with the store: event numbers without a gap, the end, and the answer
// that the user saw.
func (h *harness) checkStored(got transcript) {
	h.Helper()
	stored, err := h.store.Events(h.Context(), chat.Local, got.runID, 0, 0)
	if err != nil {
		h.Fatal(err)
	}
	for i, e := range stored {
		if e.Seq != int64(i+1) {
			h.Errorf("event %d has the number %d", i+1, e.Seq)
		}
	}
	run, err := h.store.Run(h.Context(), chat.Local, got.runID)
	if err != nil {
		h.Fatal(err)
	}
	if done := got.done(); run.Status != done.Status || len(stored) != len(got.log) {
		h.Errorf("stored: %s with %d events; seen: %s with %d", run.Status, len(stored), done.Status, len(got.log))
	}
	answer := ""
	for _, a := range all[chat.Answer](got) {
		answer = a.Markdown
	}
	if run.Answer != answer || answer != "" && got.text() != answer {
		h.Errorf("stored %q, in the log %q, shown %q", run.Answer, answer, got.text())
	}
}

// wired is one HTTP response of a provider, byte by byte.
type wired struct {
	status int    // 0: 200
	kind   string // content type; empty: an event stream
	after  string // Retry-After
	body   string
	reset  bool // the connection is reset after the body
	silent bool // the stream stays open without further data
}

func events(data ...string) string {
	return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
}

func piece(text string) string {
	return `{"choices":[{"index":0,"delta":{"content":` + strconv.Quote(text) + `},"finish_reason":null}]}`
}

func ends(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func toolCalls(calls string) string { return `{"choices":[{"delta":{"tool_calls":[` + calls + `]}}]}` }

const theEnd = "[DONE]"

var (
	lookUp = toolCalls(
		`{"index":0,"id":"s1","type":"function","function":{"name":"search_documents",` +
			`"arguments":"{\"query\":\"holiday\"}"}}`,
	)
	looks   = wired{body: events(lookUp, ends("tool_calls"), theEnd)}
	answers = wired{
		body: events(piece("There are 28 days of paid "), piece("holiday a year [1]."), ends("stop"), theEnd),
	}
)

// misplaced returns the objection of a strict provider to a request's history: each call must be followed by its
// result, in the order of the calls.
func misplaced(body []byte) string {
	var request struct {
		Messages []struct {
			Role   string
			CallID string                `json:"tool_call_id"`
			Calls  []struct{ ID string } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err.Error()
	}
	var open []struct{ ID string }
	for _, m := range request.Messages {
		switch {
		case m.Role == "tool" && (len(open) == 0 || open[0].ID != m.CallID):
			return "The result " + m.CallID + " has no call before it."
		case m.Role == "tool":
			open = open[1:]
		case len(open) > 0:
			return "The call " + open[0].ID + " must be followed by its result."
		default:
			open = m.Calls
		}
	}
	if len(open) > 0 {
		return "The call " + open[0].ID + " has no result."
	}
	return ""
}

// provider serves the responses in order, repeating the last, with a flush after each step bytes. It refuses a
// history with a misplaced result.
func provider(t *testing.T, step int, replies ...wired) (*openai.Model, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reply := replies[min(int(asked.Add(1)), len(replies))-1]
		if wrong := misplaced(body); wrong != "" {
			reply = wired{
				status: http.StatusBadRequest, kind: "application/json",
				body: `{"error":{"message":` + strconv.Quote(wrong) + `,"type":"invalid_request_error"}}`,
			}
		}
		if reply.kind == "" {
			reply.kind = "text/event-stream"
		}
		w.Header().Set("Content-Type", reply.kind)
		if reply.after != "" {
			w.Header().Set("Retry-After", reply.after)
		}
		w.WriteHeader(max(reply.status, http.StatusOK))
		each := step
		if len(reply.body) > 1<<20 {
			each = 1 << 16
		}
		for part := range slices.Chunk([]byte(reply.body), each) {
			if _, err := w.Write(part); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
		switch {
		case reply.reset:
			panic(http.ErrAbortHandler)
		case reply.silent:
			select {
			case <-r.Context().Done():
			case <-gone:
			}
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(gone) })
	m, err := openai.New(openai.Config{
		BaseURL: server.URL + "/v1", Model: "m", Log: slog.New(slog.DiscardHandler), FirstToken: 2 * time.Second,
		Idle: 2 * time.Second, RetryFor: 20 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m, &asked
}

// A process dies while one call of a turn waits for approval and the next one has its result. The server that
// resumes the run reads the first call last: for a strict provider, a result without its call and a call without its
// result.
func TestResumedRunSendsCompleteHistory(t *testing.T) {
	t.Parallel()
	both := wired{
		body: events(toolCalls(
			`{"index":0,"id":"w1","function":{"name":"web_search","arguments":"{\"query\":\"slate roof\"}"}}`,
		),
			toolCalls(
				`{"index":1,"id":"s1","function":{"name":"search_documents","arguments":"{\"query\":\"holiday\"}"}}`,
			),
			ends("tool_calls"), theEnd),
	}
	for _, way := range []struct {
		name string
		step int // bytes
	}{{"whole", 1 << 20}, {"a byte at a time", 1}} {
		t.Run("43: a history with orphans, "+way.name, func(t *testing.T) {
			t.Parallel()
			in := newInternet(t)
			remote, asked := provider(t, way.step, both, answers)
			model := textcalls.New(remote, textcalls.Auto)
			h := newHarness(t, model, in.withWeb(true))
			run, id := h.askForApproval()
			h.follow(run.ID, func(p chat.Payload) bool {
				s, ok := p.(chat.Step)
				return ok && s.ToolName == "search_documents" && s.Status == chat.StatusComplete
			})
			h.loseRun(run.ID)
			h.startAgent(model, in.withWeb(true), withFallback)
			ctx, stop := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() { h.runs.KeepLeases(ctx) })
			h.follow(run.ID, func(p chat.Payload) bool { s, ok := p.(chat.Step); return ok && s.Step == "restart" })
			waits := func() (n int) {
				for _, p := range h.log(run.ID) {
					if isWaiting(p) {
						n++
					}
				}
				return n
			}
			h.follow(run.ID, func(chat.Payload) bool { return waits() > 1 })
			if err := h.runs.Deny(t.Context(), chat.Local, run.ID, id); err != nil {
				t.Fatal(err)
			}
			got := h.wait(run.ID)
			stop()
			wg.Wait()
			if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 || asked.Load() != 2 {
				t.Errorf("answer %q with %d citations after %d requests:%s; want %q, 1 citation, 2",
					a.Markdown, len(a.Citations), asked.Load(), dump(got.log), goodAnswer)
			}
			for _, s := range got.ended() {
				if s.Step == "fallback" || s.ToolName == "search_documents" && s.Status != chat.StatusComplete ||
					s.ToolName == "web_search" && s.Status == chat.StatusRunning {
					t.Errorf("step %s ended as %s: %s, want other than %q", s.Step, s.Status, s.Message, "fallback")
				}
			}
			if strings.Contains(got.text(), "result") {
				t.Errorf("the user sees %q, want no %q in it", got.text(), "result")
			}
			h.checkStored(got)
		})
	}
}
