package main_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// chatted sends a question to /agent/chat with a script for the model, and returns the answer and the steps of its
// run.
func (th *scriptedServer) chatted(part scripted.Script, message string, body, config jsonFields) askedAnswer {
	th.t.Helper()
	sent := jsonFields{
		"message": message, "citation_style": "numeric", "config": jsonFields{"seed": th.gives(part)}.and(config),
	}
	got, _ := th.post("/agent/chat", http.StatusOK, sent.and(body))
	for _, s := range th.trace(got.RunID).Steps {
		got.Steps = append(got.Steps, askedStep{Step: s})
	}
	return got
}

// tools returns the tool calls of an answer, each with its message.
func (a askedAnswer) tools() (out []string) {
	for _, s := range a.Steps {
		if s.ToolName != "" {
			out = append(out, s.ToolName)
		}
	}
	return out
}

// S3 · the model's choice of tools: the loop, its tools, its steps, and the fallbacks.
func TestToolSelectionRequirements(t *testing.T) {
	t.Parallel()
	th := newScriptedServer(t, append(website(t, "The moon is made of rock."), "FOOTNOTE_AGENT_TIMEOUT_PER_TOOL=3s",
		"FOOTNOTE_AGENT_MODELS_ALLOWED=weak,strong", "FOOTNOTE_AGENT_MIN_MODEL_FOR_AGENT=strong")...)
	plan := th.add(file{
		"plan.pdf", pdfOf("The first sheet shows the weir.", "The drawbridge is painted dark green."),
	})[0]
	const good, green = "The roof of Highlands is in good condition", "The drawbridge is painted dark green"

	t.Run("S3.1 the model selects tools, their order and the end", func(t *testing.T) {
		th := th.forSubtest(t)
		got := th.chatted(func(r scripted.Request) scripted.Reply {
			replies := []scripted.Reply{
				calling("search_documents", `{"query":"zzyzx"}`), calling("search_documents", `{"query":"roof"}`),
				calling("read_document", `{"doc_id":"survey.md"}`), saying(good + " " + found(r, good) + "."),
			}
			// The program retries a search once with other words if it had no results.
			turn := slices.IndexFunc(replies, func(next scripted.Reply) bool {
				return len(next.Calls) == 0 || !calledBefore(r, string(next.Calls[0].Arguments))
			})
			return replies[turn]
		}, "What about the state up there?", nil, nil)
		if budget := th.trace(got.RunID).Budget; got.Response != good+" [1]." || budget.Steps != 10 ||
			got.tools()[0] != "search_documents" || got.tools()[len(got.tools())-1] != "read_document" {
			t.Errorf("got %q after %q with %+v", got.Response, got.tools(), budget)
		}
	})

	t.Run("S3.2 S3.3 S3.4 tools of the toolset", func(t *testing.T) {
		th := th.forSubtest(t)
		type output struct {
			Documents []struct {
				DocID    string `json:"doc_id"`
				Filename string
				Score    *float64
				Snippet  string
				Content  string
			}
			TotalFound *int   `json:"total_found"`
			DocID      string `json:"doc_id"`
			Filename   string
			Content    string
			PageCount  int `json:"page_count"`
			Boxes      [][]float64
			Page       int
			Summary    string
			Sentences  []string `json:"key_sentences"`
		}
		run := func(tool, input string) (chat.Step, output) {
			t.Helper()
			got := th.chatted(inTurn(calling(tool, input), saying("I found it.")), "Why is that?", nil, nil)
			for _, s := range got.Steps {
				if s.ToolName == tool {
					if s.Status != chat.StatusComplete {
						t.Errorf("%s %s ended %s: %s", tool, input, s.Status, s.ToolOutput)
					}
					return s.Step, loose[output](t, string(s.ToolOutput))
				}
			}
			t.Fatalf("%s was not called: %q", tool, got.names())
			return chat.Step{}, output{}
		}
		step, out := run("search_documents", `{"query":"drawbridge"}`)
		if string(step.ToolInput) != `{"max_results":10,"query":"drawbridge"}` || out.TotalFound == nil ||
			*out.TotalFound != 1 || len(out.Documents) != 1 || out.Documents[0].DocID != plan ||
			out.Documents[0].Filename != "plan.pdf" || out.Documents[0].Score == nil ||
			!strings.Contains(out.Documents[0].Snippet, green) {
			t.Errorf("search_documents %s → %s", step.ToolInput, step.ToolOutput)
		}
		step, out = run("read_document", `{"doc_id":"`+plan+`","focus_query":"drawbridge"}`)
		if out.DocID != plan || out.Filename != "plan.pdf" || out.PageCount != 2 ||
			!strings.Contains(out.Content, green) || !strings.Contains(out.Content, "(b") {
			t.Errorf("read_document → %s", step.ToolOutput)
		}
		step, out = run("read_multiple_documents", `{"doc_ids":["survey.md","`+plan+`"]}`)
		if len(out.Documents) != 2 || !strings.Contains(out.Documents[0].Content, good) ||
			!strings.Contains(out.Documents[1].Content, green) {
			t.Errorf("read_multiple_documents → %s", step.ToolOutput)
		}
		step, out = run("rerank_documents", `{"doc_ids":["survey.md","plan.pdf"],"query":"painted drawbridge"}`)
		if len(out.Documents) != 2 || out.Documents[0].Filename != "plan.pdf" || out.Documents[0].Score == nil {
			t.Errorf("rerank_documents → %s", step.ToolOutput)
		}
		step, _ = run("get_document_summary", `{"doc_id":"plan.pdf"}`)
		if !strings.Contains(string(step.ToolOutput), green) {
			t.Errorf("get_document_summary → %s", step.ToolOutput)
		}
		last := false
		got := th.chatted(func(r scripted.Request) scripted.Reply {
			last = r.NoTools
			return inTurn(calling("search_documents", `{"query":"roof"}`), calling("generate_answer", `{}`),
				saying(good+" "+found(r, good)+"."))(r)
		}, "Why is the roof good?", nil, nil)
		if !last || got.Response != good+" [1]." || got.tools()[1] != "generate_answer" {
			t.Errorf("after generate_answer: got %q after %q, last turn without tools: %v", got.Response, got.tools(),
				last)
		}
	})

	t.Run("S3.4 S3.5 a citation has its box and link", func(t *testing.T) {
		th := th.forSubtest(t)
		got := th.chatted(func(r scripted.Request) scripted.Reply {
			switch {
			case r.Turn() == 0:
				return calling("search_documents", `{"query":"painted drawbridge"}`)
			case r.Turn() == 1:
				return calling("read_document", `{"doc_id":"plan.pdf"}`)
			case r.Turn() == 2:
				return calling("cite_source",
					`{"cited_text":"`+green+`","block_id":"`+blockOf(r, green)+`","citation_number":`+
						strings.Trim(found(r, green), "[]")+`}`)
			case r.Turn() == 3:
				return calling("open_document", `{"citation_number":1,"reason":"It shows the colour."}`)
			}
			return saying(green + " [1].")
		}, "Why is the bridge green?", nil, nil)
		var opened struct{ URL string }
		for _, s := range got.Steps {
			if s.Step.Step == "cite_source" && !strings.Contains(string(s.ToolOutput), `"boxes":[[2,`) {
				t.Errorf("cite_source %s → %s", s.ToolInput, s.ToolOutput)
			}
			if s.ActionType == chat.ActionOpening {
				opened = loose[struct{ URL string }](t, string(s.ToolOutput))
			}
		}
		if len(got.Citations) != 1 || got.Citations[0].Page != 2 || len(got.Citations[0].Boxes) == 0 ||
			!strings.HasPrefix(opened.URL, "/d/"+plan+"?") || !strings.Contains(opened.URL, "page=2") {
			t.Fatalf("got %q with %+v after %q, link to %q", got.Response, got.Citations, got.names(), opened.URL)
		}
		view := th.send("GET", opened.URL, nil, header{"Accept", "text/html"})
		if view.status != http.StatusOK || !strings.Contains(view.body, green) {
			t.Errorf("link: got status %d, want 200", view.status)
		}
	})

	t.Run("S3.6 S3.7 calls are reported before and after", func(t *testing.T) {
		th := th.forSubtest(t)
		got := th.chatted(inTurn(calling("search_documents", `{"query":"roof"}`),
			calling("read_document", `{"doc_id":"survey.md"}`), calling("search_documents", `{"query":"drawbridge"}`),
			calling("calculate", `{"expression":"2*3"}`), saying(good+" [1].")), "Why is the roof good?", nil, nil)
		log := th.follow(got.RunID)
		var told []string
		for i, s := range log.steps {
			raw := jsonFields{}
			for _, ev := range log.raw {
				if at := strings.Index(ev.data, `"call_id":"`+s.CallID+`"`); ev.name == "reasoning_step" && at >= 0 {
					raw = loose[jsonFields](t, ev.data)
					break
				}
			}
			for _, field := range []string{
				"type", "run_id", "seq", "step", "action_type", "message", "timestamp", "details", "status",
				"tool_status",
			} {
				if raw[field] == nil {
					t.Errorf("step %d lacks %s: %v", i, field, raw)
				}
			}
			if s.ToolName != "" {
				told = append(told, string(s.ActionType)+" "+string(s.ToolStatus)+" "+s.Message)
				if over := s.Status == chat.StatusComplete; over != (len(s.ToolOutput) > 0) || len(s.ToolInput) == 0 {
					t.Errorf("%s %s: input %s, output %s", s.Step, s.Status, s.ToolInput, s.ToolOutput)
				}
			}
		}
		want := []string{
			"searching running Searching for: roof", "searching complete Found 1 document",
			"reading running Reading survey.md", "reading complete Read survey.md",
			"searching running Searching for: drawbridge", "searching complete Found 1 document",
			"calculating running Calculating 2*3", "calculating complete 2*3 = 6",
		}
		if strings.Join(told, "|") != strings.Join(want, "|") {
			t.Errorf("steps = %q, want %q", told, want)
		}
	})

	t.Run("S3.10 a repeated search is cached, then refused", func(t *testing.T) {
		th := th.forSubtest(t)
		same := calling("search_documents", `{"query":"roof in good condition"}`)
		got := th.chatted(inTurn(same, same, same, saying(good+" [1].")), "Why is the roof good?", nil, nil)
		var ends []string
		for _, s := range got.Steps {
			if s.ToolName != "" {
				ends = append(ends, string(s.Status)+" "+strconv.FormatBool(s.Cached))
			}
		}
		if want := "complete false|complete true|skipped false"; strings.Join(ends, "|") != want ||
			got.Response != good+" [1]." {
			t.Errorf("%q after %q, want %s", got.Response, ends, want)
		}
	})

	t.Run("S3.10 a rate limit wait is visible", func(t *testing.T) {
		th := th.forSubtest(t)
		busy := func(after string) scripted.Reply {
			return scripted.Reply{Fault: scripted.Fault{Status: 429, RetryAfter: after}}
		}
		seed := th.gives(func(scripted.Request) scripted.Reply { return busy("") })
		run := loose[started](t, th.send("POST", "/chat",
			`{"message":"Why is the roof good?","config":{"seed":`+strconv.FormatInt(seed, 10)+`}}`).body)
		st, err := th.open("GET", run.Events, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer st.close()
		for waits := false; !waits; {
			ev, err := st.next()
			if err != nil {
				t.Fatalf("run without a wait: got %v", err)
			}
			waits = strings.Contains(ev.data, `"message":"The model's server is busy: retrying in 5 s"`) &&
				strings.Contains(ev.data, `"status":"running"`)
		}
		if r := th.send("POST", "/agent/runs/"+run.RunID+"/cancel", nil); r.status >= 300 {
			t.Errorf("cancel during the wait: got %d %s", r.status, r.body)
		}
		if log := th.follow(run.RunID); log.done.Status != chat.RunCancelled {
			t.Errorf("run ended with %+v, want cancelled", log.done)
		}
		tries := 0
		got := th.chatted(func(r scripted.Request) scripted.Reply {
			if tries++; tries == 1 {
				return busy("1")
			}
			return searchingFor("search_documents", "roof", good)(r)
		}, "Why is the roof good?", nil, nil)
		if got.Response != good+" [1]." || !slices.Contains(got.names(), "rate_limit") {
			t.Errorf("%q after %q", got.Response, got.names())
		}
	})

	t.Run("S3.10 a tool timeout does not end the run", func(t *testing.T) {
		th := th.forSubtest(t)
		got := th.chatted(func(r scripted.Request) scripted.Reply {
			if r.Turn() == 0 {
				return together(calling("web_search", `{"query":"hang"}`),
					calling("search_documents", `{"query":"roof"}`))
			}
			return saying(good + " " + found(r, good) + ".")
		}, "Why is the roof good?", nil, jsonFields{"enabled_tools": []string{"web_search", "search_documents"}})
		for _, s := range got.Steps {
			if s.ToolName == "web_search" && (s.Status != chat.StatusError || s.Error == nil ||
				s.Error.Code != chat.CodeTimeout || !plainSentence(s.Error.Message)) {
				t.Errorf("web_search ended with %s: %+v, want a timeout", s.Status, s.Error)
			}
		}
		if got.Response != good+" [1]." || !slices.Contains(got.tools(), "web_search") {
			t.Errorf("%q after %q", got.Response, got.tools())
		}
	})

	t.Run("S3.11 allowed models and the minimum model", func(t *testing.T) {
		th := th.forSubtest(t)
		for model, by := range map[string]string{"weak": "pipeline", "strong": ""} {
			got := th.chatted(searchingFor("search_documents", "roof", good), "Why is the roof good?", nil,
				jsonFields{"model": model})
			chosen := ""
			for _, s := range got.Steps {
				if who, ok := s.Details["by"].(string); ok {
					chosen = who
				}
			}
			if got.Response != good+" [1]." || chosen != by {
				t.Errorf("%s: %q, chosen by %q, want %q", model, got.Response, chosen, by)
			}
		}
		bad := th.send("POST", "/agent/chat", `{"message":"Why?","config":{"model":"huge"}}`)
		if p := loose[problem](t, bad.body); bad.status != http.StatusBadRequest ||
			!strings.Contains(p.Detail, "weak, strong") {
			t.Errorf("disallowed model: got %d %s, want 400", bad.status, bad.body)
		}
	})
}

// calledBefore reports whether a model has made a call with certain arguments in its run.
func calledBefore(r scripted.Request, arguments string) bool {
	for _, m := range r.Messages {
		for _, c := range m.Calls {
			if string(c.Arguments) == arguments {
				return true
			}
		}
	}
	return false
}

// blockOf returns the id of the block that contains certain words in a reading's output.
func blockOf(r scripted.Request, words string) string {
	for _, m := range r.Messages {
		_, shown, _ := strings.Cut(m.Text, `"content":"`)
		before, _, ok := strings.Cut(shown, words)
		if at := strings.LastIndex(before, "(b"); ok && at >= 0 {
			return strings.FieldsFunc(before[at+1:], func(r rune) bool { return strings.ContainsRune("),– ", r) })[0]
		}
	}
	return ""
}
