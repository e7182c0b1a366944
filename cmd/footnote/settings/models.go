package settings

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/llm/openai"
	agentrun "github.com/footnote/footnote/agent/run"
)

// modelSettings say which models there are beside the usual one, and how they are used. CheckModels checks them.
type modelSettings struct {
	AnthropicAPIKey   Secret `name:"anthropic-api-key" help:"Key of Anthropic's API." env:"ANTHROPIC_API_KEY" placeholder:"KEY"`
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

// IsOpenAIKey reports whether a key can be one of OpenAI itself.
// It keeps the key of another service from being sent to OpenAI when the address was forgotten.
func IsOpenAIKey(key string) bool { return openAIKey.MatchString(key) }

// CheckModels reports every mistake of the settings about models. Keys are looked at by their form alone and are never
// in a message.
func (s *Settings) CheckModels() error {
	var errs []error
	if s.Model == "anthropic" && s.AnthropicAPIKey == "" {
		errs = append(errs, errors.New("FOOTNOTE_MODEL is anthropic, but ANTHROPIC_API_KEY is not set"))
	}
	if s.OpenAIAPIKey != "" && s.OpenAIBaseURL == "" && !IsOpenAIKey(string(s.OpenAIAPIKey)) {
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
	if s.AgentFramework == "anthropic" && !s.UsesAnthropic() {
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
	_, err := s.PriceTable()
	return errors.Join(append(errs, err)...)
}

// UsesAnthropic reports whether Anthropic's model answers.
// By itself (auto) the OpenAI-compatible server goes first where both are set, unless the framework is Anthropic's.
func (s *Settings) UsesAnthropic() bool {
	return s.Model == "anthropic" || s.Model == "auto" && s.AnthropicAPIKey != "" &&
		(s.AgentFramework == "anthropic" || !s.WithOpenAI())
}

// WithOpenAI reports whether a server that speaks OpenAI's protocol is set. A key alone is OpenAI's own; an address
// alone may need none.
func (s *Settings) WithOpenAI() bool { return s.OpenAIAPIKey != "" || s.OpenAIBaseURL != "" }

// OpenAI is how that server's model is reached. log may be nil. Each model of the same server has a configuration of
// its own.
func (s *Settings) OpenAI(model string, log *slog.Logger) openai.Config {
	return openai.Config{
		APIKey: openai.Secret(s.OpenAIAPIKey), BaseURL: s.OpenAIBaseURL, Model: model,
		EmbeddingModel: s.OpenAIEmbeddingModel, EmbeddingBaseURL: s.OpenAIEmbeddingBaseURL,
		EmbeddingAPIKey: openai.Secret(s.OpenAIEmbeddingAPIKey), Log: log, FirstToken: s.ModelPatience,
	}
}

// PriceTable reads the table of prices. Prices are of a million tokens, in whatever currency the operator thinks in.
// Each is IN/OUT, as in 0.4/1.6.
func (s *Settings) PriceTable() (map[string]agentrun.Price, error) {
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
