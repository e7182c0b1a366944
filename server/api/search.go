package api

import (
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/find"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/english"
)

// SearchResponse is the response of POST /search.
type SearchResponse struct {
	Query        string              `json:"query"`
	TotalResults int                 `json:"total_results"` // The number of results.
	Results      []find.SearchResult `json:"results"`       // The passages found, best first.
	Notes        []string            `json:"notes,omitempty"`
	Check        *chat.Step          `json:"check,omitempty"` // The check of the passages, if there was one.
}

// found is the results of a search, with its steps. search is nil for the search of an agent, check if there was no
// check.
type found struct {
	results  []find.SearchResult
	strategy string
	notes    []string
	search   *chat.Step
	check    *chat.Step
	spent    chat.Spent
}

// Passages finds passages for programs.
type Passages struct {
	Library  *corpus.Library
	Searcher *find.Searcher
	Checker  Checker // lets a language model check the results
	Gatherer Gather  // lets the agent search for POST /agent/retrieve; nil: a plain search
	// a failed agent has no plain search as fallback
	GatherAlone bool
	// FallbackScore is the minimum similarity, 0–1, of the semantic search that is Gatherer's fallback.
	FallbackScore float64
	Bodies        httpio.Bodies
	Log           *slog.Logger
}

// Search handles POST /search.
func (a *Passages) Search(c httpio.Context, body find.SearchQuery) (SearchResponse, error) {
	if err := a.Searcher.Spend(c.Request().Context(), httpio.Scope(c), body); err != nil {
		return SearchResponse{}, err
	}
	f, err := a.runSearch(c, body, nil)
	return SearchResponse{body.Query, len(f.results), f.results, f.notes, f.check}, err
}

// runSearch validates and runs a search and returns its results and steps. keep filters the results; nil keeps all.
//
// Without a semantic index the strategy is lexical, whatever the request's mode.
func (a *Passages) runSearch(
	c httpio.Context, body find.SearchQuery, keep func([]corpus.Result) []corpus.Result,
) (found, error) {
	q, err := a.Searcher.Query(body)
	if err != nil {
		return found{}, err
	}
	limit := q.Limit
	q.Limit = a.wanted(body, limit)
	scope := httpio.Scope(c)
	if err := a.Library.CheckNamed(c.Request().Context(), scope, body.Namespace, q.Documents); err != nil {
		return found{}, err
	}
	start := time.Now()
	res, err := a.Library.Search(c.Request().Context(), scope.In(body.Namespace), q)
	if err != nil {
		return found{}, err
	}
	if keep != nil {
		res.Results = keep(res.Results)
	}
	strategy := q.Mode
	if !a.Library.Semantic() {
		strategy = corpus.ModeLexical
	}
	searched, err := searchStep(q, string(strategy), len(res.Results), res.Notes, start)
	if err != nil {
		return found{}, err
	}
	f := a.checked(c, body, res.Results, limit)
	f.strategy, f.notes, f.search = string(strategy), append(httpio.NotNil(res.Notes), f.notes...), &searched
	return f, nil
}

// fallBack is the fallback for an agent that failed or found nothing: a semantic search with the threshold of the
// settings. If semantic search is unavailable, it searches by words and filters the results by corpus.Fitting.
func (a *Passages) fallBack(c httpio.Context, body find.SearchQuery) (found, error) {
	body.Mode, body.MinScore = corpus.ModeSemantic, a.FallbackScore
	fitting := func(hits []corpus.Result) []corpus.Result {
		if slices.ContainsFunc(hits, func(r corpus.Result) bool { return r.Similarity == nil }) {
			return corpus.Fitting(body.Query, hits)
		}
		return hits
	}
	if a.Library.Semantic() {
		f, err := a.runSearch(c, body, fitting)
		if chat.CodeOf(orNone(err)) != chat.CodeUnavailable {
			return f, err
		}
	}
	body.Mode, body.MinScore = corpus.ModeLexical, 0
	return a.runSearch(c, body, fitting)
}

// searchStep returns the search as a step, for callers that show the steps.
func searchStep(q corpus.Query, strategy string, count int, notes []string, start time.Time) (chat.Step, error) {
	tool, args := "search_documents", map[string]any{"query": q.Text, "max_results": q.Limit}
	if q.Mode == corpus.ModeSemantic {
		tool, args = "semantic_search", map[string]any{"query": q.Text, "top_k": q.Limit, "min_score": q.MinScore}
	}
	input, err := json.Marshal(args)
	if err != nil {
		return chat.Step{}, err
	}
	output, err := json.Marshal(map[string]any{"total_found": count})
	if err != nil {
		return chat.Step{}, err
	}
	return chat.Step{
		CallID: "search-1", Step: tool, ActionType: chat.ActionSearching, ToolName: tool,
		Message: "Found " + english.Count(count, "passage"), Timestamp: float64(start.UnixMicro()) / 1e6,
		ToolInput: input, ToolOutput: output, OutputSize: len(output), Status: chat.StatusComplete,
		ToolStatus: chat.StatusComplete,
		Capability: chat.CapabilitySearch,
		Result:     &chat.StepResult{Query: q.Text, Found: count, Notes: notes},
		DurationMS: time.Since(start).Milliseconds(), Details: map[string]any{"strategy": strategy},
	}, nil
}
