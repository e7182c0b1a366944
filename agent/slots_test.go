package agent

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/runtest"
	"github.com/footnote/footnote/text/english"
)

// begin starts a run of a user.
func (h *harness) begin(user, session string) (chat.Run, error) {
	h.Helper()
	run, _, err := h.runs.Start(h.Context(), user, chat.RunRequest{
		SessionID: session, Message: "How many days of holiday are there?",
	})
	return run, err
}

// ended waits for the end of a user's run.
func (h *harness) ended(user, runID string) chat.Run {
	h.Helper()
	scope := chat.Scope{User: user}
	wake, stop := h.feed.Watch(runID)
	defer stop()
	for {
		news := wake()
		run, err := h.store.Run(h.Context(), scope, runID)
		if err != nil {
			h.Fatal(err)
		}
		if run.Status != chat.RunRunning {
			return run
		}
		<-news
	}
}

// waitUntil polls until a condition holds.
func (h *harness) waitUntil(what string, ok func() bool) {
	h.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			h.Fatalf("%s: not so after 20 s", what)
		}
	}
}

func TestUserLimitLeavesSlotsToOthers(t *testing.T) {
	t.Parallel()
	shared := true
	h := newHarness(t, hanging{}, func(c *Config) { c.MaxRuns, c.Shared = 4, func() bool { return shared } })
	h.addForUser("anna", "handbook.md", runtest.Handbook, "holiday")
	h.addForUser("bert", "handbook.md", runtest.Handbook, "holiday")
	for i := range 2 {
		if _, err := h.begin("anna", ""); err != nil {
			t.Fatalf("anna's question %d: %v, want no error", i+1, err)
		}
	}
	if _, err := h.begin("anna", ""); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("anna's third question of four places: %v, want it refused", err)
	}
	if _, err := h.begin("bert", ""); err != nil {
		t.Errorf("bert's first question: %v, want no error", err)
	}
	if _, err := h.begin("bert", ""); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("bert's second question, with one place left: %v, want it refused", err)
	}
	shared = false
	if _, err := h.begin("anna", ""); err != nil {
		t.Errorf("last slot without other users: %v, want no error", err)
	}
	if _, err := h.begin("carl", ""); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("a fifth question: %v, want it refused", err)
	}
}

func TestSlotsAreReleased(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{}, func(c *Config) { c.MaxRuns, c.Shared = 2, func() bool { return true } })
	for range 3 {
		run, err := h.begin("anna", "s")
		if err != nil {
			t.Fatal(err)
		}
		if err := h.runs.Cancel(t.Context(), chat.Scope{User: "anna"}, run.ID); err != nil &&
			chat.CodeOf(err) != chat.CodeConflict {
			t.Fatal(err)
		}
		h.ended("anna", run.ID)
		h.waitIdle(h.runs)
	}
	h.runs.mu.Lock()
	defer h.runs.mu.Unlock()
	if len(h.runs.slots) != 0 || len(h.runs.deferred) != 0 {
		t.Errorf("places %v and held %v are left, want none", h.runs.slots, h.runs.deferred)
	}
}

func TestBackgroundWorkYieldsToRuns(t *testing.T) {
	t.Parallel()
	var held atomic.Int64
	h := newHarness(t, hanging{}, func(c *Config) {
		c.GiveWay = func() (release func()) {
			held.Add(1)
			return func() { held.Add(-1) }
		}
	})
	h.addForUser("anna", "handbook.md", runtest.Handbook, "holiday")
	for i := range 2 {
		run, err := h.begin("anna", "s")
		if err != nil {
			t.Fatal(err)
		}
		h.waitUntil("other work waits for run "+strconv.Itoa(i+1), func() bool { return held.Load() == 1 })
		if err := h.runs.Cancel(t.Context(), chat.Scope{User: "anna"}, run.ID); err != nil {
			t.Fatal(err)
		}
		h.ended("anna", run.ID)
		h.waitUntil("other work goes on", func() bool { return held.Load() == 0 })
	}
}

