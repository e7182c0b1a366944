package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

// S1 · the data model: configuration, the tool retrieve_documentation, conversations.
func TestDataModelRequirements(t *testing.T) {
	t.Parallel()
	th := newScriptedServer(t, "OPENAI_EMBEDDING_MODEL=hash", "FOOTNOTE_AGENT_MAX_TOKENS=321",
		"FOOTNOTE_AGENT_SYSTEM_PROMPT=You answer for surveyors.")
	th.semantic()

	t.Run("S1.1 prompt, temperature and tokens of the settings", func(t *testing.T) {
		th := th.forSubtest(t)
		_, seed := th.query(inTurn(calling("search_documents", `{"query":"roof"}`),
			saying("The roof of Highlands is in good condition [1].")), "Why is the roof good?",
			jsonFields{"toolset": "cursor"}, jsonFields{"temperature": 1})
		first := th.requestsFor(seed)[0]
		if first.Model != "scripted" || first.Temperature == nil || *first.Temperature != 1 || first.MaxTokens != 321 ||
			!strings.Contains(first.Messages[0].Text, "You answer for surveyors.") {
			t.Errorf("request to %s has temperature %v, %d tokens and %.300s", first.Model, first.Temperature,
				first.MaxTokens, first.Messages[0].Text)
		}
	})

	t.Run("S1.2 schema, limits and error of retrieve_documentation", func(t *testing.T) {
		th := th.forSubtest(t)
		const question = "Why is the roof good?"
		got, _ := th.query(inTurn(
			calling("retrieve_documentation", `{"query":"roof of Highlands"}`),
			together(calling("retrieve_documentation", `{"query":"roof","top_k":20}`),
				calling("retrieve_documentation", `{"query":"roof","top_k":21}`),
				calling("retrieve_documentation", `{"query":"roof","top_k":0}`),
				calling("retrieve_documentation", `{"query":" "}`),
				calling("retrieve_documentation", `{"query":"roof","similarity_threshold":1.5}`)),
			calling("retrieve_documentation", `{"query":"roof of Highlands","similarity_threshold":1}`),
			saying("The roof of Highlands is in good condition [1]."),
		), question, jsonFields{"toolset": "documentation"}, jsonFields{"selection": "model"})
		type result struct {
			Results []struct {
				ChunkText      string   `json:"chunk_text"`
				PageTitle      string   `json:"page_title"`
				SectionHeading *string  `json:"section_heading"`
				SourceURL      string   `json:"source_url"`
				Similarity     *float64 `json:"similarity_score"`
				Rank           int
			}
			TotalResults *int `json:"total_results"`
			Query        string
			Error        string
		}
		calls := got.stepsNamed("retrieve_documentation")
		if len(calls) != 7 {
			t.Fatalf("%d calls: %q", len(calls), got.names())
		}
		first := loose[result](t, string(calls[0].ToolOutput))
		if first.Query != "roof of "+
			"Highlands" || first.TotalResults == nil || *first.TotalResults != len(first.Results) ||
			len(first.Results) == 0 || len(first.Results) > 5 ||
			string(calls[0].ToolInput) !=
				`{"query":"roof of Highlands","similarity_threshold":0,"top_k":5}` {
			t.Errorf("%s → %s", calls[0].ToolInput, calls[0].ToolOutput)
		}
		for i, r := range first.Results {
			if r.ChunkText == "" || r.PageTitle == "" || r.SourceURL == "" || r.Rank != i+1 || r.Similarity == nil ||
				*r.Similarity < 0 || *r.Similarity > 1 {
				t.Errorf("result %d = %+v", i, r)
			}
		}
		if best := first.Results[0]; best.PageTitle != "Building survey" || !strings.Contains(best.ChunkText, "roof") {
			t.Errorf("best result = %+v", best)
		}
		if calls[1].Status != "complete" {
			t.Errorf("20 results: %s", calls[1].ToolOutput)
		}
		for _, bad := range calls[2:6] {
			if failed := loose[result](t, string(bad.ToolOutput)); bad.Status != "error" || failed.Error == "" ||
				len(failed.Results) > 0 || bad.Observation.Success || bad.Observation.Error == nil {
				t.Errorf("%s → %s %s", bad.ToolInput, bad.Status, bad.ToolOutput)
			}
		}
		if none := loose[result](t, string(calls[6].ToolOutput)); none.TotalResults == nil || *none.TotalResults != 0 {
			t.Errorf("unreached threshold: got %s, want no results", calls[6].ToolOutput)
		}
	})

	t.Run("S1.3 a conversation has messages, retrievals and at most 20 turns", func(t *testing.T) {
		th := th.forSubtest(t)
		for i := range 20 {
			th.post("/agent/chat", http.StatusOK, jsonFields{
				"message": fmt.Sprintf("How good is the roof, for the %d. time?", i+1), "session_id": "twenty",
				"toolset": "documentation", "config": jsonFields{"model": "offline"},
			})
		}
		full := th.send("POST", "/agent/chat",
			`{"message":"And now?","session_id":"twenty","toolset":"documentation"}`)
		if p := loose[problem](t, full.body); full.status != http.StatusConflict || p.Code != "turn_limit" ||
			!strings.Contains(p.Detail, "20 questions") {
			t.Errorf("21st turn: got %d %s, want 409", full.status, full.body)
		}
		type message struct{ Role, Name, Content, Timestamp string }
		got := loose[struct {
			Messages  []message
			Retrieved []struct {
				ToolName      string `json:"tool_name"`
				Query         string
				ResultsCount  int     `json:"results_count"`
				AvgSimilarity float64 `json:"avg_similarity"`
				Timestamp     string
			} `json:"retrieval_history"`
			StartedAt string `json:"started_at"`
			Turns     int    `json:"turn_count"`
		}](t, th.send("GET", "/agent/session/twenty?tools=true", nil).body)
		roles := map[string]int{}
		for _, m := range got.Messages {
			roles[m.Role]++
			if m.Timestamp == "" {
				t.Errorf("message without a time: %+v", m)
			}
		}
		if got.Turns != 20 || got.StartedAt == "" || got.Messages[0].Role != "system" || roles["user"] == 0 ||
			roles["assistant"] == 0 || roles["tool"] == 0 {
			t.Errorf("got %d turns since %q with messages %v", got.Turns, got.StartedAt, roles)
		}
		if len(got.Retrieved) == 0 {
			t.Fatal("history lacks the retrieval")
		}
		if r := got.Retrieved[0]; r.ToolName != "retrieve_documentation" || r.Query == "" || r.ResultsCount == 0 ||
			r.AvgSimilarity <= 0 || r.AvgSimilarity > 1 || r.Timestamp == "" {
			t.Errorf("first retrieval = %+v", r)
		}
	})

	t.Run("S1.6 a footnote has page title and section heading", func(t *testing.T) {
		th := th.forSubtest(t)
		got, seed := th.query(func(r scripted.Request) scripted.Reply {
			if r.Turn() == 0 && !r.NoTools {
				return calling("retrieve_documentation", `{"query":"balance control"}`)
			}
			return saying("A robot keeps its balance by moving its ankles and its hips " + found(r, "ankles") + ".")
		}, "Why does a robot not fall?", jsonFields{"toolset": "documentation"}, jsonFields{"selection": "model"})
		trace := th.trace(got.ID)
		if len(trace.Answer.Citations) != 1 || trace.Answer.Citations[0].Title != "Humanoid robots" ||
			!strings.Contains(trace.Answer.Citations[0].Section, "Balance control") {
			t.Fatalf("footnotes = %+v after %d requests", trace.Answer.Citations, len(th.requestsFor(seed)))
		}
		page := th.send("GET", "/c/"+got.SessionID, nil, header{"Accept", "text/html"}).body
		at := strings.Index(page, `class="source-head`)
		if at < 0 || !strings.Contains(page[at:], "Humanoid robots") ||
			!strings.Contains(page[at:], "Balance control") {
			t.Error("card of the footnote lacks title or section")
		}
		chatted, _ := th.post("/agent/chat", http.StatusOK, jsonFields{
			"message": "How does a robot keep its balance?", "config": jsonFields{"model": "offline"},
		})
		if !strings.Contains(chatted.Response, "\n[Source 1] Humanoid robots, Balance control: ") {
			t.Errorf("list of sources = %s", chatted.Response)
		}
	})
}

