package api

import (
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/runlog"
)

// Retrieval is one search or reading of a session.
type Retrieval struct {
	ToolName     string `json:"tool_name"`     // The tool that searched or read.
	Query        string `json:"query"`         // The query, or the document that was read.
	ResultsCount int    `json:"results_count"` // How many results there were.
	// The average similarity of the results whose similarity is known; where there are no vectors, the average score. 0
	// when no result has either.
	AvgSimilarity float64   `json:"avg_similarity"`
	Timestamp     time.Time `json:"timestamp"` // When.
}

// listRetrievals returns the searches and reads of the messages' runs.
//
// Messages of one run are adjacent, so each run is visited once.
func listRetrievals(messages []message, traces map[string]*runlog.Trace) []Retrieval {
	list := []Retrieval{}
	last := ""
	for _, m := range messages {
		if m.RunID == last {
			continue
		}
		last = m.RunID
		for _, step := range traces[m.RunID].Steps {
			if step.Capability.Retrieves() && step.Status == chat.StatusComplete {
				list = append(list, newRetrieval(step))
			}
		}
	}
	return list
}

// newRetrieval describes a step that has ended.
func newRetrieval(step chat.Step) Retrieval {
	r := Retrieval{ToolName: step.ToolName, Timestamp: time.UnixMicro(int64(step.Timestamp * 1e6)).UTC()}
	if step.Result != nil {
		r.Query, r.ResultsCount, r.AvgSimilarity = step.Result.Query, step.Result.Found, averageScore(step.Result.Hits)
	}
	return r
}

// averageScore is that of the similarities that are known, and of the scores where none is: the two are not comparable.
// Passages under a document are not counted beside it.
func averageScore(hits []chat.Hit) float64 {
	var near, scores []float64
	for _, hit := range hits {
		if hit.Sub {
			continue
		}
		if hit.Similarity != nil && *hit.Similarity > 0 {
			near = append(near, *hit.Similarity)
		}
		if hit.Score != nil && *hit.Score > 0 {
			scores = append(scores, *hit.Score)
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
