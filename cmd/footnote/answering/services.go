package answering

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/anthropic"
	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/server/modelchoice"
	"github.com/footnote/footnote/text/locale"
)

// modelService is a service that answers with an API key. id is the value that the page sends, name the displayed
// name, and model the default model.
type modelService struct {
	id, name string
	base     string // base URL of its OpenAI-compatible API; empty: OpenAI's own
	model    string
}

// anthropicService has its own protocol.
const anthropicService = "anthropic"

// noService selects the rules instead of a service.
const noService = "offline"

// They are listed in this order. The models are defaults; the user can name another one.
var modelServices = []modelService{
	{"openai", "OpenAI", "", "gpt-4.1-mini"},
	{anthropicService, "Anthropic", "", "claude-sonnet-4-5"},
	{"openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "openai/gpt-4.1-mini"},
	{"mistral", "Mistral", "https://api.mistral.ai/v1", "mistral-medium-latest"},
	{"groq", "Groq", "https://api.groq.com/openai/v1", "llama-3.3-70b-versatile"},
	{"deepseek", "DeepSeek", "https://api.deepseek.com/v1", "deepseek-chat"},
	{"gemini", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash"},
}

// notInKeys reports whether a rune is not allowed in a key.
func notInKeys(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// chooseServer sets a server on this machine. Its port must be one of the scanned ports, so that a page can't make
// the server send requests to any local port.
func chooseServer(s *settings.Settings, choice modelchoice.Choice) error {
	if choice.Model == "" {
		return chat.Invalid("Enter a model name.")
	}
	for _, port := range portsOf(s) {
		if port.Number == choice.Port {
			s.Model, s.OpenAIBaseURL, s.OpenAIAPIKey = "openai", port.BaseURL(), ""
			s.OpenAIModel = choice.Model
			return nil
		}
	}
	return chat.Invalid(
		"Port {1} is not scanned for model servers. Set OPENAI_BASE_URL to use it.", choice.Port,
	)
}

// chooseService sets a service. The setting ModelServices may override a service's URL, for tests.
func chooseService(s *settings.Settings, choice modelchoice.Choice) error {
	for _, service := range modelServices {
		if service.id != choice.Service {
			continue
		}
		model := cmp.Or(choice.Model, service.model)
		if choice.Key == "" {
			return chat.Invalid("{1} requires an API key.", service.name)
		}
		if service.id == anthropicService {
			if s.AnthropicBaseURL == "" && !strings.HasPrefix(choice.Key, "sk-ant-") {
				return chat.Invalid("Invalid Anthropic API key. It must begin with sk-ant-.")
			}
			s.Model, s.AnthropicAPIKey, s.AnthropicModel = service.id, settings.Secret(choice.Key), model
			return nil
		}
		s.Model, s.OpenAIAPIKey, s.OpenAIModel = "openai", settings.Secret(choice.Key), model
		s.OpenAIBaseURL = cmp.Or(s.ModelServices[service.id], service.base)
		if s.OpenAIBaseURL == "" && !settings.IsOpenAIKey(choice.Key) {
			return chat.Invalid("Invalid OpenAI API key. It must begin with sk- and have at least 40 characters.")
		}
		return nil
	}
	return chat.Invalid("Unknown model provider.")
}

// tryModel asks the settings' model for one short reply with a tool call. A service charges for this request. The
// timeout is that of the model's client, half a minute.
func tryModel(ctx context.Context, set *settings.Settings) (modelchoice.Tried, error) {
	if !set.WithModel() {
		return modelchoice.Tried{Tools: true}, nil
	}
	if set.UsesAnthropic() {
		model, err := anthropic.New(anthropic.Config{
			APIKey: string(set.AnthropicAPIKey), BaseURL: set.AnthropicBaseURL, Model: set.AnthropicModel,
		})
		if err != nil {
			return modelchoice.Tried{}, err
		}
		defer model.Close()
		h := model.Probe(ctx)
		tried := modelchoice.Tried{Tools: h.Tools, TookMS: h.Took.Milliseconds()}
		return tried, refusedChoice(set.AnthropicModel, h.Err)
	}
	cfg := set.OpenAI(set.OpenAIModel, nil)
	cfg.EmbeddingModel = ""
	model, err := openai.New(cfg)
	if err != nil {
		return modelchoice.Tried{}, err
	}
	defer model.Close()
	h := model.Probe(ctx)
	return modelchoice.Tried{Tools: h.Tools, TookMS: h.Took.Milliseconds()}, refusedChoice(set.OpenAIModel, h.Err)
}

// refusals are error messages without the environment variables that the usual messages name.
var refusals = map[llm.ErrorKind]locale.Message{
	llm.KindAuth:        "the API key was rejected.",
	llm.KindUnreachable: "its server can't be reached. Check that it is running and that this machine is online.",
	llm.KindTimeout:     "its server did not respond within 30 seconds.",
	llm.KindInvalid:     "its server doesn't know it, or rejected the request.",
}

// refusedChoice wraps the error of a model that failed its trial. It returns nil for nil.
func refusedChoice(name string, err error) error {
	if err == nil {
		return nil
	}
	return &chat.Error{
		Code: chat.CodeInvalid, Message: locale.Say("{1} can't be used: {2}", name, failureMessage(err)), Err: err,
	}
}

// failureMessage returns the message for a model's error. An error of an unknown kind has the message of the model's
// server.
func failureMessage(err error) locale.Message {
	if why := refusals[llm.KindOf(err)]; why != "" {
		return why
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e.Message
	}
	return "its reply was empty."
}
