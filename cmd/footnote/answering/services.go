package answering

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/anthropic"
	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/server/modelchoice"
)

// modelService is a service that answers whoever has a key. id is what the page sends, name what it shows, and model
// the one that is asked unless the user names another.
type modelService struct {
	id, name string
	base     string // its OpenAI-compatible API; empty: OpenAI's own
	model    string
}

// anthropicService has a protocol of its own.
const anthropicService = "anthropic"

// noService is none: rules answer.
const noService = "offline"

// They are shown in this order. The models are suggestions; each can be replaced by a name.
var modelServices = []modelService{
	{"openai", "OpenAI", "", "gpt-4.1-mini"},
	{anthropicService, "Anthropic", "", "claude-sonnet-4-5"},
	{"openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "openai/gpt-4.1-mini"},
	{"mistral", "Mistral", "https://api.mistral.ai/v1", "mistral-medium-latest"},
	{"groq", "Groq", "https://api.groq.com/openai/v1", "llama-3.3-70b-versatile"},
	{"deepseek", "DeepSeek", "https://api.deepseek.com/v1", "deepseek-chat"},
	{"gemini", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash"},
}

// notInKeys are the runes that no key has.
func notInKeys(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// chooseServer has a server on this machine answer. Its port has to be one of those that are looked at, so that a page
// can't have the server ask any port of this machine.
func chooseServer(s *settings.Settings, choice modelchoice.Choice) error {
	if choice.Model == "" {
		return chat.Invalid("Name a model of the server.")
	}
	for _, port := range portsOf(s) {
		if port.Number == choice.Port {
			s.Model, s.OpenAIBaseURL, s.OpenAIAPIKey = "openai", port.BaseURL(), ""
			s.OpenAIModel = choice.Model
			return nil
		}
	}
	return chat.Invalid(
		"Servers of models are not looked for at port %d. Set OPENAI_BASE_URL for one there.", choice.Port,
	)
}

// chooseService has a service answer. ModelServices of the settings may give a service another address, for tests.
func chooseService(s *settings.Settings, choice modelchoice.Choice) error {
	for _, service := range modelServices {
		if service.id != choice.Service {
			continue
		}
		model := cmp.Or(choice.Model, service.model)
		if choice.Key == "" {
			return chat.Invalid("%s needs a key.", service.name)
		}
		if service.id == anthropicService {
			if s.AnthropicBaseURL == "" && !strings.HasPrefix(choice.Key, "sk-ant-") {
				return chat.Invalid("That is no key of Anthropic: those begin with sk-ant-.")
			}
			s.Model, s.AnthropicAPIKey, s.AnthropicModel = service.id, settings.Secret(choice.Key), model
			return nil
		}
		s.Model, s.OpenAIAPIKey, s.OpenAIModel = "openai", settings.Secret(choice.Key), model
		s.OpenAIBaseURL = cmp.Or(s.ModelServices[service.id], service.base)
		if s.OpenAIBaseURL == "" && !settings.IsOpenAIKey(choice.Key) {
			return chat.Invalid("That is no key of OpenAI: those begin with sk- and have at least 40 characters.")
		}
		return nil
	}
	return chat.Invalid("There is no service of that name.")
}

// tryModel asks the model of settings for one short reply with a call of a tool. That is one short request, which a
// service charges for. It waits no longer than the model's client does, half a minute.
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

// refusals are said where the message of an error names variables that nobody has set.
var refusals = map[llm.ErrorKind]string{
	llm.KindAuth:        "the key was refused.",
	llm.KindUnreachable: "nothing answers at its address. Check that it runs, or that this machine is connected.",
	llm.KindTimeout:     "it did not reply within half a minute.",
	llm.KindInvalid:     "its server does not know it, or refuses the request.",
}

// refusedChoice says why a model did not do; nil: it did.
func refusedChoice(name string, err error) error {
	if err == nil {
		return nil
	}
	return &chat.Error{
		Code: chat.CodeInvalid, Message: fmt.Sprintf("%s was not taken: %s", name, whyNot(err)), Err: err,
	}
}

// whyNot says what is wrong with a model that failed. The message of an error that is of no known kind is that of its
// server.
func whyNot(err error) string {
	if why := refusals[llm.KindOf(err)]; why != "" {
		return why
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e.Message
	}
	return "it gave no reply."
}
