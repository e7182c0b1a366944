package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text/english"
)

// used runs calls one turn after the other and returns their steps.
func (h *harness) used(req chat.RunRequest, cs ...llm.Call) []chat.Step {
	h.Helper()
	replies := make([]scripted.Reply, 0, len(cs)+1)
	for _, c := range cs {
		replies = append(replies, calls(c))
	}
	h.startAgent(scripted.New(append(replies, says(english.Refusal))...), func(c *Config) {
		c.Features = run.Features{Selection: tools.SelectModel, Without: []string{"refine"}} // these calls alone
	})
	var out []chat.Step
	for _, s := range h.answer(req).ended() {
		if s.ToolName != "" {
			out = append(out, s)
		}
	}
	return out
}

func TestEveryToolShowsResult(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	read := call("read_document", `{"doc_id":"Survey.md"}`)
	for _, tt := range []struct {
		name             string
		first            *llm.Call
		call             llm.Call
		status           chat.Status
		message, summary string
		output           string // part of it
	}{
		{"search", nil, search("roof condition"), chat.StatusComplete, "Found 1 document", "in 1 document",
			`"total_found":1`},
		{"search for nothing", nil, search("zzyzx"), chat.StatusComplete, "Found 0 documents", "nothing found",
			`"documents":[]`},
		{"read by title", nil, call("read_document", `{"doc_id":"Staff handbook"}`), chat.StatusComplete,
			"Read Handbook.md", "passage", `"content":"[1] (b`},
		{"read what is not there", nil, call("read_document", `{"doc_id":"qqqq-wwww-zzzz"}`), chat.StatusError,
			"Reading qqqq-wwww-zzzz", "", "There is no document"},
		{"read a page too far", nil, call("read_document", `{"doc_id":"Survey.md","page":9}`), chat.StatusError,
			"Reading Survey.md", "", "no part 9. The last part is 1"},
		{"read several", nil, call("read_multiple_documents", `{"doc_ids":["Survey.md","Handbook.md","Survey.md"]}`),
			chat.StatusComplete, "Read 2 documents", "in 2 documents", `"filename":"Handbook.md"`},
		{"summarise", nil, call("get_document_summary", `{"doc_id":"Survey.md"}`), chat.StatusComplete,
			"Summarized Survey.md", "key sentence", `"outline":["Building survey`},
		{"rank", nil, call("rerank_documents", `{"doc_ids":["Survey.md","Handbook.md"],"query":"holiday"}`),
			chat.StatusComplete, "Ranked 2 documents", "Handbook.md first", `"score":0`},
		{"by metadata", nil, call("metadata_search", `{"filters":{"title":"survey","type":"markdown"}}`),
			chat.StatusComplete, "Found 1 document", "title: survey, type: markdown", `"Survey.md"`},
		{"by a bad date", nil, call("metadata_search", `{"filters":{"added_after":"last week"}}`), chat.StatusError,
			"Looking for documents with added after: last week", "", "2026-01-31"},
		{"list", nil, call("list_documents", `{}`), chat.StatusComplete, "Listed 2 documents", "page 1",
			`"more":false`},
		{"list a page too far", nil, call("list_documents", `{"page":3}`), chat.StatusError, "Listing the documents",
			"", "The list has 1 page."},
		{"grep", nil, call("grep_documents", `{"pattern":"£3,\\d+"}`), chat.StatusComplete, "Found 1 match",
			"1 match in 1 document", `"n":1`},
		{"grep what does not compile", nil, call("grep_documents", `{"pattern":"1987 by ("}`), chat.StatusComplete,
			"Found 0 matches", "", `"literal":true`},
		{"calculate", nil, call("calculate", `{"expression":"3,400 * 2"}`), chat.StatusComplete, "3,400 * 2 = 6800",
			"6800", `"exact":true`},
		{"calculate nonsense", nil, call("calculate", `{"expression":"9**9**9"}`), chat.StatusError,
			"Calculating 9**9**9", "", "too large"},
		{
			"cite", &read,
			call(
				"cite_source", `{"cited_text":"the roof was last renewed in 1987","block_id":"b1","citation_number":2}`,
			), chat.StatusComplete, "Quote found", "", `"quote":"The roof was last renewed in 1987`,
		},
		{"cite words that are not there", &read,
			call(
				"cite_source",
				`{"cited_text":"The roof is made of gold and diamonds","block_id":"b1","citation_number":1}`,
			), chat.StatusError, "Checking a quote from Survey.md", "", "Quote not found in passage 1"},
		{"cite an unknown passage", nil, call("cite_source", `{"cited_text":"x","block_id":"b1","citation_number":7}`),
			chat.StatusError, "Checking a quote", "", "Passage 7 not found"},
		{"open", &read, call("open_document", `{"citation_number":1,"reason":"You asked to see it"}`),
			chat.StatusComplete, "Opened Survey.md", "You asked to see it", `"opened":true`},
		{"open an unknown passage", nil, call("open_document", `{"citation_number":1,"reason":"x"}`), chat.StatusError,
			"Opening a document", "", "Passage 1 not found"},
	} {
		var cs []llm.Call
		if tt.first != nil {
			cs = append(cs, *tt.first)
		}
		steps := h.used(asks("What about the "+tt.name+"?"), append(cs, tt.call)...)
		s := steps[len(steps)-1]
		if s.Status != tt.status || !strings.HasPrefix(s.Message, tt.message) ||
			!strings.Contains(s.Summary, tt.summary) || !strings.Contains(string(s.ToolOutput), tt.output) {
			t.Errorf("%s: %s, %q, %q, %s; want %s, %q at its beginning, %q in it",
				tt.name, s.Status, s.Message, s.Summary, s.ToolOutput, tt.status, tt.message, tt.summary)
		}
		if !json.Valid(s.ToolInput) || s.OutputSize == 0 || (s.Error != nil) != (s.Status == chat.StatusError) {
			t.Errorf("%s: step = %+v, want other than 0", tt.name, s)
		}
	}
}