func TestIdempotentRepeatNeedsNoSlot(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{}, func(c *Config) { c.MaxRuns = 1 })
	req := chat.RunRequest{Message: "How many days of holiday are there?", IdempotencyKey: "key"}
	first := h.ask(req)
	again, fresh, err := h.runs.Start(t.Context(), chat.LocalUser, req)
	if err != nil || fresh || again.ID != first.ID {
		t.Errorf("the same again = %s, fresh %v, %v; want %s", again.ID, fresh, err, first.ID)
	}
}

func TestQueuedQuestionWaitsForConcurrencyLimit(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{})
	h.store.SetLimits(chat.Limits{chat.RunsAtOnce: 1})
	h.addForUser("anna", "handbook.md", runtest.Handbook, "holiday")
	anna := chat.Scope{User: "anna"}
	cancel := func(run chat.Run) {
		t.Helper()
		if err := h.runs.Cancel(t.Context(), anna, run.ID); err != nil {
			t.Fatal(err)
		}
		h.ended("anna", run.ID)
	}
	run, err := h.begin("anna", "b")
	if err != nil {
		t.Fatal(err)
	}
	cancel(run)
	h.waitIdle(h.runs) // after the second run the queued question is active
	if run, err = h.begin("anna", "a"); err != nil {
		t.Fatal(err)
	}
	q, err := h.runs.Enqueue(t.Context(), anna, chat.RunRequest{SessionID: "b", Message: "And how many unused ones?"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := h.store.Queue(t.Context(), anna, "b")
	if err != nil || len(list) != 1 || list[0].Problem != "" {
		t.Fatalf("waiting = %+v, %v; want one question without a problem", list, err)
	}
	if err := h.store.EditQueued(t.Context(), anna, "b", q.ID, "And how many are unused?"); err != nil {
		t.Errorf("it can't be changed while it waits: %v, want no error", err)
	}
	cancel(run)
	var runs []chat.Run
	h.waitUntil("the question that waited is asked", func() bool {
		runs, err = h.store.Runs(t.Context(), anna, "b")
		return err != nil || len(runs) == 2
	})
	if err != nil || runs[1].Request.Message != "And how many are unused?" {
		t.Fatalf("runs of the conversation = %+v, %v; want the question that waited", runs, err)
	}
}

func TestQueuedQuestionBeyondDailyLimitIsReported(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{})
	h.store.SetLimits(chat.Limits{chat.QuestionsPerDay: 1})
	h.addForUser("anna", "handbook.md", runtest.Handbook, "holiday")
	anna := chat.Scope{User: "anna"}
	run, err := h.begin("anna", "s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.runs.Enqueue(t.Context(), anna, chat.RunRequest{SessionID: "s", Message: "And then?"}); err != nil {
		t.Fatal(err)
	}
	if err := h.runs.Cancel(t.Context(), anna, run.ID); err != nil {
		t.Fatal(err)
	}
	h.waitUntil("the waiting question says why it waits", func() bool {
		list, err := h.store.Queue(t.Context(), anna, "s")
		return err != nil || len(list) == 1 && strings.Contains(list[0].Problem.String(), "1 question in 24 hours")
	})
}

func TestAnswerTokensCountTowardsUserQuota(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.NewScript(func(scripted.Request) scripted.Reply {
		return scripted.Reply{Text: english.Refusal, Usage: &llm.Usage{In: 60, Out: 50}}
	}))
	h.store.SetLimits(chat.Limits{chat.TokensPerDay: 100})
	run, err := h.begin("anna", "")
	if err != nil {
		t.Fatal(err)
	}
	h.ended("anna", run.ID)
	h.waitIdle(h.runs)
	if err := h.store.CheckQuota(context.WithoutCancel(t.Context()), "anna", chat.ResourceTokens); err == nil {
		t.Error("there is room for more tokens, want none")
	}
	if _, err := h.begin("anna", ""); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("another question: %v, want it refused", err)
	}
	if _, err := h.begin("bert", ""); err != nil {
		t.Errorf("another user's: %v, want no error", err)
	}
}

