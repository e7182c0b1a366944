package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
)

const probeTimeout = 30 * time.Second

// Health is what a probe found. The fields are in the order they are tried: what follows a failure was not tried.
type Health struct {
	Reachable bool // a server answered
	KeyRight  bool // and took the key
	ModelHere bool // and knows the model
	Answers   bool // and the model replied with a complete stream
	Tools     bool // and called the tool that it was told to call
	Usage     bool // and says how many tokens were used
	Embeds    bool // and the embedding model works; false also when none is set
	Models    []string
	Served    Served        // the model that the server really answers with, as far as its list tells
	Took      time.Duration // until the reply was complete
	Err       error         // the first failure, an *llm.Error; nil if the model answers
	EmbedErr  error
}

// Probe asks the server for its models and for one small tool call. It takes at most 30 s. It is safe for concurrent
// use, and costs a few tokens: it is made for the start and for `footnote doctor`. Health checks ask Reach.
func (m *Model) Probe(ctx context.Context) Health {
	ctx, cancel := context.WithTimeoutCause(ctx, probeTimeout, httpllm.ErrNoFirstToken)
	defer cancel()
	h := m.probeModels(ctx)
	if h.Err == nil {
		m.probeReply(ctx, &h)
	}
	if m.embeddings != "" && (h.KeyRight || m.embedder.AddressSetting != m.server.AddressSetting) {
		_, h.EmbedErr = m.Embed(ctx, []string{"footnote"})
		h.Embeds = h.EmbedErr == nil
	}
	return h
}

// listed is a model in a server's list. The SDK's own type takes many times its JSON.
type listed struct {
	ID          string          `json:"id"`
	OwnedBy     string          `json:"owned_by"`
	MaxModelLen json.RawMessage `json:"max_model_len"` // vLLM
	Meta        json.RawMessage `json:"meta"`
}

// maxModels bounds a list of models; a longer one is no list.
const maxModels = 10_000

// listModels lists the models of the server. An invalid answer counts as an empty list. Entries are
// decoded once their number is known.
func (m *Model) listModels(ctx context.Context) ([]listed, *llm.Error) {
	var raw []byte
	if _, err := m.models.List(ctx, option.WithResponseBodyInto(&raw)); err != nil {
		return nil, m.server.Transport(ctx, err)
	}
	var page struct{ Data []json.RawMessage }
	if json.Unmarshal(raw, &page) != nil || len(page.Data) > maxModels {
		return nil, nil
	}
	list := make([]listed, len(page.Data))
	for i, entry := range page.Data {
		if json.Unmarshal(entry, &list[i]) != nil {
			return nil, nil
		}
	}
	return list, nil
}

// probeModels lists the models. Servers without a list are asked for a reply all the same. A status of 404 or so means
// that there is no list, and says nothing of the model.
func (m *Model) probeModels(ctx context.Context) (h Health) {
	list, e := m.listModels(ctx)
	if e != nil {
		h.Reachable = e.Status != 0
		if h.KeyRight = h.Reachable && e.Kind != llm.KindAuth; !h.KeyRight {
			h.Err = e
		}
		return h
	}
	h.Reachable, h.KeyRight = true, true
	for _, model := range list {
		h.Models = append(h.Models, model.ID)
	}
	h.Served = m.servedOf(list)
	return h
}

// servedOf is what a list says of this model. A server that has a single model answers with it, whatever is asked for.
func (m *Model) servedOf(list []listed) (s Served) {
	for _, model := range list {
		if model.ID == m.name || len(list) == 1 {
			s = model.served()
		}
	}
	return s
}

// Served is what a server's list says of a model. Empty fields: nothing.
type Served struct {
	Name    string
	Owner   string // like llamacpp
	Context int    // tokens
}

// served is an entry of a server's list of models. Servers name the size of the context in different fields, where
// other servers have other values.
func (l listed) served() Served {
	var longest int
	var meta struct {
		Context int `json:"n_ctx"` // llama.cpp
	}
	_, _ = json.Unmarshal(l.MaxModelLen, &longest), json.Unmarshal(l.Meta, &meta)
	return Served{Name: l.ID, Owner: l.OwnedBy, Context: cmp.Or(meta.Context, longest)}
}

// probeReply has the model call a tool, and notes what of that worked.
func (m *Model) probeReply(ctx context.Context, h *Health) {
	start := m.now()
	req := llm.Request{
		Temperature: new(float64), DefaultTemperature: true, MaxTokens: probeTokens,
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
			h.ModelHere = llm.KindOf(err) != llm.KindInvalid && llm.KindOf(err) != llm.KindAuth
			h.KeyRight = llm.KindOf(err) != llm.KindAuth
			return
		}
		switch part := part.(type) {
		case llm.Call:
			h.Tools = part.Malformed == "" && part.Name == "search_documents"
		case llm.Done:
			h.ModelHere, h.Answers, h.Usage = true, true, part.Usage != nil
		}
	}
	h.Took = m.now().Sub(start)
}