func TestToolsRespectQuestionScope(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	docs, _, err := h.library.List(t.Context(), chat.Local, corpus.Filter{Sort: "title"})
	if err != nil {
		t.Fatal(err)
	}
	surveyID, handbookID := docs[0].ID, docs[1].ID
	everything := []llm.Call{
		search("holiday"), call("read_document", `{"doc_id":"`+handbookID+`"}`),
		call("read_multiple_documents", `{"doc_ids":["`+handbookID+`"]}`),
		call("get_document_summary", `{"doc_id":"`+handbookID+`"}`),
		call("rerank_documents", `{"doc_ids":["`+handbookID+`"],"query":"holiday"}`),
		call("grep_documents", `{"pattern":"holiday"}`), call("metadata_search", `{"filters":{"title":"handbook"}}`),
		call("list_documents", `{}`),
	}
	check := func(name string, steps []chat.Step) {
		t.Helper()
		if len(steps) != len(everything) {
			t.Fatalf("%s: %d steps, want %d steps", name, len(steps), len(everything))
		}
		for _, s := range steps {
			if strings.Contains(string(s.ToolOutput), "28 days") || strings.Contains(string(s.ToolOutput), "Staff") {
				t.Errorf("%s: %s reached another document: %s", name, s.ToolName, s.ToolOutput)
			}
		}
	}
	check(
		"narrowed to another document",
		h.used(chat.RunRequest{Message: "How many days of holiday?", DocumentIDs: []string{surveyID}}, everything...),
	)
	if _, _, err := h.library.Add(t.Context(), corpus.Upload{
		User: chat.LocalUser, Namespace: "elsewhere", Filename: "a.md", Body: strings.NewReader("# Else\n"),
	}); err != nil {
		t.Fatal(err)
	}
	check(
		"in another namespace", h.used(chat.RunRequest{Message: "How many days of holiday?", Namespace: "elsewhere"},
			everything...),
	)
}

func TestLongOutputIsTruncatedInEventAndStored(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	var long strings.Builder
	for i := range 60 {
		fmt.Fprintf(&long, "## Part %d\n\nThe length of part %d is measured in 日本語 and other words. %s\n\n", i, i,
			strings.Repeat("It goes on and on without an end. ", 12))
	}
	p, err := h.db.Documents().Count(t.Context(), chat.Local)
	if err != nil || p.Documents != 2 {
		t.Fatal(p, err)
	}
	h.add("Long.md", long.String())
	h.startAgent(scripted.New(calls(call("read_document", `{"doc_id":"Long.md"}`)), says(english.Refusal)))
	got := h.answer(asks("How long is it?"))
	s := got.step("read_document")
	if n := utf8.RuneCount(s.ToolOutput); !s.Truncated || n > tools.MaxOutput || !json.Valid(s.ToolOutput) {
		t.Fatalf("%d characters, truncated %v, want at most %d", n, s.Truncated, tools.MaxOutput)
	}
	whole, err := h.store.StepOutput(t.Context(), chat.Local, got.runID, s.CallID)
	if err != nil || len(whole) != s.OutputSize || len(whole) <= tools.MaxOutput {
		t.Errorf("whole output has %d bytes, said %d, %v; want %d and more than %d",
			len(whole), s.OutputSize, err, s.OutputSize, tools.MaxOutput)
	}
	var out struct {
		Content  string
		Pages    int
		Passages []struct {
			ChunkID string `json:"chunk_id"`
		}
	}
	if err := json.Unmarshal(s.ToolOutput, &out); err != nil || len(out.Passages) < 5 ||
		out.Passages[0].ChunkID == "" || out.Content == "" || out.Pages < 2 {
		t.Errorf("cut output = %+v, %v; want at least 5 passages, something, something, Pages at least 2", out, err)
	}
}

