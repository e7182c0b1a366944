package agent

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// everyTool is a step of every tool, some that failed or found nothing among them, and a plan.
func everyTool(t *testing.T) []chat.Step {
	t.Helper()
	in := newInternet(t)
	h := newHouse(t, scripted.New(), in.withWeb(false))
	var all []chat.Step
	run := func(set string, tools []string, cs ...llm.Call) {
		replies := []scripted.Reply{}
		for _, c := range cs {
			replies = append(replies, calls(c))
		}
		h.hire(scripted.New(append(
			replies, says("I couldn't find relevant information about that in your documents."),
		)...), func(c *Config) {
			in.withWeb(false)(c)
			c.Features.Selection = "model"
			c.Features.Without = []string{"refine"}
		})
		req := asks("What about it?" + strings.Repeat("?", len(all)%5))
		req.Toolset, req.Config.EnabledTools = set, tools
		n := 30
		req.Config.MaxSteps, req.Config.MaxRetrievalCalls = &n, &n
		got := h.answer(req)
		for _, s := range got.ended() {
			if s.ToolName != "" {
				all = append(all, s)
			}
		}
	}
	run("cursor", nil, search("roof condition"), search("zzyzx"), call("read_document", `{"doc_id":"Staff handbook"}`),
		call("read_document", `{"doc_id":"Staff handbook","focus_query":"sickness"}`),
		call("read_document", `{"doc_id":"qqqq"}`), call("read_document", `{"doc_id":"x","nope":3}`),
		call("read_multiple_documents", `{"doc_ids":["Survey.md","Handbook.md","nope"]}`),
		call("get_document_summary", `{"doc_id":"Survey.md"}`),
		call("rerank_documents", `{"doc_ids":["Survey.md","Handbook.md"],"query":"holiday"}`))
	run("cursor", nil, call("metadata_search", `{"filters":{"title":"survey","type":"markdown"}}`),
		call("metadata_search", `{"filters":{"title":"nothing"}}`), call("list_documents", `{}`),
		call("grep_documents", `{"pattern":"£3,\\d+"}`), call("grep_documents", `{"pattern":"1987 by ("}`),
		call("calculate", `{"expression":"3,400 * 2"}`), call("calculate", `{"expression":"9**9**9"}`))
	run("cursor", nil, call("read_document", `{"doc_id":"Survey.md"}`),
		call("cite_source", `{"cited_text":"the roof was last renewed in 1987","block_id":"b1","citation_number":2}`),
		call("open_document", `{"citation_number":1,"reason":"You asked to see it"}`),
		call("open_document", `{"citation_number":2,"reason":"You asked to see it"}`),
		call("open_document", `{"doc_id":"Survey.md","reason":"You asked to see it"}`), call("generate_answer", `{}`))
	run("react", nil, call("retrieve", `{"query":"roof"}`), call("retrieve_more", `{}`),
		call("lookup", `{"doc_id":"Survey.md","query":"damp"}`),
		call("summarize", `{"texts":["1","2"],"focus":"roof"}`),
		call("web_search", `{"query":"slate roof"}`))
	run("react", nil, call("finish", `{"answer":"It is so."}`))
	run("strategy", nil, call("semantic_search", `{"query":"roof"}`), call("hybrid_search", `{"query":"roof"}`))
	run("documentation", nil, call("retrieve_documentation", `{"query":"holiday"}`),
		call("retrieve_book_content", `{"query":"holiday"}`), call("retrieve_book_content", `{"query":"zzyzx"}`),
		call("retrieve_documentation", `{"query":""}`))
	shop := newShop(t, true)
	h.hire(scripted.New(orders("slates"), says("The slates are ordered.")), shop.with)
	all = append(all, h.wait(h.ask(chat.RunRequest{Message: "Please order slates"}).ID).step("shop__order"))
	h.hire(scripted.New(says(goodAnswer), says(goodAnswer), says(goodAnswer)))
	req := asks("What does the survey say about the roof and how many days of paid holiday are there?")
	yes := true
	req.Config.EnableQueryDecomposition = &yes
	all = append(all, h.answer(req).step("plan"))
	return all
}

// imported is what a step of a version without results comes to.
func imported(t *testing.T, s chat.Step) *chat.StepResult {
	t.Helper()
	s.Result = nil
	ev, err := chat.NewEvent("run", s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ev.Payload()
	if err != nil {
		t.Fatal(err)
	}
	old, ok := p.(chat.Step)
	if !ok {
		t.Fatalf("payload = %T, want a step", p)
	}
	return old.Result
}

// What tools say of themselves is what the import makes of their outputs, so that pages show old and new steps alike.
func TestResultsOfToolsAreThoseThatTheImportMakes(t *testing.T) {
	t.Parallel()
	for _, s := range everyTool(t) {
		got, want := *s.Result, *imported(t, s)
		if s.ToolName == "read_document" && strings.Contains(string(s.ToolInput), "focus_query") ||
			s.ToolName == "lookup" {
			want.Opened = got.Opened // an output does not say which part a focused reading began with
		}
		ignored := cmpopts.IgnoreFields(chat.Hit{}, "MIME") // most outputs do not say it
		if s.ToolName == "web_search" {
			ignored = cmpopts.IgnoreFields(chat.Hit{}, "MIME", "Filename")
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), ignored); diff != "" {
			t.Errorf("%s %s (-import +tool):\n%s", s.Step, s.ToolInput, diff)
		}
	}
}

// What results add to the events of ordinary runs over the project's own documents stays within bounds;
// docs/performance.md has the share.
func TestResultsAddLittleToEvents(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	for _, name := range []string{"operation", "performance", "quality", "security"} {
		text, err := os.ReadFile("../docs/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		h.add(name+".md", string(text))
	}
	whole, added := 0, 0
	for _, query := range []string{
		"memory of large documents", "limits of users", "citations that are not found", "PostgreSQL and replicas",
	} {
		args := `{"query":"` + query + `"}`
		steps := h.used(asks("What is there about "+query+"?"), call("search_documents", args),
			call("grep_documents", `{"pattern":"memory"}`),
			call("read_document", `{"doc_id":"quality.md","focus_query":"`+query+`"}`),
			call("calculate", `{"expression":"2 * 3"}`))
		req := asks("What do documents say about " + query + "?")
		req.Toolset = "react"
		steps = append(steps,
			h.used(req, call("retrieve", args), call("lookup", `{"doc_id":"operation.md","query":"`+query+`"}`))...)
		for _, s := range steps {
			with, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			s.Result = nil
			without, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			whole, added = whole+len(without), added+len(with)-len(without)
			t.Logf("%s %d + %d", s.Step, len(without), len(with)-len(without))
		}
	}
	share := float64(added) / float64(whole)
	t.Logf("results add %.0f %% to %d bytes", 100*share, whole)
	if share > 0.6 {
		t.Errorf("results add %.0f %% to the events of tools, want at most 60 %%", 100*share)
	}
}
