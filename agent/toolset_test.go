package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text/english"
)

func TestToolsetTable(t *testing.T) {
	t.Parallel()
	box, err := tools.NewRegistry(tools.Config{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, set := range box.Toolsets {
		b, err := json.Marshal([]any{
			set.Budget.Steps, set.Budget.RetrievalCalls, set.MaxQuestions, set.DefaultTemperature,
		})
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(b) + " " + strings.Join(set.Names(), " ")
	}
	want := map[string]string{
		"cursor": "[10,10,200,0] search_documents read_document read_multiple_documents get_document_summary " +
			"rerank_documents metadata_search list_documents grep_documents query_table calculate cite_source " +
			"open_document generate_answer",
		"react":         "[10,5,200,0.1] retrieve retrieve_more query_table calculate lookup summarize finish",
		"strategy":      "[3,5,200,0.3] semantic_search read_document metadata_search hybrid_search",
		"documentation": "[10,5,20,0] retrieve_documentation retrieve_book_content",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("toolsets (-want +got):\n%s", diff)
	}
}

func TestRequestOptionsReachModel(t *testing.T) {
	t.Parallel()
	script := []scripted.Reply{calls(call("retrieve", `{"query":"paid holiday"}`)), says(goodAnswer)}
	model := scripted.New(script...)
	h := newHarness(t, model)
	req := asks("How many days of paid holiday are there?")
	req.Toolset = "react"
	req = unplanned(req)
	h.answer(req).answer()
	if first := model.Requests()[0]; *first.Temperature != 0.1 || first.MaxTokens != 0 ||
		strings.Contains(first.Messages[0].Text, "{{") || strings.Contains(first.Messages[0].Text, "say besides") {
		t.Errorf("without settings: temperature %v, %d tokens, %s; want 0.1, 0, no %q in it, no %q in it",
			*first.Temperature, first.MaxTokens, first.Messages[0].Text, "{{", "say besides")
	}
	model, cool, own := scripted.New(script...), 0.6, 0.9
	h.startAgent(model, func(c *Config) {
		c.Temperature, c.MaxTokens, c.SystemPrompt = &cool, 900, "You are the {{date}} librarian of the mill."
	})
	h.answer(req).answer()
	first := model.Requests()[0]
	if *first.Temperature != cool || first.MaxTokens != 900 {
		t.Errorf("with settings: temperature %v, %d tokens; want %v and 900", *first.Temperature, first.MaxTokens, cool)
	}
	if said := first.Messages[0].Text; !strings.Contains(said, "You are the {{date}} librarian of the mill.") ||
		!strings.Contains(said, "After each claim write the number") {
		t.Errorf("prompt differs from the setting:\n%s", said)
	}
	model = scripted.New(script...)
	h.startAgent(model, func(c *Config) { c.Temperature, c.SystemPrompt = &cool, "Speak like a miller." })
	req.Config.Temperature = &own
	req.Instructions = "Answer in {{date}} rhymes."
	h.answer(req).answer()
	if said := model.Requests()[0].Messages[0].Text; !strings.Contains(said, "Speak like a miller.") ||
		!strings.Contains(said, "Answer in {{date}} rhymes.\n\n") {
		t.Errorf("prompt lacks the instructions of the request:\n%s", said)
	}
	model = scripted.New(script...)
	h.startAgent(model, func(c *Config) { c.Temperature, c.SystemPrompt = &cool, "Speak like a miller." })
	req.ContextText = "There are 28 days of paid holiday."
	h.answer(req)
	if first := model.Requests()[0]; *first.Temperature != own ||
		!strings.Contains(first.Messages[0].Text, "Speak like a miller.") {
		t.Errorf("of a request with a text: temperature %v, %s; want %v and %q in it",
			*first.Temperature, first.Messages[0].Text, own, "Speak like a miller.")
	}
}

func TestOfflineModelAnswersWithEveryToolset(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	for _, tt := range []struct {
		name  string
		Set   string
		tools []string
		used  []string
	}{
		{"cursor", "cursor", nil, []string{"search_documents", "read_document"}},
		{"react", "react", nil, []string{"retrieve", "lookup"}},
		{"strategy, which stops when a simple question has enough", "strategy", nil, []string{"hybrid_search"}},
		{"documentation", "documentation", nil, []string{"retrieve_documentation"}},
		{"by meaning alone", "strategy", []string{"semantic_search"}, []string{"semantic_search"}},
		{"a mix of sets", "react", []string{"hybrid_search", "lookup", "calculate"},
			[]string{"hybrid_search", "lookup"}},
	} {
		req := chat.RunRequest{
			Message: "How many days of paid holiday does an employee get?", Toolset: tt.Set,
			Config: chat.RunConfig{EnabledTools: tt.tools},
		}
		got := h.answer(req)
		a := got.answer()
		if len(a.Citations) == 0 || !strings.Contains(a.Citations[0].Quote, "28 days") ||
			!strings.Contains(a.Markdown, "28 days of paid holiday a year, including public holidays. [1]") &&
				!strings.Contains(a.Markdown, "[1]") {
			t.Errorf("%s: answer = %q, citations %+v; want some citations and %q in it",
				tt.name, a.Markdown, a.Citations, "28 days")
		}
		if a.StopReason != chat.StopAnswered || a.Confidence <= 0.5 {
			t.Errorf("%s: stopped %s, confidence %v; want %s and more than 0.5",
				tt.name, a.StopReason, a.Confidence, chat.StopAnswered)
		}
		var used []string
		for _, s := range got.ended() {
			if s.ToolName != "" {
				used = append(used, s.ToolName)
			}
		}
		if diff := cmp.Diff(tt.used, used); diff != "" {
			t.Errorf("%s: tools used (-want +got):\n%s", tt.name, diff)
		}
		refusal := h.answer(chat.RunRequest{
			Message: "Who won the football world cup in Argentina?", Toolset: tt.Set, Config: req.Config,
		}).answer()
		if refusal.StopReason != chat.StopRefused || len(refusal.Citations) != 0 {
			t.Errorf("%s: refusal = %+v; want StopReason %v and no citations", tt.name, refusal, chat.StopRefused)
		}
	}
}

func TestMissingToolsAreNamed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	for _, tt := range []struct {
		name string
		req  chat.RunRequest
		want []string
	}{
		{"an unknown toolset", chat.RunRequest{Toolset: "axe"},
			[]string{"axe", "cursor, documentation, react, strategy"}},
		{"an unknown tool", chat.RunRequest{Config: chat.RunConfig{EnabledTools: []string{"retrieve", "saw"}}},
			[]string{"saw", "search_documents", "finish", "retrieve_documentation"}},
		{"a tool that is not set up",
			chat.RunRequest{Toolset: "react", Config: chat.RunConfig{EnabledTools: []string{"web_search"}}},
			[]string{"web_search", "provider"}},
	} {
		tt.req.Message = "Anything"
		_, _, err := h.runs.Start(t.Context(), chat.LocalUser, tt.req)
		if err == nil || chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: %v, want %v", tt.name, err, chat.CodeInvalid)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(chat.MessageOf(err).String(), want) {
				t.Errorf("%s: got %q, want %q in it", tt.name, chat.MessageOf(err).String(), want)
			}
		}
	}
	cfg := run.Config{
		Store: h.store, Feed: h.feed, Library: h.library, Model: offline.New(nil, nil), Tools: []string{"saw"},
	}
	if _, err := NewRuns(Config{Config: cfg}); err == nil || chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("NewRuns with an unknown tool = %v, want %v", err, chat.CodeInvalid)
	}
}