// faulty is a library with a custom search function.
type faulty struct {
	tools.Library
	search func(context.Context) error
}

func (f faulty) Search(ctx context.Context, s chat.Scope, q corpus.Query) (corpus.Results, error) {
	if err := f.search(ctx); err != nil {
		return corpus.Results{}, err
	}
	return f.Library.Search(ctx, s, q)
}

func untilStopped(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestToolErrorIsObservation(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	for _, tt := range []struct {
		name   string
		search func(context.Context) error
		limit  time.Duration // for the tool that reads too, which succeeds
		code   chat.Code
		says   string
	}{
		{"by an error", func(context.Context) error { return errors.New("secret: disk on fire") }, time.Minute,
			chat.CodeInternal, "Internal server error"},
		{"by taking too long", untilStopped, 3 * time.Second, chat.CodeTimeout, "timed out after"},
		{"by a panic", func(context.Context) error { panic("a bug") }, time.Minute, chat.CodeInternal,
			"Continue without it"},
	} {
		fails := func(c *Config) { c.Library, c.ToolTimeout = faulty{h.library, tt.search}, tt.limit }
		h.startAgent(
			scripted.New(calls(search("holiday")), calls(call("read_document", `{"doc_id":"Handbook.md"}`)),
				says(goodAnswer)), fails,
		)
		got := h.answer(asks("How many days of holiday are there?"))
		if a := got.answer(); len(a.Citations) != 1 {
			t.Errorf("%s: answer = %+v, want 1 citation", tt.name, a)
		}
		s := got.step("search_documents")
		if s.Status != chat.StatusError || s.Error.Code != tt.code ||
			!strings.Contains(string(s.ToolOutput), tt.says) || strings.Contains(dump(got.log), "secret") {
			t.Errorf("%s: step = %+v, %s; want Status %v and Error.Code %v",
				tt.name, s, s.ToolOutput, chat.StatusError, tt.code)
		}
	}
}

func TestSlowCallIsShownAndCancelledWithRun(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	isRunning := func(p chat.Payload) bool {
		s, ok := p.(chat.Step)
		return ok && s.ToolName == "search_documents" && s.Status == chat.StatusRunning
	}
	var stopped sync.WaitGroup
	slow := func(c *Config) {
		c.Library = faulty{
			h.library, func(ctx context.Context) error { defer stopped.Done(); return untilStopped(ctx) },
		}
	}
	stopped.Add(2)
	h.startAgent(scripted.New(calls(search("holiday"), search("leave"))), slow)
	run := h.ask(asks("How many days of holiday are there?"))
	h.follow(run.ID, isRunning)
	if err := h.runs.Cancel(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	got := h.wait(run.ID)
	stopped.Wait()
	if got.done().Status != chat.RunCancelled {
		t.Errorf("done = %+v, want Status %v", got.done(), chat.RunCancelled)
	}
	for _, s := range got.ended() {
		if s.Status == chat.StatusRunning || s.ToolName != "" && s.Status != chat.StatusCancelled {
			t.Errorf("step %s was left %s, want other than %s", s.Step, s.Status, chat.StatusRunning)
		}
	}
	stopped.Add(1)
	h.startAgent(scripted.New(calls(search("holiday")), says("I could not look it up.")), slow)
	run = h.ask(asks("How many days of holiday are there?"))
	h.follow(run.ID, isRunning)
	if err := h.runs.AnswerNow(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	got = h.wait(run.ID)
	if s := got.step("search_documents"); s.Status != chat.StatusCancelled ||
		got.answer().StopReason != chat.StopRefused {
		t.Errorf("step = %+v, answer = %+v; want Status %v and StopReason %v",
			s, got.answer(), chat.StatusCancelled, chat.StopRefused)
	}
}

func TestCallsWaitingForSlotAreShown(t *testing.T) {
	t.Parallel()
	const most = 9 // one more than run at the same time
	h := newHarness(t, scripted.New())
	asked := make([]llm.Call, most)
	for i := range asked {
		asked[i] = search(fmt.Sprintf("holiday %d", i))
	}
	h.startAgent(scripted.New(calls(asked...)), func(c *Config) { c.Library = faulty{h.library, untilStopped} })
	run := h.ask(asks("How many days of holiday are there?"))
	running := map[string]bool{}
	h.follow(run.ID, func(p chat.Payload) bool {
		if s, ok := p.(chat.Step); ok && s.ToolName == "search_documents" && s.Status == chat.StatusRunning {
			running[s.CallID] = true
		}
		return len(running) == most || isDone(p)
	})
	if len(running) != most {
		t.Errorf("%d calls were shown as running, want %d", len(running), most)
	}
	if err := h.runs.Cancel(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	if got := h.wait(run.ID).done(); got.Status != chat.RunCancelled {
		t.Errorf("run ended %s, want %s", got.Status, chat.RunCancelled)
	}
}

func TestParallelCallsOverlap(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	var both sync.WaitGroup
	both.Add(2)
	meet := func(ctx context.Context) error { // each waits until the other has begun
		both.Done()
		met := make(chan struct{})
		go func() { both.Wait(); close(met) }()
		select {
		case <-met:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	h.startAgent(scripted.New(calls(search("holiday"), search("leave")), says(goodAnswer)),
		func(c *Config) { c.Library = faulty{h.library, meet} })
	for _, s := range h.answer(asks("How many days of holiday are there?")).ended() {
		if s.ToolName != "" && s.Status != chat.StatusComplete {
			t.Errorf("step = %+v", s)
		}
	}
}

func TestLostLeaseStopsEvents(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	h.startAgent(hanging{text: "There"}, func(c *Config) { c.Exclusive, c.Lease = false, 300*time.Millisecond })
	run := h.ask(asks("Wait"))
	h.follow(run.ID, isDelta)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	other := chat.Lease{Owner: "other", Until: time.Now().Add(time.Hour)}
	if taken, err := h.store.TakeOver(ctx, other, time.Now().Add(time.Hour)); err != nil || len(taken) != 1 {
		t.Fatalf("TakeOver = %v, %v; want 1", taken, err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { h.runs.KeepLeases(ctx) })
	for held := true; held; {
		h.runs.mu.Lock()
		_, held = h.runs.active[run.ID]
		h.runs.mu.Unlock()
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("lease was not released")
		}
	}
	stop()
	wg.Wait()
	for _, p := range h.log(run.ID) {
		if isDone(p) {
			t.Errorf("run_done by a server without the lease:%s", dump(h.log(run.ID)))
		}
	}
}

func TestIdleConversationIsDeletedAfterThirtyDays(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t,
			scripted.NewScript(func(scripted.Request) scripted.Reply { return says(english.Refusal) }),
			func(c *Config) {
				c.KeepSessions, c.Lease = 30*day, 12*time.Hour
			})
		go h.runs.KeepLeases(t.Context())
		ask := func(session string) {
			h.answer(chat.RunRequest{SessionID: session, Message: "Hello!"})
		}
		there := func(session string) bool {
			_, err := h.store.Session(t.Context(), chat.Local, session)
			if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
				t.Fatal(err)
			}
			return err == nil
		}
		ask("left")
		ask("used")
		time.Sleep(20 * day)
		ask("used")
		time.Sleep(9 * day)
		if !there("left") || !there("used") {
			t.Errorf("after 29 days: kept %v, %v, want both", there("left"), there("used"))
		}
		time.Sleep(2 * day)
		if there("left") || !there("used") {
			t.Errorf("after 31 days: kept %v, %v, want the used one only", there("left"), there("used"))
		}
		time.Sleep(30 * day)
		if there("used") {
			t.Error("conversation is never deleted")
		}
	})
}

func TestDailyLimitOfHundredQuestions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, scripted.New())
		h.store.SetLimits(chat.Limits{chat.QuestionsPerDay: 100})
		ask := func() error {
			_, _, err := h.store.StartRun(t.Context(), "anna", asks("Why?"),
				chat.Lease{Owner: "one", Until: time.Now().Add(time.Minute)})
			return err
		}
		for i := range 100 {
			if err := ask(); err != nil {
				t.Fatalf("question %d: %v, want no error", i+1, err)
			}
			time.Sleep(time.Minute)
		}
		if err := ask(); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
			t.Fatalf("one more: %v, want %v", err, chat.CodeTooMany)
		}
		// the first of them is a day old and makes room for one
		time.Sleep(24*time.Hour - 100*time.Minute + time.Second)
		if err := ask(); err != nil {
			t.Errorf("a day later: %v, want no error", err)
		}
		if err := ask(); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
			t.Errorf("and another: %v, want %v", err, chat.CodeTooMany)
		}
	})
}
