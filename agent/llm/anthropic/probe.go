package anthropic

import (
	"context"
	"encoding/json"
	"time"

	"github.com/footnote/footnote/agent/llm"
)

const (
	afterStop    = 3 * time.Second // the end may take after the reply's last piece
	probeTimeout = 30 * time.Second
)

// Health is what a probe found.
type Health struct {
	Tools bool // the model called the tool that it was told to call
	Took  time.Duration
	Err   error // an *llm.Error; nil if the model answers
}

// Probe asks the model for one small tool call. It takes at most 30 s. A model that answers in words instead of calling
// the tool is no failure: Tools is false then, and Err nil.
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