func TestUnconfiguredToolIsOmittedWithReason(t *testing.T) {
	t.Parallel()
	model := scripted.New(says(english.Refusal))
	h := newHarness(t, model)
	got := h.answer(react("What is new on the web?"))
	if why, _ := got.step(
		"analyse",
	).Details["left_out"].(string); why != "web_search: no web search provider is set up" {
		t.Errorf("details = %v", got.step("analyse").Details)
	}
	req := model.Requests()[0]
	if !strings.Contains(req.Messages[0].Text, "There is no tool web_search here") {
		t.Error("prompt lacks the reason for the missing tool")
	}
	if slices.ContainsFunc(req.Tools, func(s llm.ToolSpec) bool { return s.Name == "web_search" }) {
		t.Error("tools include web_search, want it omitted")
	}
}

func TestSettingsSelectTools(t *testing.T) {
	t.Parallel()
	model := scripted.New(says(english.Refusal), says(english.Refusal), says(english.Refusal))
	h := newHarness(t, model, func(c *Config) { c.Toolset, c.Tools = "react", []string{"retrieve", "calculate"} })
	h.answer(unplanned(asks("What?")))
	h.answer(unplanned(chat.RunRequest{Message: "What?", Config: chat.RunConfig{EnabledTools: []string{"lookup"}}}))
	h.answer(chat.RunRequest{Message: "What?", Toolset: "documentation"})
	var got []string
	for _, r := range model.Requests() {
		var names []string
		for _, s := range r.Tools {
			names = append(names, s.Name)
		}
		got = append(got, strings.Join(names, " "))
	}
	got = slices.Compact(got) // a nudge asks again with the same tools
	if diff := cmp.Diff([]string{"retrieve calculate", "lookup", "retrieve_documentation retrieve_book_content"},
		got); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
}

