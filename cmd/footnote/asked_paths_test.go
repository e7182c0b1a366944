package main_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// S3.12, S3.13 · questions that need no choosing: the model is asked for the answer only, and the tools are still used.
// For talk it is free to call some.
func TestShortPathsSkipTheChoiceAndNotTheTools(t *testing.T) {
	t.Parallel()
	th := openTheatre(t)
	const good = "The roof of Highlands is in good condition"
	before := func(session string) {
		th.chatted(searchingFor("search_documents", "roof of Highlands", good), "How good is the roof of Highlands?",
			jsonFields{"session_id": session}, nil)
	}
	for i, row := range []struct {
		path, question string
		later          bool // behind an answer about the roof
		says, answer   string
		tools          string // with what they were given
	}{
		{"citation", "What exactly does [1] say?", true, good + " {roof}.", good + " [1].",
			"read_document " + good + "."},
		{"citation", "Can you show me more of footnote 1?", true, good + " {roof}.", good + " [1].",
			"read_document " + good + "."},
		{"document", "What does survey.md say about the roof?", false, good + " {roof}.", good + " [1].",
			"search_documents What does survey.md say about the roof?|" +
				"read_document What does survey.md say about the roof?"},
		{"document", "What does the building survey say about the roof?", false, good + " {roof}.", good + " [1].",
			"search_documents What does the building survey say about the roof?|" +
				"read_document What does the building survey say about the roof?"},
		{"talk", "Hello there!", false, "Hello! What shall I look for?", "Hello! What shall I look for?", ""},
		{"talk", "What can you do?", true, "I answer from documents.", "I answer from documents.", ""},
		{"transform", "Translate the following text into French:\nThe mill is in good condition.", false,
			"Le moulin est en bon état.", "Le moulin est en bon état.", ""},
		{"transform", "Shorten your last answer", true, "The roof is in good condition.",
			"The roof is in good condition [1].", ""},
		{"transform", "Explain that in simple terms", true, "The roof of Highlands is good.",
			"The roof of Highlands is good [1].", ""},
	} {
		t.Run("S3.12 "+row.path+": "+row.question, func(t *testing.T) {
			th := th.in(t)
			session := "short-" + strconv.Itoa(i)
			if row.later {
				before(session)
			}
			asked := 0
			got := th.chatted(func(r scripted.Request) scripted.Reply {
				// what rules take for talk may still be searched for by the model
				free := row.path == "talk" || row.path == "transform"
				if asked++; (!r.NoTools && len(r.Tools) > 0) != free {
					t.Errorf("the model was to choose: %v, want %v", !free, free)
				}
				return saying(strings.ReplaceAll(row.says, "{roof}", found(r, good)))
			}, row.question, jsonFields{"session_id": session}, nil)
			var calls []string
			path := ""
			for _, s := range got.Steps {
				if p, ok := s.Details["path"].(string); ok {
					path = p
				}
				input := loose[struct {
					Query string
					Focus string `json:"focus_query"`
				}](t, orNothing(s.ToolInput))
				if s.ToolName != "" {
					calls = append(calls, s.ToolName+" "+input.Query+input.Focus)
				}
				if s.ToolName == "search_documents" && strings.Contains(string(s.ToolOutput), "value-2024.md") {
					t.Errorf("it searched outside of the document: %s", s.ToolOutput)
				}
			}
			if path != row.path || strings.Join(calls, "|") != row.tools || got.Response != row.answer || asked != 1 {
				t.Errorf("path %q with %q: %q after %d requests; want %q with %q: %q after one", path, calls,
					got.Response, asked, row.path, row.tools, row.answer)
			}
		})
	}

	t.Run("S3.13 what is asked to be opened opens, also without a model", func(t *testing.T) {
		th := th.in(t)
		before("open")
		for _, row := range []struct{ question, answer, url string }{
			{"Open citation 1", "Opened footnote 1: survey.md.", "?c="},
			{"Open the document robots.md", "Opened robots.md.", "/d/"},
		} {
			for _, model := range []string{"scripted", "offline"} {
				got := th.chatted(scripted.Librarian, row.question, jsonFields{"session_id": "open"},
					jsonFields{"model": model})
				var opened struct{ URL string }
				for _, s := range got.Steps {
					if s.ActionType == chat.ActionOpening {
						_ = json.Unmarshal(s.ToolOutput, &opened) // checked below
					}
				}
				if got.Response != row.answer || !strings.Contains(opened.URL, row.url) ||
					th.send("GET", opened.URL, nil, header{"Accept", "text/html"}).status != http.StatusOK {
					t.Errorf("%s with the model %s: %q opens %q", row.question, model, got.Response, opened.URL)
				}
			}
		}
	})
}
