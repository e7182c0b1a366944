package api

import (
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/runlog"
)

// Retrieval is one search or read of a session.
type Retrieval struct {
	ToolName     string `json:"tool_name"`     // The tool that searched or read.
	Query        string `json:"query"`         // The query, or the document that was read.
	ResultsCount int    `json:"results_count"` // The number of results.
	// The average similarity of the results with a known similarity; without vectors, the average score. 0 if no
	// result has either.
	AvgSimilarity float64   `json:"avg_similarity"`
	Timestamp     time.Time `json:"timestamp"` // The time of the search or read.
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

// newRetrieval describes a finished step.
func newRetrieval(step chat.Step) Retrieval {
	r := Retrieval{ToolName: step.ToolName, Timestamp: time.UnixMicro(int64(step.Timestamp * 1e6)).UTC()}
	if step.Result != nil {
		r.Query, r.ResultsCount, r.AvgSimilarity = step.Result.Query, step.Result.Found, averageScore(step.Result.Hits)
	}
	return r
}

// averageScore returns the average of the known similarities, or of the scores if none is known: the two are not
// comparable. Passages under a document are not counted separately.
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