func TestSearchToolsRejectUnsupportedArguments(t *testing.T) {
	t.Parallel()
	box, err := tools.NewRegistry(tools.Config{})
	if err != nil {
		t.Fatal(err)
	}
	whole := tools.Set{Tools: box.Tools}
	for _, tt := range []struct {
		tool, args, want string // want: the arguments with their defaults, or the property that is wrong, after a !
	}{
		{"retrieve", `{"query":" roof "}`, `{"query":"roof","top_k":5}`},
		{"retrieve", `{"query":"roof","top_k":50}`, `{"query":"roof","top_k":50}`},
		{"retrieve", `{"query":"roof","top_k":0}`, "!top_k"},
		{"retrieve", `{"query":"roof","top_k":51}`, "!top_k"},
		{"retrieve", `{"query":"roof","top_k":"many"}`, "!top_k"},
		{"retrieve", `{"query":"  "}`, "!query"},
		{"retrieve", `{}`, "!query"},
		{"retrieve_more", `{}`, `{"top_k":5}`},
		{"retrieve_more", `{"top_k":0}`, "!top_k"},
		{"semantic_search", `{"query":"roof"}`, `{"min_score":0.7,"query":"roof","top_k":5}`},
		{"semantic_search", `{"query":"roof","min_score":1.1}`, "!min_score"},
		{"semantic_search", `{"query":"roof","min_score":-0.1}`, "!min_score"},
		{"hybrid_search", `{"query":"roof","top_k":null}`, `{"query":"roof","top_k":5}`},
		{"hybrid_search", `{"query":""}`, "!query"},
		{"retrieve_documentation", `{"query":"roof"}`, `{"query":"roof","similarity_threshold":0,"top_k":5}`},
		{"retrieve_documentation", `{"query":"roof","top_k":20,"similarity_threshold":1}`,
			`{"query":"roof","similarity_threshold":1,"top_k":20}`},
		{"retrieve_documentation", `{"query":"roof","top_k":0}`, "!top_k"},
		{"retrieve_documentation", `{"query":"roof","top_k":21}`, "!top_k"},
		{"retrieve_documentation", `{"query":"roof","similarity_threshold":1.1}`, "!similarity_threshold"},
		{"lookup", `{"document":"Survey.md","focus_query":"roof"}`, `{"doc_id":"Survey.md","query":"roof"}`},
		{"lookup", `{"query":"roof"}`, "!doc_id"},
		{"read_document", `{"document_id":"Survey.md"}`, `{"doc_id":"Survey.md","page":1}`},
		{"summarize", `{"texts":["[1]"],"focus":"roof"}`, `{"focus":"roof","texts":["[1]"]}`},
		{"summarize", `{"texts":[]}`, "!texts"},
		{"summarize", `{"texts":"all"}`, "!texts"},
		{"finish", `{"answer":""}`, "!answer"},
		{"finish", `{"answer":"Yes [1].","confidence":1}`, "!confidence"},
		{"metadata_search", `{"filters":{"author":"John","year":2024}}`, `{"filters":{"author":"John","year":2024}}`},
		{"metadata_search", `{"filters":"author"}`, "!filters"},
	} {
		args, err := whole.Find(tt.tool).Normalise(json.RawMessage(tt.args), nil)
		wrong, bad := strings.CutPrefix(tt.want, "!")
		switch {
		case bad && (err == nil || !strings.Contains(err.Error(), wrong)):
			t.Errorf("%s %s: %s, %v; want an error about %s", tt.tool, tt.args, args, err, wrong)
		case !bad && (err != nil || string(args) != tt.want):
			t.Errorf("%s %s: %s, %v; want %s", tt.tool, tt.args, args, err, tt.want)
		}
	}
	many := 40
	args, err := whole.Find("retrieve_documentation").Normalise(json.RawMessage(`{"query":"roof"}`), &many)
	if err != nil || !strings.Contains(string(args), `"top_k":20`) {
		t.Errorf("retrieval_top_k 40: got %s, %v, want 20", args, err)
	}
}

func TestRetrieveDocumentationKeepsAgreedSchema(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	req := chat.RunRequest{Message: "How many days of holiday?", Toolset: "documentation"}
	steps := h.used(req,
		call("retrieve_documentation", `{"query":"paid holiday","top_k":1}`),
		call("retrieve_documentation", `{"query":"paid holiday","top_k":21}`),
		call("retrieve_documentation", `{"query":"zzyzx"}`))
	var out map[string]any
	if err := json.Unmarshal(steps[0].ToolOutput, &out); err != nil {
		t.Fatal(err)
	}
	if out["total_results"] != 1.0 || out["query"] != "paid holiday" {
		t.Errorf("output = %s", steps[0].ToolOutput)
	}
	first := out["results"].([]any)[0].(map[string]any)
	want := []string{
		"chunk_id", "chunk_text", "doc_id", "n", "page_title", "rank", "section_heading", "similarity_score",
		"source_url",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(first))); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if first["page_title"] != "Staff handbook" || first["rank"] != 1.0 ||
		!strings.Contains(first["chunk_text"].(string), "28 days") ||
		!strings.HasPrefix(first["source_url"].(string), "/d/") || first["section_heading"] != "Leave" {
		t.Errorf("result = %v; want %q, 1.0, %q in it, %q at its beginning, %q",
			first, "Staff handbook", "28 days", "/d/", "Leave")
	}
	var failed map[string]string
	if err := json.Unmarshal(steps[1].ToolOutput, &failed); err != nil || len(failed) != 2 ||
		failed["query"] != "paid holiday" || !strings.Contains(failed["error"], "top_k") {
		t.Errorf("error form = %s, %v", steps[1].ToolOutput, err)
	}
	if !strings.Contains(string(steps[2].ToolOutput), `"results":[]`) || steps[2].Message != "Found 0 passages" {
		t.Errorf("nothing found = %q, %s; want %q", steps[2].Message, steps[2].ToolOutput, "Found 0 passages")
	}
}
