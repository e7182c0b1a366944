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

// Health is the result of a probe. The fields are in the order of the checks; after a failure the rest is not
// checked.
type Health struct {
	Reachable bool // the server responded
	KeyRight  bool // and accepted the key
	ModelHere bool // and has the model
	Answers   bool // and the model replied with a complete stream
	Tools     bool // and called the requested tool
	Usage     bool // and reported its token usage
	Embeds    bool // and the embedding model works; false also if none is configured
	Models    []string
	Served    Served        // the model that the server really uses, as far as its list shows
	Took      time.Duration // time until the reply was complete
	Err       error         // the first failure, an *llm.Error; nil if the model replied
	EmbedErr  error
}

// Probe requests the list of models and one small tool call. Its timeout is 30 s. It is safe for concurrent use, and
// costs a few tokens: it is for the start and for `footnote doctor`. Health checks use Ping.
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

// listed is a model in a server's list. The SDK's type takes many times the memory of its JSON.
type listed struct {
	ID          string          `json:"id"`
	OwnedBy     string          `json:"owned_by"`
	MaxModelLen json.RawMessage `json:"max_model_len"` // vLLM
	Meta        json.RawMessage `json:"meta"`
}

// maxModels is the maximum length of a list of models; a longer one is invalid.
const maxModels = 10_000

// listModels requests the server's list of models. An invalid response counts as an empty list. Entries are decoded
// after their number was checked.
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

// probeModels lists the models. A server without a list is still asked for a reply. An error such as 404 means that
// it has no list, and is no evidence about the model.
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

// servedOf returns the metadata of this model in a list. A server with a single model uses it for any requested
// name.
func (m *Model) servedOf(list []listed) (s Served) {
	for _, model := range list {
		if model.ID == m.name || len(list) == 1 {
			s = model.served()
		}
	}
	return s
}

// Served is a server's metadata of a model. Empty fields are unknown.
type Served struct {
	Name    string
	Owner   string // like llamacpp
	Context int    // tokens
}

// served converts an entry of a server's list. Servers have different fields for the context length, and other
// values in the same fields.
func (l listed) served() Served {
	var longest int
	var meta struct {
		Context int `json:"n_ctx"` // llama.cpp
	}
	_, _ = json.Unmarshal(l.MaxModelLen, &longest), json.Unmarshal(l.Meta, &meta)
	return Served{Name: l.ID, Owner: l.OwnedBy, Context: cmp.Or(meta.Context, longest)}
}

// probeReply has the model call a tool, and records which parts worked.
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
