package relay

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// The states of responses and of their items, besides those of texts.
const (
	inProgress = "in_progress"
	failed     = "failed"
	cancelled  = "cancelled"
)

// responseID returns the id of a run's response.
func responseID(runID string) string { return "resp_" + runID }

// newResponse returns the response of a running run, without output.
func newResponse(run chat.Run) V1Response {
	out := V1Response{
		ID: responseID(run.ID), Object: "response", CreatedAt: run.CreatedAt.Unix(), Status: inProgress,
		Model: ModelName, Output: []any{}, ParallelToolCalls: true, Store: true, ToolChoice: "auto", Tools: []any{},
		Conversation: V1ConversationNamed{run.SessionID}, Temperature: run.Request.Config.Temperature,
		Text: V1TextForm{V1TextFormat{"text"}}, Truncation: "disabled", Metadata: map[string]string{},
	}
	if run.Request.Instructions != "" {
		out.Instructions = &run.Request.Instructions
	}
	if run.ParentID != "" {
		out.Previous = new(responseID(run.ParentID))
	}
	return out
}

// ended returns the response with the results of a finished run. failure is the reason for a missing answer.
func (r V1Response) ended(t *runlog.Trace, failure error) V1Response {
	r.Status = completed
	r.Usage = &V1ResponseUsage{
		InputTokens: t.Tokens.In, OutputTokens: t.Tokens.Out, TotalTokens: t.Tokens.In + t.Tokens.Out,
	}
	if t.EndedAt != nil {
		r.CompletedAt = new(t.EndedAt.Unix())
	}
	switch {
	case failure != nil:
		r.Status, r.CompletedAt = failed, nil
		r.Error = newResponseError(failure)
		return r
	case t.Status == chat.RunCancelled:
		r.Status, r.CompletedAt = cancelled, nil
	case t.FinishReason() == "length":
		r.Status, r.CompletedAt, r.IncompleteDetails = incomplete, nil, &V1Incomplete{"max_output_tokens"}
	}
	r.Footnote = new(t.Judged())
	return r
}

// newResponseError converts a failure to OpenAI's error codes.
func newResponseError(err error) *V1ResponseError {
	e := httpio.AsError(err)
	out := &V1ResponseError{Code: "server_error", Message: e.Message.String()}
	switch status := httpio.Status(e.Code); {
	case status == http.StatusTooManyRequests:
		out.Code = "rate_limit_exceeded"
	case status < http.StatusInternalServerError:
		out.Code = "invalid_prompt"
	}
	return out
}

// The types of the items of tool calls.
const (
	fileSearch = "file_search_call"
	webSearch  = "web_search_call"
	reasoning  = "reasoning"
)

// itemType returns the type of a call's item: a search, in the documents or on the web, or a text about another call.
func itemType(step chat.Step) string {
	switch {
	case step.Capability != chat.CapabilitySearch:
		return reasoning
	case step.ToolName == "web_search":
		return webSearch
	}
	return fileSearch
}

// toolItem converts a tool call to an item of the output. about are the sentences about it.
func toolItem(id string, step chat.Step, about []V1SummaryPart, base string) any {
	kind, status := itemType(step), itemStatus(step.Status)
	var hits []chat.Hit
	if step.Result != nil {
		hits = step.Result.Hits
	}
	switch kind {
	case webSearch:
		sources := []V1WebSource{}
		for _, hit := range hits {
			if hit.SourceURL != "" {
				sources = append(sources, V1WebSource{"url", hit.SourceURL})
			}
		}
		return V1WebSearchItem{
			Type: kind, ID: id, Status: status,
			Action: V1WebAction{Type: "search", Query: searchedFor(step), Sources: sources},
		}
	case fileSearch:
		return V1FileSearchItem{
			Type: kind, ID: id, Status: status, Queries: []string{searchedFor(step)},
			Results: searchResults(hits, base),
		}
	}
	if status == failed {
		status = incomplete // reasoning has no other state for this
	}
	return V1ReasoningItem{Type: kind, ID: id, Status: status, Summary: append([]V1SummaryPart{}, about...)}
}

// itemStatus converts the state of a step to OpenAI's names.
func itemStatus(s chat.Status) string {
	return cmp.Or(map[chat.Status]string{
		chat.StatusComplete: completed, chat.StatusError: failed, chat.StatusCancelled: incomplete,
		chat.StatusSkipped: incomplete,
	}[s], inProgress)
}

// searchedFor returns a search's query, from the result, else from the call, else from the step.
func searchedFor(step chat.Step) string {
	if step.Result != nil && step.Result.Query != "" {
		return step.Result.Query
	}
	var input map[string]any
	if step.Label == nil || json.Unmarshal(step.ToolInput, &input) != nil {
		return step.Message
	}
	words, _ := input[step.Label.Argument].(string)
	return cmp.Or(words, step.Message)
}

// searchResults converts a search's hits; base is the prefix of their links. A further passage of a document gets
// the document's name from the hit before it.
func searchResults(hits []chat.Hit, base string) []V1SearchResult {
	out := []V1SearchResult{}
	var title, filename string
	for _, hit := range hits {
		if !hit.Sub {
			title, filename = hit.Title, cmp.Or(hit.Filename, hit.Title)
		}
		one := V1SearchResult{
			FileID: hit.DocumentID, Filename: filename, Text: hit.Snippet, Attributes: map[string]string{
				"title": title, "section": hit.Section, "url": runlog.Absolute(base, hit.Link()),
				"source_url": hit.SourceURL,
			},
		}
		if hit.Score != nil {
			one.Score = *hit.Score
		}
		if hit.Page > 0 {
			one.Attributes["page"] = strconv.Itoa(hit.Page)
		}
		maps.DeleteFunc(one.Attributes, func(_, value string) bool { return value == "" })
		out = append(out, one)
	}
	return out
}
