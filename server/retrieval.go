package server

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"footnote/chat"
	"footnote/server/runlog"
)

// retrieval is one search or reading of a session.
type retrieval struct {
	ToolName      string    `json:"tool_name"`
	Query         string    `json:"query"`
	ResultsCount  int       `json:"results_count"`
	AvgSimilarity float64   `json:"avg_similarity"` // of the results whose cosine is known, else of those that have a score; 0 when none has
	Timestamp     time.Time `json:"timestamp"`
}

// retrievals is what the runs behind messages searched for and read.
func retrievals(messages []message, traces map[string]*runlog.Trace) []retrieval {
	list := []retrieval{}
	last := ""
	for _, m := range messages {
		if m.RunID == last {
			continue
		}
		last = m.RunID
		for _, step := range traces[m.RunID].Steps {
			if step.ToolName != "" && runlog.IsRetrieval(step.ActionType) && step.Status == chat.StatusComplete {
				list = append(list, newRetrieval(step))
			}
		}
	}
	return list
}

// scored is anything in a tool's output that may carry a score.
type scored struct {
	Score      float64 `json:"score"`
	Similarity float64 `json:"similarity_score"`
}

// newRetrieval reads the counts out of a tool's output, as far as it has them.
func newRetrieval(step chat.Step) retrieval {
	r := retrieval{ToolName: step.ToolName, Timestamp: time.UnixMicro(int64(step.Timestamp * 1e6)).UTC()}
	var input struct {
		Query      string          `json:"query"`
		Pattern    string          `json:"pattern"`
		FocusQuery string          `json:"focus_query"`
		DocID      string          `json:"doc_id"`
		DocumentID string          `json:"document_id"`
		DocIDs     []string        `json:"doc_ids"`
		Filters    json.RawMessage `json:"filters"`
	}
	var output struct {
		TotalFound   *int     `json:"total_found"`
		TotalResults *int     `json:"total_results"`
		Documents    []scored `json:"documents"`
		Results      []scored `json:"results"`
		Chunks       []scored `json:"chunks"`
		Passages     []scored `json:"passages"`
		Matches      []scored `json:"matches"`
		Pages        []scored `json:"pages"` // of the web
	}
	// A tool with other fields, or other types under these names, leaves them empty.
	_ = json.Unmarshal(step.ToolInput, &input)
	_ = json.Unmarshal(step.ToolOutput, &output)
	r.Query = cmp.Or(input.Query, input.Pattern, input.FocusQuery, input.DocID, input.DocumentID, strings.Join(input.DocIDs, ", "), string(input.Filters))
	for _, list := range [][]scored{output.Documents, output.Results, output.Chunks, output.Passages, output.Matches, output.Pages} {
		if len(list) > 0 {
			r.ResultsCount, r.AvgSimilarity = len(list), average(list)
			break
		}
	}
	if total := cmp.Or(output.TotalFound, output.TotalResults); total != nil {
		r.ResultsCount = *total
	}
	return r
}

// average is that of the cosines that are known, and of the scores where none is: the two are not comparable.
func average(list []scored) float64 {
	var near, scores []float64
	for _, item := range list {
		if item.Similarity > 0 {
			near = append(near, item.Similarity)
		}
		if item.Score > 0 {
			scores = append(scores, item.Score)
		}
	}
	if len(near) == 0 {
		near = scores
	}
	if len(near) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range near {
		sum += v
	}
	return sum / float64(len(near))
}