// addForUser adds a document of another user and returns its id and that of its first passage.
func (h *harness) addForUser(user, name, body, words string) (id, passage string) {
	h.Helper()
	ctx, stop := context.WithCancel(h.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := h.library.Run(ctx); err != nil && ctx.Err() == nil {
			h.Errorf("library: %v", err)
		}
	})
	defer wg.Wait()
	defer stop()
	theirs := chat.Scope{User: user}
	doc, _, err := h.library.Add(h.Context(), corpus.Upload{User: user, Filename: name, Body: strings.NewReader(body)})
	if err != nil {
		h.Fatal(err)
	}
	if err := h.library.Wait(h.Context(), theirs, func(corpus.Counts) {}); err != nil {
		h.Fatal(err)
	}
	found, err := h.library.Search(h.Context(), theirs, queryFor(words))
	if err != nil || len(found.Results) == 0 {
		h.Fatalf("the owner finds nothing: %v", err)
	}
	return doc.ID, found.Results[0].Passage.ID
}

// A request for another user's document gets the same response as for one that never existed.
func TestDocumentOfOtherUserIsNotFound(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	id, passage := h.addForUser("ben", "Quokka.md",
		"# Quokka ledger\n\nThe quokka account holds 977 marsupial coins.\n", "quokka account")
	foreign := strings.NewReplacer("ID", id, "PASSAGE", passage, "FILE", "Quokka.md", "TITLE", "Quokka ledger",
		"WORD", "quokka")
	unknown := strings.NewReplacer("ID", chat.NewID(), "PASSAGE", strings.Repeat("x", len(passage)), "FILE",
		"Zyzzyv.md", "TITLE", "Zyzzyv ledger", "WORD", "zyzzyv")
	read := call("read_document", `{"doc_id":"Survey.md"}`)
	for _, tt := range []struct {
		Set, tool, args string
	}{
		{"cursor", "search_documents", `{"query":"WORD marsupial coins"}`},
		{"cursor", "read_document", `{"doc_id":"ID"}`},
		{"cursor", "read_document", `{"doc_id":"ID","focus_query":"WORD","page":2}`},
		{"cursor", "read_document", `{"doc_id":"FILE"}`},
		{"cursor", "read_document", `{"doc_id":"TITLE"}`},
		{"cursor", "read_document", `{"doc_id":"PASSAGE"}`},
		{"cursor", "read_multiple_documents", `{"doc_ids":["ID"]}`},
		{"cursor", "read_multiple_documents", `{"doc_ids":["Survey.md","ID","FILE"]}`},
		{"cursor", "get_document_summary", `{"doc_id":"ID"}`},
		{"cursor", "rerank_documents", `{"doc_ids":["ID"],"query":"coins"}`},
		{"cursor", "rerank_documents", `{"doc_ids":["Survey.md","ID"],"query":"coins"}`},
		{"cursor", "grep_documents", `{"pattern":"marsupial","doc_ids":["ID"]}`},
		{"cursor", "grep_documents", `{"pattern":"WORD"}`},
		{"cursor", "metadata_search", `{"filters":{"title":"TITLE"}}`},
		{"cursor", "metadata_search", `{"filters":{"id":"ID"}}`},
		{"cursor", "list_documents", `{"filters":{"title":"WORD"}}`},
		{"cursor", "cite_source",
			`{"cited_text":"The WORD account holds 977 marsupial coins","block_id":"PASSAGE","citation_number":3}`},
		{"cursor", "cite_source",
			`{"cited_text":"The WORD account holds 977 marsupial coins","block_id":"b1","citation_number":1}`},
		{"cursor", "open_document", `{"citation_number":9,"reason":"TITLE"}`},
		{"react", "retrieve", `{"query":"WORD marsupial coins"}`},
		{"react", "lookup", `{"doc_id":"ID","query":"coins"}`},
		{"react", "lookup", `{"doc_id":"FILE","query":"coins"}`},
		{"strategy", "hybrid_search", `{"query":"WORD marsupial coins"}`},
		{"strategy", "semantic_search", `{"query":"WORD marsupial coins"}`},
		{"documentation", "retrieve_documentation", `{"query":"WORD marsupial coins","top_k":3}`},
	} {
		t.Run(tt.tool+" "+tt.args, func(t *testing.T) {
			told := func(who *strings.Replacer, only ...string) string {
				cs := []llm.Call{call(tt.tool, who.Replace(tt.args))}
				if tt.Set == "cursor" {
					cs = append([]llm.Call{read}, cs...)
				}
				req := asks("What is known of it?")
				req.Toolset, req.DocumentIDs = tt.Set, only
				steps := h.used(unplanned(req), cs...)
				s := steps[len(steps)-1]
				if s.ToolName != tt.tool {
					t.Fatalf("%s was called, want %s", s.ToolName, tt.tool)
				}
				all, err := json.Marshal([]any{s.Status, s.Message, s.Summary, s.Error, s.ToolOutput, s.Details})
				if err != nil {
					t.Fatal(err)
				}
				return string(all)
			}
			blank := func(text string) string {
				for _, pair := range [][2]string{{"Quokka.md", "Zyzzyv.md"}, {"Quokka", "Zyzzyv"}, {"quokka", "zyzzyv"},
					{id, unknown.Replace("ID")}, {passage, unknown.Replace("PASSAGE")}} {
					text = strings.ReplaceAll(text, pair[0], pair[1])
				}
				return text
			}
			theirs, nobodys := told(foreign), told(unknown)
			if blank(theirs) != nobodys {
				t.Errorf("other user's document:\n%s\nunknown document:\n%s", theirs, nobodys)
			}
			if strings.Contains(theirs, "977 marsupial") && tt.tool != "cite_source" {
				t.Errorf("response has text of the document: %s", theirs)
			}
		})
	}
	narrowed := func(only string) string {
		req := asks("What is known of the coins?")
		req.DocumentIDs = []string{only}
		_, _, err := h.runs.Start(t.Context(), chat.LocalUser, req)
		if err == nil || chat.CodeOf(err) != chat.CodeNotFound {
			t.Errorf("narrowed to %s: %v, want %v", only, err, chat.CodeNotFound)
			return ""
		}
		return strings.ReplaceAll(chat.MessageOf(err).String(), only, "X")
	}
	if theirs, nobodys := narrowed(id), narrowed(chat.NewID()); theirs != nobodys {
		t.Errorf("narrowed to another user's: %s, to none: %s, want %s", theirs, nobodys, nobodys)
	}
}

