package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// dated are documents with what is known about them.
var dated = []file{
	{
		"value-2023.md",
		"---\nauthor: Ann Lee\ndate: 2023-02-10\ntags: [value]\n---\n# Valuation of 2023\n\nThe market value of " +
			"Highlands was £2,150,000 in February.\n",
	},
	{
		"value-2024.md",
		"---\nauthor: John Doe\ndate: 2024-02-12\ntags: [value]\n---\n# Valuation of 2024\n\nThe market value of " +
			"Highlands was £2,300,000 in February.\n",
	},
	{
		"survey.md",
		"---\nauthor: Ann Lee\ndate: 2022-06-01\ntags: [survey]\n---\n# Building survey\n\nThe roof of Highlands is " +
			"in good condition.\n",
	},
}

// told is what a request to the model offered.
func (m *modelServer) told(t *testing.T, n int) (tools []string, temperature *float64) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) <= n {
		t.Fatalf("the model was asked %d times, want more than %d requests", len(m.requests), n)
	}
	asked := loose[struct {
		Temperature *float64
		Tools       []struct{ Function struct{ Name string } }
	}](t, m.requests[n])
	for _, tool := range asked.Tools {
		tools = append(tools, tool.Function.Name)
	}
	return tools, asked.Temperature
}

// A query that says no more than its question has the tools, the limits and the temperature of its interface; so has a
// search by the agent. Tools that the settings name hold for both.
func TestEachRouteHasItsOwnToolsAndLimits(t *testing.T) {
	t.Parallel()
	settings := filepath.Join(t.TempDir(), "footnote.yaml")
	if err := os.WriteFile(
		settings, []byte("strategies:\n  agentic:\n    tools: [semantic_search, read_document, metadata_search]\n"),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name        string
		env         string
		path, body  string
		tools       string
		temperature float64
		calls       int
	}{
		{"a query", "", "/agent/query", `{"question":"Why is the roof good?",` + without + `}`,
			"retrieve retrieve_more query_table calculate lookup summarize finish", 0.1, 5},
		{"a query with another toolset", "", "/agent/query",
			`{"question":"Why is the roof good?","toolset":"strategy",` + without + `}`,
			"semantic_search read_document metadata_search hybrid_search", 0.3, 5},
		{"a query where the settings name a toolset", "FOOTNOTE_AGENT_TOOLSET=documentation", "/agent/query",
			`{"question":"Why is the roof good?",` + without + `}`,
			"retrieve_documentation retrieve_book_content", 0, 5},
		{"a query where the settings name tools", "FOOTNOTE_CONFIG=" + settings, "/agent/query",
			`{"question":"Why is the roof good?",` + without + `}`,
			"semantic_search read_document metadata_search", 0.1, 5},
		{"a search by the agent", "", "/agent/retrieve", `{"query":"Why is the roof good?"}`,
			"semantic_search read_document metadata_search hybrid_search", 0.3, 0},
		{"a search where the settings name tools", "FOOTNOTE_CONFIG=" + settings, "/agent/retrieve",
			`{"query":"Why is the roof good?"}`, "semantic_search read_document metadata_search", 0.3, 0},
		{"a chat", "", "/agent/chat", `{"message":"Why is the roof good?"}`, "", 0, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newModel(t, scripted.Config{Script: sidelong("", nil, func(r scripted.Request) scripted.Reply {
				if r.Turn() == 0 && !r.NoTools {
					return calling(r.Tools[0].Name, `{"query":"roof"}`)
				}
				return saying("The roof of Highlands is in good condition [1].")
			})})
			env := m.env()
			if tt.env != "" {
				env = append(env, tt.env)
			}
			s := serve(t, newDir(t), env...)
			s.add(dated...)
			r := s.send("POST", tt.path, tt.body)
			first := 0
			if tt.path == "/agent/retrieve" { // behind its plan
				first = 1
			}
			tools, temperature := m.told(t, first)
			if got := strings.Join(tools, " "); r.status != 200 || tt.tools != "" && got != tt.tools ||
				temperature == nil || *temperature != tt.temperature {
				t.Errorf("%d, tools %s at %v; want %s at %v", r.status, got, temperature, tt.tools, tt.temperature)
			}
			if tt.calls == 0 {
				return
			}
			run := loose[struct {
				ID    string `json:"id"`
				RunID string `json:"run_id"`
			}](t, r.body)
			trace := loose[struct{ Budget chat.Budget }](t, s.send("GET", "/agent/runs/"+run.ID+run.RunID, nil).body)
			if trace.Budget.RetrievalCalls != tt.calls {
				t.Errorf("%d calls, want %d", trace.Budget.RetrievalCalls, tt.calls)
			}
		})
	}
}