// S1.5 · a conversation of many turns: references to earlier turns are resolved, and a search runs only if needed.
func TestConversationResolvesReferences(t *testing.T) {
	t.Parallel()
	th := newScriptedServer(t)

	t.Run("by a model, from history and passages", func(t *testing.T) {
		th := th.forSubtest(t)
		turns := []struct {
			question string
			search   string // empty: the model does not search
			says     string // expected text of the documents
		}{
			{"How good is the roof?", "roof", "The roof of Highlands is in good condition"},
			{"Tell me more", "", "The roof of Highlands is in good condition"},
			{
				"What was Highlands worth in 2023?",
				"value 2023",
				"The market value of Highlands was £2,150,000 in February",
			},
			{"And a year later?", "value 2024", "The market value of Highlands was £2,300,000 in February"},
			{"Which of them is more?", "", "The market value of Highlands was £2,300,000 in February"},
			{"Say that again, please", "", "The market value of Highlands was £2,300,000 in February"},
			{"How long is the holiday of employees?", "paid holiday",
				"Every employee is entitled to 28 days of paid holiday a year"},
			{"And the notice?", "notice period", "The notice period is three months"},
			{"Why is that so?", "", "The notice period is three months"},
			{"Back to the roof: how good was it?", "", "The roof of Highlands is in good condition"},
			{"Where does the damp come from?", "damp", "The damp in the kitchen wall comes from a blocked gutter"},
			{"What does clearing it cost?", "", "Clearing it costs £80"},
		}
		for i, turn := range turns {
			seed := th.gives(func(r scripted.Request) scripted.Reply {
				if turn.search != "" && r.Turn() == 0 && !r.NoTools {
					return calling("retrieve_documentation", `{"query":"`+turn.search+`"}`)
				}
				if turn.search != "" {
					return saying(turn.says + " " + found(r, turn.says) + ".")
				}
				return saying(turn.says + " " + recalled(r, turn.says) + ".")
			})
			got, _ := th.post("/agent/chat", http.StatusOK, jsonFields{
				"message": turn.question, "session_id": "many-turns", "toolset": "documentation",
				"citation_style": "numeric", "config": jsonFields{"seed": seed, "selection": "model"},
			})
			searches := 0
			for _, step := range th.trace(got.RunID).Steps {
				if step.ToolName != "" {
					searches++
				}
			}
			if got.Response != turn.says+" [1]." || len(got.Citations) != 1 || got.Citations[0].Check != "verified" ||
				(searches > 0) != (turn.search != "") || len(got.Notes) > 0 {
				t.Errorf("turn %d, %s: %q with %d footnotes after %d searches, notes %q; want %q", i+1, turn.question,
					got.Response, len(got.Citations), searches, got.Notes, turn.says)
			}
			var before []string
			for _, m := range th.requestsFor(seed)[0].Messages[1:] {
				before = append(before, m.Text)
			}
			var want []string
			for _, earlier := range turns[max(0, i-10):i] {
				want = append(want, earlier.question, earlier.says+".")
			}
			if want = append(want, turn.question); strings.Join(before, "|") != strings.Join(want, "|") {
				t.Errorf("turn %d: history = %q, want %q", i+1, before, want)
			}
		}
	})

	t.Run("by rules, from the subject", func(t *testing.T) {
		th := th.forSubtest(t)
		answers := inTurn(saying("The roof of Highlands is in good condition [1][2][3][4][5]."))
		for _, turn := range []struct{ question, query string }{
			{"How good is the roof of Highlands?", "How good is the roof of Highlands?"},
			{"Tell me more", "Tell me more good roof highlands"},
			{"Tell me more about it", "Tell me more about it good roof highlands"},
			{"Go on", "Go on good roof highlands"},
			{"Thanks!", ""},
			{"More, please", "More, please good roof highlands"},
			{"Where does the damp come from?", "Where does the damp come from?"},
			{"Is there anything else?", "Is there anything else? damp come"},
			{"Elaborate", "Elaborate damp come"},
			{"And the notice period?", "And the notice period?"},
			{"Can you give me more details?", "Can you give me more details? notice period"},
			{"What is the value of Highlands in 2024?", "What is the value of Highlands in 2024?"},
		} {
			got, _ := th.post("/agent/chat", http.StatusOK, jsonFields{
				"message": turn.question, "session_id": "by-rules",
				"config": jsonFields{"seed": th.gives(answers), "selection": "rules"},
			})
			query := ""
			for _, step := range th.trace(got.RunID).Steps {
				input := loose[struct {
					Query string
					Focus string `json:"focus_query"`
				}](t, orNothing(step.ToolInput))
				if step.ToolName == "search_documents" && query == "" {
					query = input.Query
				}
				if step.ToolName == "read_document" && input.Focus != turn.query {
					t.Errorf("%s: read for %q, want %q", turn.question, input.Focus, turn.query)
				}
			}
			if query != turn.query {
				t.Errorf("%s: searched for %q, want %q", turn.question, query, turn.query)
			}
		}
	})

	t.Run("without a model, with new quotes", func(t *testing.T) {
		th := th.forSubtest(t)
		said := func(config jsonFields, question string) string {
			got, _ := th.post("/agent/chat", http.StatusOK, jsonFields{
				"message": question, "session_id": "quotes", "citation_style": "numeric", "config": config,
			})
			return got.Response
		}
		offline := jsonFields{"model": "offline"}
		said(offline, "What is the zero-moment point?")
		said(offline, "Thanks!")
		const point = "> A robot keeps its balance by moving its ankles and its hips. [1]"
		if got := said(offline, "Go on"); got != point {
			t.Errorf("after thanks it goes on with %q, want %q", got, point)
		}
		own := th.gives(inTurn(calling("search_documents", `{"query":"roof of Highlands"}`),
			saying("The condition of the roof of Highlands is good [1].")))
		if got := said(
			jsonFields{"seed": own},
			"How good is the roof of Highlands?",
		); !strings.HasSuffix(
			got,
			"good [1].",
		) {
			t.Fatalf("answer of the model = %q", got)
		}
		const condition = "> The roof of Highlands is in good condition. [1]"
		if got := said(offline, "Tell me more about it"); got != condition {
			t.Errorf("after an answer of the model: got %q, want %q", got, condition)
		}
		got, _ := th.post("/agent/query", http.StatusOK, jsonFields{
			"question": "Tell me more about it", "config": offline,
			"history": [][]string{{"How good is the roof of Highlands?", "It is fine."}},
		})
		if got.Answer != condition {
			t.Errorf("after a conversation of the client: got %q, want %q", got.Answer, condition)
		}
	})
}

// recalled returns the number of the passage that contains certain words, among those of earlier answers in the
// model's context.
func recalled(r scripted.Request, words string) string {
	for _, passage := range strings.Split(r.Messages[0].Text, "\n[")[1:] {
		if number, rest, ok := strings.Cut(passage, "]"); ok && strings.Contains(rest, words) {
			return "[" + number + "]"
		}
	}
	return fmt.Sprintf("[nothing known says %q]", words)
}

// orNothing returns a call's input, or an empty one for a step without input.
func orNothing(input json.RawMessage) string {
	if len(input) == 0 {
		return "{}"
	}
	return string(input)
}