// react asks with the toolset react, without the model's planning and self-evaluation, which are on by default.
func react(text string) chat.RunRequest {
	return unplanned(chat.RunRequest{Message: text, Toolset: "react"})
}

// unplanned disables the features that cost further model calls.
func unplanned(req chat.RunRequest) chat.RunRequest {
	off := false
	req.Config.EnableQueryDecomposition, req.Config.EnableSelfEvaluation = &off, &off
	return req
}

func TestEveryReactAndStrategyToolShowsResult(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	all := []string{"retrieve", "retrieve_more", "lookup", "summarize", "semantic_search", "hybrid_search", "finish"}
	found := call("retrieve", `{"query":"roof"}`)
	for _, tt := range []struct {
		name             string
		first            *llm.Call
		call             llm.Call
		status           chat.Status
		message, summary string
		output           string // part of it
	}{
		{"retrieve", nil, call("retrieve", `{"query":"roof condition"}`), chat.StatusComplete, "Found 1 passage",
			"1 passage in 1 document", `"n":1`},
		{"retrieve nothing", nil, call("retrieve", `{"query":"zzyzx"}`), chat.StatusComplete, "Found 0 passages",
			"nothing found", `"results":[]`},
		{"retrieve more before anything", nil, call("retrieve_more", `{}`), chat.StatusError, "Searching further " +
			"for: ", "",
			"Use retrieve first"},
		{"retrieve more than there is", &found, call("retrieve_more", `{}`), chat.StatusComplete, "Found 0 passages",
			"", "no further passages"},
		{"look up", nil, call("lookup", `{"title":"Staff handbook","query":"sickness"}`), chat.StatusComplete,
			"Read from Handbook.md", "passage", `"passages":[{"n":1`},
		{"look up what is not there", nil, call("lookup", `{"doc_id":"qqqq-wwww-zzzz"}`), chat.StatusError,
			"Reading from qqqq-wwww-zzzz", "", "There is no document"},
		{"summarise passages by number", &found, call("summarize", `{"texts":["[1]"],"focus":"guarantee"}`),
			chat.StatusComplete, "Summarized 1 passage", "", `"summary":"` + english.Refusal}, // by the model
		{"summarise what was not shown", nil, call("summarize", `{"texts":["[9]"]}`), chat.StatusError,
			"Summarizing 1 passage", "", "Passage 9 not found"},
		{"search by meaning without vectors", nil, call("semantic_search", `{"query":"roof"}`), chat.StatusComplete,
			"Found 1 passage", "", "Semantic search is off"},
		{"search both ways", nil, call("hybrid_search", `{"query":"roof","top_k":1}`), chat.StatusComplete,
			"Found 1 passage", "1 passage in 1 document", `"total_results":1`},
	} {
		var cs []llm.Call
		if tt.first != nil {
			cs = append(cs, *tt.first)
		}
		req := asks("What about the " + tt.name + "?")
		req.Config.EnabledTools = all
		steps := h.used(req, append(cs, tt.call)...)
		s := steps[len(steps)-1]
		if s.Status != tt.status || !strings.HasPrefix(s.Message, tt.message) ||
			!strings.Contains(s.Summary, tt.summary) || !strings.Contains(string(s.ToolOutput), tt.output) {
			t.Errorf("%s: %s, %q, %q, %s; want %s, %q at its beginning, %q in it",
				tt.name, s.Status, s.Message, s.Summary, s.ToolOutput, tt.status, tt.message, tt.summary)
		}
	}
}

