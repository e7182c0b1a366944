package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	agentrun "footnote/agent/run"
	"footnote/llm"
	"footnote/llm/anthropic"
	"footnote/llm/httpllm"
	"footnote/llm/offline"
	"footnote/llm/openai"
	"footnote/llm/textcalls"
)

// modelSettings say which models there are beside the usual one, and how they are used.
type modelSettings struct {
	AnthropicAPIKey   secret `name:"anthropic-api-key" help:"Key of Anthropic's API." env:"ANTHROPIC_API_KEY" placeholder:"KEY"`
	AnthropicBaseURL  string `name:"anthropic-base-url" help:"Base URL of another server with Anthropic's protocol." env:"ANTHROPIC_BASE_URL" placeholder:"URL"`
	AnthropicModel    string `name:"anthropic-model" help:"Model name at Anthropic." env:"ANTHROPIC_MODEL" default:"claude-sonnet-4-5"`
	AnthropicThinking int    `name:"anthropic-thinking" help:"Tokens that each reply of Anthropic's model may think: 0, or at least 1024. These models take no seed, no temperature above 1, and none while they think." env:"ANTHROPIC_THINKING" default:"0"`

	AgentToolCalls        string            `help:"How a model gets its tools: auto (its own tool calls, by JSON in the text if it has none), native, json." enum:"auto,native,json" env:"FOOTNOTE_AGENT_TOOL_CALLS" default:"auto"`
	AgentModelsAllowed    []string          `help:"Further models that a request may name, weakest first." env:"FOOTNOTE_AGENT_MODELS_ALLOWED" placeholder:"NAME"`
	AgentMinModelForAgent string            `help:"The weakest of the allowed models that chooses tools by itself; those before it answer from what rules found." env:"FOOTNOTE_AGENT_MIN_MODEL_FOR_AGENT" placeholder:"NAME"`
	AgentProfile          string            `help:"How much a model is given: full (tools, and long prompts), small (rules search, and it answers from three passages), or auto: small for a model on this machine or network that reads fewer than 100 tokens a second, has at most 8192 of context, or can't call tools." enum:"auto,small,full" env:"FOOTNOTE_AGENT_PROFILE" default:"auto"`
	ModelPatience         time.Duration     `help:"The longest wait for the first word of a reply of the OpenAI-compatible server; 0: 2 minutes, and 10 for a server on this machine or network. One that shows a sign of life gets up to five times as long. FOOTNOTE_RUN_TIMEOUT limits the whole answer." env:"FOOTNOTE_MODEL_PATIENCE" default:"0"`
	ModelsSelect          string            `help:"A cheaper model that chooses tools, plans and judges; answers are written by the main one." env:"FOOTNOTE_MODELS_SELECT" placeholder:"NAME"`
	Operators             []string          `help:"Users who may choose on the page which model answers, where users have keys." env:"FOOTNOTE_OPERATORS" placeholder:"NAME"`
	ModelPorts            []int             `help:"For tests: where model servers are looked for on this machine." env:"FOOTNOTE_MODEL_PORTS" hidden:""`
	ModelServices         map[string]string `help:"For tests: other addresses of services." env:"FOOTNOTE_MODEL_SERVICES" hidden:""`
	Prices                map[string]string `help:"Price of a million tokens in and out, by model: name=0.4/1.6;other=2/8. In the settings file: prices: {name: {in: 0.4, out: 1.6}}. Answers then say what they cost." env:"FOOTNOTE_PRICES" placeholder:"NAME=IN/OUT"`
}

// openAIKey is what the keys of OpenAI itself look like; other servers have their own.
var openAIKey = regexp.MustCompile(`^sk-[!-~]{37,}$`)

// checkModels reports every mistake of the settings about models.
func (s *settings) checkModels() error {
	var errs []error
	if s.Model == "anthropic" && s.AnthropicAPIKey == "" {
		errs = append(errs, errors.New("FOOTNOTE_MODEL is anthropic, but ANTHROPIC_API_KEY is not set"))
	}
	if s.OpenAIAPIKey != "" && s.OpenAIBaseURL == "" && !openAIKey.MatchString(string(s.OpenAIAPIKey)) {
		errs = append(errs, errors.New(
			"OPENAI_API_KEY is no key of OpenAI: those begin with sk- and have at least 40 characters; name another "+
				"server by OPENAI_BASE_URL",
		))
	}
	if s.AnthropicAPIKey != "" && s.AnthropicBaseURL == "" && !strings.HasPrefix(string(s.AnthropicAPIKey), "sk-ant-") {
		errs = append(errs, errors.New(
			"ANTHROPIC_API_KEY is no key of Anthropic: those begin with sk-ant-; name another server by "+
				"ANTHROPIC_BASE_URL",
		))
	}
	if s.AgentFramework == "anthropic" && !s.usesAnthropic() {
		errs = append(errs, errors.New(
			"FOOTNOTE_AGENT_FRAMEWORK is anthropic, which needs ANTHROPIC_API_KEY, and FOOTNOTE_MODEL anthropic "+
				"or auto",
		))
	}
	if s.AnthropicThinking != 0 && s.AnthropicThinking < 1024 {
		errs = append(errs, errors.New("ANTHROPIC_THINKING is 0, or at least 1024"))
	}
	if u, err := url.Parse(s.AnthropicBaseURL); s.AnthropicBaseURL != "" &&
		(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		errs = append(
			errs, fmt.Errorf("ANTHROPIC_BASE_URL %q is not a URL like https://api.anthropic.com", s.AnthropicBaseURL),
		)
	}
	if least := s.AgentMinModelForAgent; least != "" && !slices.Contains(s.AgentModelsAllowed, least) {
		errs = append(errs, fmt.Errorf(
			"FOOTNOTE_AGENT_MIN_MODEL_FOR_AGENT names %q, which is not among FOOTNOTE_AGENT_MODELS_ALLOWED", least,
		))
	}
	if s.ModelPatience < 0 {
		errs = append(errs, errors.New("FOOTNOTE_MODEL_PATIENCE can't be negative"))
	}
	_, err := s.readPrices()
	return errors.Join(append(errs, err)...)
}

