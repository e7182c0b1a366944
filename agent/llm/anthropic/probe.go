package anthropic

import (
	"context"
	"encoding/json"
	"time"

	"github.com/footnote/footnote/agent/llm"
)

const (
	afterStop    = 3 * time.Second // timeout of the end of the stream after the stop reason
	probeTimeout = 30 * time.Second
)

// Health is the result of a probe.
type Health struct {
	Tools bool // the model called the requested tool
	Took  time.Duration
	Err   error // an *llm.Error; nil if the model replied
}

// Probe requests one small tool call from the model. Its timeout is 30 s. If the model replies without the call,
// Tools is false and Err nil.
func (m *Model) Probe(ctx context.Context) (h Health) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	begin := time.Now()
	req := llm.Request{
		Messages: []llm.Message{
			{Role: llm.RoleUser, Text: "Call the tool search_documents with the query \"roof\". Do nothing else."},
		},
		Tools: []llm.ToolSpec{{Name: "search_documents", Description: "Search the documents.",
			Schema: json.RawMessage(
				`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`,
			)}},
	}
	for part, err := range m.Stream(ctx, req) {
		if err != nil {
			h.Err = err
			return h
		}
		if call, ok := part.(llm.Call); ok {
			h.Tools = call.Malformed == "" && call.Name == "search_documents"
		}
	}
	h.Took = time.Since(begin)
	return h
}