func TestRetrieveMoreContinuesSearch(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("retrieve", `{"query":"the roof, holiday and sickness","top_k":1}`)),
		calls(call("retrieve_more", `{"top_k":1}`)), calls(call("retrieve_more", `{"top_k":1}`)),
		calls(call("retrieve_more", `{"top_k":1}`)),
		says("The roof was last renewed in 1987 by Harper & Sons [1][2][3]."),
	)
	h := newHarness(t, model)
	got := h.answer(react("What about the roof, holiday and sickness?"))
	seen := map[string]bool{}
	for i, s := range got.ended()[1:5] {
		var out foundPassages
		if err := json.Unmarshal(s.ToolOutput, &out); err != nil || len(out.Results) != 1 {
			if i == 3 && len(out.Results) == 0 && s.Status == chat.StatusComplete {
				continue // all three were shown
			}
			t.Fatalf("search %d: %s, %v", i, s.ToolOutput, err)
		}
		r := out.Results[0]
		if seen[r.ChunkID] || r.N != i+1 {
			t.Errorf("search %d showed %s as %d, want %d", i, r.ChunkID, r.N, i+1)
		}
		seen[r.ChunkID] = true
		if i > 0 && s.Status != chat.StatusComplete {
			t.Errorf("search %d has status %s, want it resumed", i, s.Status)
		}
	}
	if told := model.Requests()[1].Messages; strings.Contains(told[len(told)-1].Text, "chunk_id") {
		t.Error("request has chunk ids, want none")
	}
}

func TestFinishEndsRunWithAnswer(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("retrieve", `{"query":"paid holiday"}`), call("finish", `{"answer":"Too early."}`)),
		scripted.Reply{
			Text: "I have what I need.", Calls: []llm.Call{
				call("finish", `{"answer":"There are 28 days of paid holiday a year [1]."}`),
			},
		},
	)
	h := newHarness(t, model)
	got := h.answer(react("How many days of holiday are there?"))
	a := got.answer()
	if want := "There are 28 days of paid holiday a year [1]."; a.Markdown != want || got.text() != want ||
		len(a.Citations) != 1 || a.StopReason != chat.StopAnswered {
		t.Errorf("answer = %+v, shown %q; want Markdown %v, %q, 1 citation, StopReason %v",
			a, got.text(), want, want, chat.StopAnswered)
	}
	var ends []chat.Step
	for _, s := range got.ended() {
		if s.ToolName == "finish" {
			ends = append(ends, s)
		}
	}
	if len(ends) != 2 || ends[0].Status != chat.StatusSkipped || ends[1].Status != chat.StatusComplete ||
		ends[1].Thought != "I have what I need." {
		t.Fatalf("finish steps = %+v; want 2 ends, %v, %v, %q",
			ends, chat.StatusSkipped, chat.StatusComplete, "I have what I need.")
	}
	if resets := all[chat.AnswerReset](got); len(resets) != 1 || resets[0].CallID != ends[1].CallID {
		t.Errorf("resets = %+v; want 1 reset and %v", resets, ends[1].CallID)
	}
}