// usesAnthropic reports whether Anthropic's model answers.
func (s *settings) usesAnthropic() bool {
	return s.Model == "anthropic" || s.Model == "auto" && s.AnthropicAPIKey != "" &&
		(s.AgentFramework == "anthropic" || !s.withOpenAI())
}

// withOpenAI reports whether a server that speaks OpenAI's protocol is set.
func (s *settings) withOpenAI() bool { return s.OpenAIAPIKey != "" || s.OpenAIBaseURL != "" }

// openaiConfig is how that server's model is reached.
func (s *settings) openaiConfig(model string, log *slog.Logger) openai.Config {
	return openai.Config{
		APIKey: openai.Secret(s.OpenAIAPIKey), BaseURL: s.OpenAIBaseURL, Model: model,
		EmbeddingModel: s.OpenAIEmbeddingModel, EmbeddingBaseURL: s.OpenAIEmbeddingBaseURL,
		EmbeddingAPIKey: openai.Secret(s.OpenAIEmbeddingAPIKey), Log: log, FirstToken: s.ModelPatience,
	}
}

// readPrices reads the table of prices.
func (s *settings) readPrices() (map[string]agentrun.Price, error) {
	table := map[string]agentrun.Price{}
	var errs []error
	for name, text := range s.Prices {
		in, out, ok := strings.Cut(text, "/")
		a, errIn := strconv.ParseFloat(strings.TrimSpace(in), 64)
		b, errOut := strconv.ParseFloat(strings.TrimSpace(out), 64)
		if !ok || errIn != nil || errOut != nil || !(a >= 0 && a < 1e6 && b >= 0 && b < 1e6) {
			errs = append(errs, fmt.Errorf("the price %q of %s is not two numbers like 0.4/1.6", text, name))
			continue
		}
		table[name] = agentrun.Price{In: a, Out: b}
	}
	return table, errors.Join(errs...)
}

// takePrices moves the prices of a settings file, {model: {in, out}}, to their flag: names of models may hold what
// names of settings can't.
func takePrices(tree map[string]any, values map[string]string) error {
	given, ok := tree["prices"]
	if !ok {
		return nil
	}
	delete(tree, "prices")
	models, ok := given.(map[string]any)
	if !ok {
		return errors.New("the prices in the settings file are not like {gpt-4.1-mini: {in: 0.4, out: 1.6}}")
	}
	var list []string
	for name, price := range models {
		pair, ok := price.(map[string]any)
		if !ok || pair["in"] == nil || pair["out"] == nil || len(pair) != 2 {
			return fmt.Errorf("the price of %s in the settings file is not like {in: 0.4, out: 1.6}", name)
		}
		list = append(list, fmt.Sprintf("%s=%v/%v", name, pair["in"], pair["out"]))
	}
	slices.Sort(list)
	values["prices"] = strings.Join(list, ";")
	return nil
}

// modelSet holds the models of a server.
type modelSet struct {
	main, fallback, selecting llm.Model // fallback and selecting may be nil
	allowed                   []llm.Model
	client                    *http.Client             // nil in offline mode
	measured                  map[string]*openai.Model // those that can be measured, by name
}

// buildModels makes the models that the settings name. known is the client of the OpenAI-compatible server, nil if
// there is none. similar compares sentences for the offline model, nil without an embedder.
func buildModels(
	set *settings, known *openai.Model, similar offline.Similarity, log *slog.Logger,
) (c modelSet, err error) {
	if !set.withModel() {
		return modelSet{main: offline.New(similar)}, nil
	}
	c.fallback, c.client, c.measured = offline.New(similar), httpllm.NewHTTPClient(), map[string]*openai.Model{}
	usual := set.OpenAIModel
	if set.usesAnthropic() {
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

// modelNamed makes a model of the same server by another name. Models of one server share its connections.
func (c *modelSet) modelNamed(set *settings, name string, known *openai.Model, log *slog.Logger) (llm.Model, error) {
	if set.usesAnthropic() {
		return anthropic.New(anthropic.Config{APIKey: string(
			set.AnthropicAPIKey,
		), BaseURL: set.AnthropicBaseURL, Model: name,
			Thinking: set.AnthropicThinking, HTTPClient: c.client, Log: log})
	}
	if known == nil || known.Name() != name {
		cfg := set.openaiConfig(name, log)
		cfg.HTTPClient = c.client
		var err error
		known, err = openai.New(cfg)
		if err != nil {
			return nil, err
		}
	}
	c.measured[name] = known
	return textcalls.New(known, textcalls.Way(cmp.Or(set.AgentToolCalls, string(textcalls.Auto)))), nil
}

// close gives up idle connections.
func (c *modelSet) close() {
	if c.client != nil {
		c.client.CloseIdleConnections()
	}
}
