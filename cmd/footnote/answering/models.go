package answering

import (
	"cmp"
	"log/slog"
	"net/http"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/anthropic"
	"github.com/footnote/footnote/agent/llm/httpllm"
	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/agent/llm/textcalls"
	"github.com/footnote/footnote/cmd/footnote/settings"
)

// modelSet holds the models of a server. All except the rules share one HTTP client, so that a change of models can
// close its connections. A question can select any model in allowed.
type modelSet struct {
	main, fallback, selecting llm.Model // fallback and selecting may be nil
	allowed                   []llm.Model
	client                    *http.Client             // nil in offline mode
	measured                  map[string]*openai.Model // models that can be measured, by name
}

// buildModels creates the models that the settings name. known is the client of the OpenAI-compatible server, or
// nil. rules is the offline model. Models with the same name are deduplicated.
func buildModels(
	set *settings.Settings, known *openai.Model, rules llm.Model, log *slog.Logger,
) (c modelSet, err error) {
	if !set.WithModel() {
		return modelSet{main: rules}, nil
	}
	c.fallback, c.client, c.measured = rules, httpllm.NewHTTPClient(), map[string]*openai.Model{}
	// Anthropic's model gets a new client, even if an OpenAI-compatible server computes the embeddings.
	usual := set.OpenAIModel
	if set.UsesAnthropic() {
		usual, known = set.AnthropicModel, nil
	}
	made := map[string]llm.Model{}
	named := func(name string) llm.Model {
		if made[name] == nil && err == nil {
			made[name], err = c.modelNamed(set, name, known, log)
		}
		return made[name]
	}
	c.main = named(usual)
	for _, name := range set.AgentModelsAllowed {
		c.allowed = append(c.allowed, named(name))
	}
	if set.ModelsSelect != "" {
		c.selecting = named(set.ModelsSelect)
	}
	return c, err
}

// modelNamed returns a model of the same server with another name. Models of one server share its connections.
func (c *modelSet) modelNamed(
	set *settings.Settings, name string, known *openai.Model, log *slog.Logger,
) (llm.Model, error) {
	if set.UsesAnthropic() {
		return anthropic.New(anthropic.Config{APIKey: string(
			set.AnthropicAPIKey,
		), BaseURL: set.AnthropicBaseURL, Model: name,
			Thinking: set.AnthropicThinking, HTTPClient: c.client, Log: log})
	}
	if known == nil || known.Name() != name {
		cfg := set.OpenAI(name, log)
		cfg.HTTPClient = c.client
		var err error
		known, err = openai.New(cfg)
		if err != nil {
			return nil, err
		}
	}
	c.measured[name] = known
	return textcalls.New(known, textcalls.CallMode(cmp.Or(set.AgentToolCalls, string(textcalls.Auto)))), nil
}

// close closes idle connections. Connections in use by runs stay open.
func (c *modelSet) close() {
	if c.client != nil {
		c.client.CloseIdleConnections()
	}
}
