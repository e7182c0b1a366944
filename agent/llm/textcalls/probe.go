package textcalls

import (
	"context"
	"encoding/json"

	"github.com/footnote/footnote/agent/llm"
)

// afterReply returns what is called with the calls of a whole reply. A model that never called a tool and does not here
// either is asked to call one: if it does not, its next turns are given tools in the prompt.
func (m *Model) afterReply(ctx context.Context, r *reply) func(called bool) {
	return func(called bool) {
		if called {
			m.verdict.inFavour()
			return
		}
		if m.way != Auto || m.verdict.isProven() || r.req.NoTools || len(r.req.Tools) == 0 || r.stopped {
			return
		}
		if called, known := m.probeCalls(ctx); known && called {
			m.verdict.inFavour()
		} else if known {
			m.verdict.countAgainst()
			r.yieldPart(llm.Notice(m.Name() +
				" ignores tools: from now on they are described in the prompt and called by JSON in the reply"))
		}
	}
}

// probeCalls reports whether the model calls a tool that it is told to call. A request that fails for another reason
// tells nothing: known is false.
func (m *Model) probeCalls(ctx context.Context) (called, known bool) {
	for part, err := range m.Model.Stream(ctx, probeRequest()) {
		if err != nil {
			return false, RefusesTools(err)
		}
		switch p := part.(type) {
		case llm.Call:
			return true, true
		case llm.Done:
			if p.Finish == llm.FinishLength {
				return false, false
			}
		}
	}
	return false, ctx.Err() == nil
}

// CallsTools reports whether the model, the way it is used now, calls a tool that it is told to call. Unlike probeCalls
// it goes through Stream, so a call written as text counts; footnote doctor asks it.
func (m *Model) CallsTools(ctx context.Context) bool {
	for part, err := range m.Stream(ctx, probeRequest()) {
		if err != nil {
			return false
		}
		if call, ok := part.(llm.Call); ok {
			return call.Malformed == "" && call.Name == "search_documents"
		}
	}
	return false
}

// probeTokens is how long the reply to a probe may be: three times what the call takes. One that is cut there says
// nothing: the model may have thought.
const probeTokens = 64

// probeRequest is a request that is to be answered by a call. The temperature is 0, where a model allows one, so that a
// model's verdict does not change by chance.
func probeRequest() llm.Request {
	return llm.Request{
		Temperature: new(float64), DefaultTemperature: true, MaxTokens: probeTokens,
		Messages: []llm.Message{
			{Role: llm.RoleUser, Text: "Call the tool search_documents with the query \"roof\". Do nothing else."},
		},
		Tools: []llm.ToolSpec{{Name: "search_documents", Description: "Search the documents.",
			Schema: json.RawMessage(
				`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`,
			)}},
	}
}