// What rules read in a question chooses the tools: properties of documents, their ids, and what stands in them.
func TestRulesChooseByWhatTheQuestionAsksFor(t *testing.T) {
	t.Parallel()
	m := newModel(t, scripted.Config{Script: func(scripted.Request) scripted.Reply {
		return saying("The roof of Highlands is in good condition [1].")
	}})
	s := serve(t, newDir(t), append(m.env(), "FOOTNOTE_LIMITS_QUESTIONS_PER_MINUTE=0")...)
	ids := s.add(dated...)
	for _, tt := range []struct{ question, toolset, want string }{
		{"Which documents were written by John Doe?", "strategy", `metadata_search {"filters":{"author":"John Doe"}}`},
		{"Find documents from 2024", "strategy", `metadata_search {"filters":{"year":"2024"}}`},
		{"Show papers by Ann Lee since 2023", "cursor",
			`metadata_search {"filters":{"author":"Ann Lee","date_from":"2023"}}`},
		{"Find all documents tagged survey", "cursor", `metadata_search {"filters":{"tags":"survey"}}`},
		{"Find reports by Ann Lee about the roof", "strategy",
			`metadata_search {"filters":{"author":"Ann Lee"}}, hybrid_search`},
		{"Which documents about the roof were written by Ann Lee?", "strategy",
			`metadata_search {"filters":{"author":"Ann Lee"}}, hybrid_search`},
		{"What's in document ID " + ids[2] + "?", "strategy", "hybrid_search, read_document"},
		{"Which document mentions the roof?", "strategy", "hybrid_search"},
	} {
		body, err := json.Marshal(map[string]any{
			"message": tt.question, "toolset": tt.toolset, "config": map[string]any{
				"selection": "rules", "enable_query_decomposition": false, "enable_self_evaluation": false,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := s.send("POST", "/agent/chat", string(body))
		run := loose[struct {
			RunID string `json:"run_id"`
		}](t, r.body).RunID
		var got []string
		for _, step := range loose[struct{ Steps []chat.Step }](t, s.send("GET", "/agent/runs/"+run, nil).body).Steps {
			switch step.ToolName {
			case "":
			case "metadata_search":
				got = append(got, step.ToolName+" "+string(step.ToolInput))
			case "read_document":
				if strings.Contains(tt.want, step.ToolName) && !strings.Contains(string(step.ToolInput), ids[2]) {
					t.Errorf("%s: read %s", tt.question, step.ToolInput)
				}
				if strings.Contains(tt.want, step.ToolName) {
					got = append(got, step.ToolName)
				}
			default:
				got = append(got, step.ToolName)
			}
		}
		// what the model does after that is its own
		if got := strings.Join(slices.Compact(got), ", "); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.question, got, tt.want)
		}
	}
}

// Without a tool that lists documents, one that finds them lists them; without either, nothing is made up.
func TestTheLibraryIsListedWithTheToolsThereAre(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(dated...)
	for toolset, want := range map[string]string{
		"cursor": "You have 3 documents", "strategy": "You have 3 documents",
		"react": "I couldn't find relevant information about that in your documents.",
	} {
		r := s.send("POST", "/agent/chat", `{"message":"How many documents are there?","toolset":"`+toolset+`"}`)
		if got := loose[struct{ Response string }](t, r.body).Response; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %d %q, want %q", toolset, r.status, got, want)
		}
	}
}

// A model that spends its turns without a search is searched for: the program's own calls are no turns.
func TestAModelThatSpendsItsTurnsIsSearchedFor(t *testing.T) {
	t.Parallel()
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		if !r.NoTools {
			return calling("calculate", fmt.Sprintf(`{"expression":"%d+1"}`, r.Turn()))
		}
		return saying("The roof of Highlands is in good condition [1].")
	}})
	s := serve(t, newDir(t), m.env()...)
	s.add(dated...)
	r := s.send("POST", "/agent/chat", `{"message":"How good is the roof of Highlands?","config":{"max_steps":2}}`)
	got := loose[struct {
		Response   string
		StopReason string `json:"stop_reason"`
		Citations  []chat.Citation
	}](t, r.body)
	if !strings.Contains(got.Response, "good condition") || len(got.Citations) != 1 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A summary is made of sentences that state something, also of a document that begins with pages of contents.
func TestASummaryIsNotMadeOfTheTableOfContents(t *testing.T) {
	t.Parallel()
	faq := slices.DeleteFunc(manuals(t), func(f file) bool { return f.name != "debian-faq.pdf" })
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 && !r.NoTools {
			return calling("get_document_summary", `{"doc_id":"debian-faq.pdf"}`)
		}
		return saying("I couldn't find relevant information about that in your documents.")
	}})
	s := serve(t, newDir(t), m.env()...)
	s.add(faq...)
	r := s.send("POST", "/agent/query", `{"question":"Why is the FAQ useful?","toolset":"cursor",`+without+`}`)
	var key []string
	for _, step := range loose[struct{ Steps []chat.Step }](t, r.body).Steps {
		if step.ToolName == "get_document_summary" {
			key = loose[struct {
				Sentences []string `json:"key_sentences"`
			}](t, string(step.ToolOutput)).Sentences
		}
	}
	if len(key) < 3 {
		t.Errorf("key sentences %q: %s, want at least 3", key, r.body)
	}
	for _, sentence := range key {
		if strings.Contains(sentence, ". . .") || sentence[0] >= '0' && sentence[0] <= '9' {
			t.Errorf("%q is a line of the table of contents, want no %q in it", sentence, ". . .")
		}
	}
}
