package main_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

// S4 · the API: its modes, sessions, citations, refusals, errors and documents.
func TestWhatTheAPIAsksFor(t *testing.T) {
	t.Parallel()
	th := openTheatre(t)
	const good = "The roof of Highlands is in good condition"
	const point = "The zero-moment point (ZMP) is the point where the forces on a robot balance"

	t.Run("S4.1 S4.2 the whole library, or the given text alone", func(t *testing.T) {
		th := th.in(t)
		for _, path := range []string{"/agent/chat", "/agent/chat/structured"} {
			seed := th.gives(searchingFor("search_documents", "zero-moment point", point))
			got, whole := th.post(path, http.StatusOK, jsonFields{
				"message": "Why is the zero-moment point used?", "session_id": "test_session_1", "context_text": nil,
				"config": jsonFields{"seed": seed},
			})
			said := got.Response + got.Answer
			if got.RetrievalMode != "full_book" || !strings.HasPrefix(said, point+" [Source 1].") ||
				!strings.Contains(whole.body, `"sources":[{"number":1,`) || got.Status != "success" {
				t.Errorf("%s from the library: %s", path, whole.body)
			}
			seed = th.gives(func(r scripted.Request) scripted.Reply {
				if len(r.Tools) > 0 && !r.NoTools ||
					!strings.Contains(fmt.Sprint(r.Messages), "The ZMP is the point where") {
					t.Errorf("%s: the model has %d tools and is told %v", path, len(r.Tools), r.Messages)
				}
				return saying("The ZMP is the point where forces balance.")
			})
			got, whole = th.post(path, http.StatusOK, jsonFields{
				"message": "Explain this in simple terms", "session_id": "test_session_2",
				"context_text": "The ZMP is the point where forces balance.", "config": jsonFields{"seed": seed},
			})
			if got.RetrievalMode != "context_constrained" || got.Status != "success" || len(got.Citations) != 0 ||
				got.Response+got.Answer != "The ZMP is the point where forces balance." ||
				!strings.Contains(whole.body, `"sources":[]`) || got.Confidence != 0.8 {
				t.Errorf("%s from the given text: %s", path, whole.body)
			}
			for _, step := range th.trace(got.RunID).Steps {
				if step.ToolName != "" {
					t.Errorf("%s from the given text called %s", path, step.ToolName)
				}
			}
		}
	})

	t.Run("S4.3 ids of sessions", func(t *testing.T) {
		th := th.in(t)
		for _, id := range []string{"user_7_conv_9", "a", strings.Repeat("x", 128), "A-b_9"} {
			got, _ := th.post("/agent/chat", http.StatusOK, jsonFields{
				"message": "Hello!", "session_id": id, "config": jsonFields{"model": "offline"},
			})
			kept := th.send("GET", "/agent/session/"+id, nil)
			if got.SessionID != id || kept.status != http.StatusOK ||
				!strings.Contains(kept.body, `"content":"Hello!"`) {
				t.Errorf("%.20s: %s, %d %s", id, got.SessionID, kept.status, kept.body)
			}
			if gone := th.send("DELETE", "/agent/session/"+id, nil).status; gone != http.StatusNoContent {
				t.Errorf("%.20s: deleted with %d", id, gone)
			}
			for _, method := range []string{"GET", "DELETE"} {
				if again := th.send(method, "/agent/session/"+id, nil).status; again != http.StatusNotFound {
					t.Errorf("%.20s: %s after its end: %d", id, method, again)
				}
			}
		}
		long := strings.Repeat("x", 129)
		for written, id := range map[string]string{
			"a%20b": "a b", "a.b": "a.b", "..%2Fx": "../x", "%C3%A4": "ä", long: long, "a%27%3B--": "a';--",
			"%0A": "\n",
		} {
			for method, path := range map[string]string{
				"POST": "/agent/chat", "GET": "/agent/session/" + written, "DELETE": "/agent/session/" + written,
			} {
				var body any
				if method == "POST" {
					body = fmt.Sprintf(`{"message":"Hello!","session_id":%q}`, id)
				}
				r := th.send(method, path, body)
				if p := loose[problem](t, r.body); r.status != http.StatusBadRequest || !plainSentence(p.Detail) {
					t.Errorf("%s with the id %.20q: %d %s", method, id, r.status, r.body)
				}
			}
		}
		empty, _ := th.post("/agent/chat", http.StatusOK, jsonFields{
			"message": "Hello!", "session_id": nil, "config": jsonFields{"model": "offline"},
		})
		if len(empty.SessionID) != 36 {
			t.Errorf("without an id the session is %q", empty.SessionID)
		}
	})

	t.Run("S4.5 passages with their text, score and address", func(t *testing.T) {
		th := th.in(t)
		for query, want := range map[string]struct{ text, address string }{
			"zero-moment point": {point, "https://example.com/book/chapter3"}, "roof of Highlands": {good, ""},
		} {
			r := th.send("POST", "/search", `{"query":"`+query+`","top_k":1}`)
			got := loose[struct {
				Query        string
				TotalResults int `json:"total_results"`
				Results      []struct {
					Text     string
					Score    float64
					Metadata struct {
						URL       string
						SourceURL string `json:"source_url"`
					}
				}
			}](t, r.body)
			if r.status != http.StatusOK || got.Query != query || got.TotalResults != 1 || len(got.Results) != 1 ||
				!strings.Contains(got.Results[0].Text, want.text) || got.Results[0].Score <= 0 ||
				got.Results[0].Score > 1 || got.Results[0].Metadata.SourceURL != want.address ||
				th.send("GET", got.Results[0].Metadata.URL, nil).status != http.StatusOK {
				t.Errorf("%s: %d %s", query, r.status, r.body)
			}
		}
	})

	t.Run("S4.6 a refusal carries no sources", func(t *testing.T) {
		th := th.in(t)
		const refusal = "I couldn't find relevant information about that in your documents."
		for _, model := range []string{"scripted", "offline"} {
			seed := th.gives(inTurn(calling("search_documents", `{"query":"quantum entanglement"}`), saying(refusal)))
			got, whole := th.post("/agent/chat", http.StatusOK, jsonFields{
				"message": "What is quantum entanglement?", "config": jsonFields{"seed": seed, "model": model},
			})
			if !strings.HasPrefix(got.Response, refusal) || strings.Contains(got.Response, "Source") ||
				got.StopReason != "refused" || got.Status != "success" || len(got.Citations) != 0 ||
				got.Confidence != 0 || strings.Contains(whole.body, `"cited":true`) {
				t.Errorf("by the model %s: %s", model, whole.body)
			}
		}
	})

	t.Run("S4.11 ten questions at once are answered", func(t *testing.T) {
		th := th.in(t)
		seed := th.gives(searchingFor("search_documents", "roof of Highlands", good))
		var asking sync.WaitGroup
		replies := make([]reply, 10)
		for i := range replies {
			asking.Go(func() {
				replies[i], _ = th.try("POST", "/agent/chat",
					fmt.Sprintf(`{"message":"Why is the roof good?","config":{"seed":%d}}`, seed))
			})
		}
		asking.Wait()
		for i, r := range replies {
			if r.status != http.StatusOK || !strings.Contains(r.body, good+" [Source 1].") {
				t.Errorf("question %d: %d %s", i, r.status, r.body)
			}
		}
	})

	t.Run("S4.10 the routes are described, and the description can be read", func(t *testing.T) {
		th := th.in(t)
		described := loose[struct {
			OpenAPI string
			Paths   map[string]map[string]any
		}](t, th.send("GET", "/openapi.json", nil).body)
		for _, route := range []string{
			"post /agent/chat", "post /agent/chat/structured", "post /agent/query", "post /agent/retrieve",
			"get /agent/session/{id}", "delete /agent/session/{id}", "get /agent/runs/{id}", "post /search",
			"get /health",
		} {
			method, path, _ := strings.Cut(route, " ")
			if described.Paths[path][method] == nil {
				t.Errorf("%s is not described", route)
			}
		}
		page := th.send("GET", "/docs", nil, header{"Accept", "text/html"})
		if page.status != http.StatusOK || !strings.Contains(page.body, "/agent/chat/structured") ||
			!strings.Contains(page.body, `data-testid="try"`) || !strings.HasPrefix(described.OpenAPI, "3.") {
			t.Errorf("/docs: %d, version %q", page.status, described.OpenAPI)
		}
	})

	t.Run("S4.12 thumbs up and down", func(t *testing.T) {
		th := th.in(t)
		got, _ := th.post("/agent/chat", http.StatusOK, jsonFields{
			"message": "How good is the roof?", "config": jsonFields{"model": "offline"},
		})
		for _, rating := range []string{"up", "down"} {
			given := th.send("POST", "/agent/runs/"+got.RunID+"/feedback", `{"rating":"`+rating+`"}`)
			if list := th.send("GET", "/feedback?rating="+rating, nil); given.status >= 300 ||
				!strings.Contains(list.body, got.RunID) {
				t.Errorf("%s: %d %s, the list: %s", rating, given.status, given.body, list.body)
			}
		}
		if list := th.send("GET", "/feedback?rating=up", nil); strings.Contains(list.body, got.RunID) {
			t.Errorf("the rating that was changed is still there: %s", list.body)
		}
	})

	t.Run("S4.13 retrieve_book_content gives text, and claims lead to the book's address", func(t *testing.T) {
		th := th.in(t)
		const book = "https://example.com/book/chapter3"
		part := func(r scripted.Request) scripted.Reply {
			if r.Turn() == 0 && !r.NoTools {
				return calling("retrieve_book_content", `{"query":"zero-moment point","top_k":1}`)
			}
			return saying(point + " [Source 1].")
		}
		for name, body := range map[string]jsonFields{
			"documentation": {"toolset": "documentation", "config": jsonFields{"selection": "model"}},
			"by its name":   {"config": jsonFields{"enabled_tools": []string{"retrieve_book_content"}}},
		} {
			config := body["config"].(jsonFields).and(jsonFields{"seed": th.gives(part)})
			got, _ := th.post("/agent/chat", http.StatusOK, jsonFields{"message": "Why is the ZMP used?"}.and(body).and(
				jsonFields{"config": config}))
			output := ""
			for _, step := range th.trace(got.RunID).Steps {
				if step.ToolName == "retrieve_book_content" && output == "" {
					output = loose[struct{ Text string }](t, string(step.ToolOutput)).Text
				}
			}
			for _, want := range []string{"\nURL: " + book, "\nRelevance: ", "\nContent: ", point} {
				if !strings.Contains(output, want) {
					t.Errorf("%s: %q lacks %q", name, output, want)
				}
			}
			if !strings.HasPrefix(got.Response, point+" [Source 1].\n\nSources:\n[Source 1] Humanoid robots, ") ||
				!strings.Contains(got.Response, ": "+book+" · "+th.url+"/d/") || len(got.Citations) != 1 ||
				got.Citations[0].SourceURL != book {
				t.Errorf("%s: %q with %+v", name, got.Response, got.Citations)
			}
		}
		for _, bad := range []string{`{"query":"roof","top_k":0}`, `{"query":""}`, `{}`} {
			got, _ := th.query(inTurn(calling("retrieve_book_content", bad), saying("No.")), "Why is that?",
				jsonFields{"toolset": "documentation"}, jsonFields{"selection": "model"})
			if calls := got.stepsNamed("retrieve_book_content"); !slices.ContainsFunc(calls, func(s askedStep) bool {
				return s.Status == "error" && s.Error != nil
			}) {
				t.Errorf("%s: %+v", bad, calls)
			}
		}
	})
}