func TestFinishAnswerIsChecked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		last []scripted.Reply
		want string
	}{
		{"without footnotes it is asked for them", []scripted.Reply{
			calls(call("finish", `{"answer":"Everybody has four weeks off."}`)),
			calls(call("finish", `{"answer":"There are 28 days of paid holiday a year [1]."}`)),
		}, "There are 28 days of paid holiday a year [1]."},
		{"without an answer it is no end", []scripted.Reply{calls(call("finish", `{}`)), says(goodAnswer)}, goodAnswer},
	} {
		model := scripted.New(append([]scripted.Reply{calls(call("retrieve", `{"query":"paid holiday"}`))},
			tt.last...)...)
		h := newHarness(t, model)
		got := h.answer(react("How many days of holiday are there?"))
		if a := got.answer(); a.Markdown != tt.want || got.text() != tt.want {
			t.Errorf("%s: answer = %q, shown %q; want %q and %q", tt.name, a.Markdown, got.text(), tt.want, tt.want)
		}
	}
}

func TestUnreachedThresholdReportsBestScore(t *testing.T) {
	t.Parallel()
	h := newSemanticHarness(t, scripted.New())
	req := asks("What about slates?")
	req.Toolset = "strategy"
	steps := h.used(req, call("semantic_search", `{"query":"slates missing on the north slope","min_score":0.99}`),
		call("semantic_search", `{"query":"slates missing on the north slope","min_score":0.05,"top_k":1}`))
	if !strings.Contains(string(steps[0].ToolOutput), "No passage reaches a score of 0.99; the best has 0.") ||
		!strings.Contains(string(steps[0].ToolOutput), `"results":[]`) {
		t.Errorf("output = %s", steps[0].ToolOutput)
	}
	if !strings.Contains(string(steps[1].ToolOutput), "Several slates are missing") {
		t.Errorf("output = %s", steps[1].ToolOutput)
	}
}

func TestGenerateAnswerForcesAnswerNextTurn(t *testing.T) {
	t.Parallel()
	model := scripted.New(calls(call("generate_answer", `{}`)), calls(search("paid holiday")),
		calls(call("generate_answer", `{}`)), says(goodAnswer))
	h := newHarness(t, model)
	req := asks("How many days of holiday are there?")
	req.Config.EnabledTools = []string{"search_documents", "generate_answer"}
	got := h.answer(req)
	if a := got.answer(); a.Markdown != goodAnswer || a.StopReason != chat.StopAnswered {
		t.Errorf("answer = %+v; want Markdown %v and StopReason %v", a, goodAnswer, chat.StopAnswered)
	}
	var forced []bool
	for _, r := range model.Requests() {
		forced = append(forced, r.NoTools)
	}
	if diff := cmp.Diff([]bool{false, false, false, true}, forced); diff != "" {
		t.Errorf("text alone was wanted (-want +got):\n%s", diff)
	}
	if s := got.step("generate_answer"); s.Status != chat.StatusError ||
		!strings.Contains(string(s.ToolOutput), "Search first") {
		t.Errorf("with nothing found = %+v, want Status %v", s, chat.StatusError)
	}
}

