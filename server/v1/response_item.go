package v1

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/runlog"
)

// webSearch is the tool that searches the web; other search tools search documents.
const webSearch = "web_search"

// toolItem converts a tool call to an output item: a search, or a text summary.
func toolItem(id string, step chat.Step, told []SummaryPart, base string) any {
	switch {
	case step.Capability != chat.CapabilitySearch:
		status := itemStatus(step.Status)
		if status == failed {
			status = incomplete // reasoning has no other state for this
		}
		return ReasoningItem{Type: "reasoning", ID: id, Status: status, Summary: append([]SummaryPart{}, told...)}
	case step.ToolName == webSearch:
		item := WebSearchItem{Type: "web_search_call", ID: id, Status: itemStatus(step.Status), Action: WebAction{
			Type: "search", Query: searchedFor(step), Sources: []WebSource{},
		}}
		if step.Result != nil {
			for _, hit := range step.Result.Hits {
				if hit.SourceURL != "" {
					item.Action.Sources = append(item.Action.Sources, WebSource{"url", hit.SourceURL})
				}
			}
		}
		return item
	}
	item := FileSearchItem{
		Type: "file_search_call", ID: id, Status: itemStatus(step.Status), Queries: []string{searchedFor(step)},
		Results: []SearchResult{},
	}
	if step.Result != nil {
		item.Results = searchResults(step.Result.Hits, base)
	}
	return item
}

// itemStatus converts the state of a step to OpenAI's names.
func itemStatus(s chat.Status) string {
	switch s {
	case chat.StatusComplete:
		return completed
	case chat.StatusError:
		return failed
	case chat.StatusCancelled, chat.StatusSkipped:
		return incomplete
	case chat.StatusPending, chat.StatusRunning:
	}
	return inProgress
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
func searchResults(hits []chat.Hit, base string) []SearchResult {
	out := []SearchResult{}
	var title, filename string
	for _, hit := range hits {
		if !hit.Sub {
			title, filename = hit.Title, cmp.Or(hit.Filename, hit.Title)
		}
		one := SearchResult{
			FileID:     hit.DocumentID,
			Filename:   filename,
			Text:       hit.Snippet,
			Attributes: map[string]string{},
		}
		if hit.Score != nil {
			one.Score = *hit.Score
		}
		for name, value := range map[string]string{
			"title": title, "section": hit.Section, "url": runlog.Absolute(base, hit.Link()),
			"source_url": hit.SourceURL,
		} {
			if value != "" {
				one.Attributes[name] = value
			}
		}
		if hit.Page > 0 {
			one.Attributes["page"] = strconv.Itoa(hit.Page)
		}
		out = append(out, one)
	}
	return out
}

// responseAnnotations returns the footnotes of an answer.
func responseAnnotations(markdown string, citations []chat.Citation, base string) []ResponseAnnotation {
	list := []ResponseAnnotation{}
	for _, found := range placeCitations(markdown, citations, base, 0) {
		list = append(list, ResponseAnnotation{
			Type: "url_citation", Citation: found.place, FileID: found.of.DocumentID,
			Filename: cmp.Or(found.of.Filename, found.of.Title), Quote: found.of.Quote,
		})
	}
	return list
}