func TestSummarizeUsesModel(t *testing.T) {
	t.Parallel()
	const written = "You get 28 days off a year [1]."
	for _, tt := range []struct {
		name       string
		reply      scripted.Reply
		want, lack string
	}{
		{"a model", says(written + " The moon is far [9]."), written + " The moon is far.", "[9]"},
		{"a model that fails", fails(llm.KindServer), "Every employee is entitled to 28 days", written},
	} {
		model := scripted.New(
			calls(call("retrieve", `{"query":"paid holiday"}`)),
			calls(call("summarize", `{"texts":["[1]"],"focus":"holiday"}`)), tt.reply, says(goodAnswer),
		)
		h := newHarness(t, model)
		off := new(bool)
		got := h.answer(chat.RunRequest{
			Message: "How many days of holiday are there?", Toolset: "react",
			Config: chat.RunConfig{EnableQueryDecomposition: off, EnableSelfEvaluation: off},
		})
		s := got.step("summarize")
		if out := string(s.ToolOutput); !strings.Contains(out, tt.want) || strings.Contains(out, tt.lack) {
			t.Errorf("%s: summarize returned %s, want %q and no %q", tt.name, out, tt.want, tt.lack)
		}
		if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 {
			t.Errorf("%s: answer = %q, want %q", tt.name, a.Markdown, goodAnswer)
		}
		asked := model.Requests()[2]
		if said := asked.Messages[1].Text; len(asked.Tools) > 0 || !strings.Contains(said, "[1] ") ||
			!strings.Contains(said, "28 days") || !strings.Contains(asked.Messages[0].Text, "Focus on: holiday") {
			t.Errorf("%s: the model was asked %+v, want the passage with its number and the focus", tt.name, asked)
		}
		if tt.lack == "[9]" && s.Tokens.In != 200 {
			t.Errorf("%s: the step took %+v, want what the turn and the summary took", tt.name, s.Tokens)
		}
	}
}

func TestToolLimitBoundsModelSummary(t *testing.T) {
	t.Parallel()
	slow := says("A summary that comes too late.")
	slow.Delay = 2 * time.Second
	h := newHarness(t, scripted.New(
		calls(call("summarize", `{"texts":["The boiler was installed in March 2016 by the owner."]}`)), slow,
		says(goodAnswer), says(goodAnswer),
	), func(c *Config) { c.ToolTimeout = time.Second })
	req := asks("What about the boiler?")
	req.Config.EnabledTools = []string{"summarize", "retrieve"}
	s := h.answer(req).step("summarize")
	if out := string(s.ToolOutput); s.DurationMS < 1000 || s.DurationMS > 1900 || s.Status != chat.StatusComplete ||
		!strings.Contains(out, "The boiler was installed") || !strings.Contains(out, "The model did not answer") {
		t.Errorf("after %d ms %s %s; want the extracted sentence after the limit of 1 s", s.DurationMS, s.Status, out)
	}
}

func TestModelSummaryHasNoCompletenessNote(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(
		calls(call("summarize", `{"texts":["Yes."]}`)), says("An assent."), says(goodAnswer), says(goodAnswer),
	))
	req := asks("What about the boiler?")
	req.Config.EnabledTools = []string{"summarize", "retrieve"}
	out := string(h.answer(req).step("summarize").ToolOutput)
	if !strings.Contains(out, "An assent.") || !strings.Contains(out, `"notes":[]`) {
		t.Errorf("summarize returned %s, want the model's summary and no note", out)
	}
}

func TestSummarizeSelectsSentencesWithoutModel(t *testing.T) {
	t.Parallel()
	for texts, want := range map[string]string{
		`"The boiler was installed in March 2016 by the owner."`: `"summary":"The boiler was installed`,
		`"Yes."`: `"summary":"Yes.","notes":["The texts are so short that this is all of them.",` +
			`"The model did not answer: these are key sentences, word for word."]`,
	} {
		h := newHarness(t, scripted.New(
			calls(call("summarize", `{"texts":[`+texts+`]}`)), fails(llm.KindServer), says(goodAnswer),
			says(goodAnswer),
		))
		req := asks("What about the boiler?")
		req.Config.EnabledTools = []string{"summarize", "retrieve"}
		if out := string(h.answer(req).step("summarize").ToolOutput); !strings.Contains(out, want) {
			t.Errorf("%s: %s, want %s in it", texts, out, want)
		}
	}
}
