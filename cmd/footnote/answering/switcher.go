// Package answering holds the models that answer questions, as the settings configure them, and the Switcher that
// changes the model of a running server.
//
// A choice is a change of the settings file. It is validated before it is saved: first the settings that the next
// start would read, then the model itself with one short request. Running runs keep their model. A [Switcher] is safe
// for concurrent use.
//
// To add a service of models, add its row to cmd/footnote/answering/services.go. GET /model and the page then offer
// it. A server with a protocol of its own needs a package below llm, settings, and a branch where UsesAnthropic is
// called.
package answering

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/footnote/footnote/agent"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/anthropic"
	"github.com/footnote/footnote/agent/llm/nearby"
	"github.com/footnote/footnote/agent/llm/openai"
	agentrun "github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/server/modelchoice"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/host"
	"github.com/footnote/footnote/text/locale"
)

// answering holds the models that answer questions, and their settings. It is immutable: a choice creates a new
// one.
type answering struct {
	set    *settings.Settings
	models modelSet
	ping   func(context.Context) error // health check of the model's server; nil for rules
}

// newAnswering creates the models that the settings name. known is the client of the OpenAI-compatible server, or
// nil.
func newAnswering(
	set *settings.Settings, known *openai.Model, rules llm.Model, log *slog.Logger,
) (*answering, error) {
	made, err := buildModels(set, known, rules, log)
	if err != nil {
		return nil, err
	}
	a := &answering{set: set, models: made}
	if main, direct := made.main.(*anthropic.Model); direct {
		a.ping = main.Ping
	} else if served := made.measured[made.main.Name()]; served != nil {
		a.ping = served.Ping
	}
	return a, nil
}

// isCurrent reports whether a model at a port of this machine is the current one, so that the page shows it as in use.
func (a *answering) isCurrent(port nearby.Port, model string) bool {
	return a.ping != nil && !a.set.UsesAnthropic() && a.set.OpenAIModel == model && port.IsNamed(a.set.OpenAIBaseURL)
}

// problem returns the reason why the model can't be used now, for the page. It is empty if no problem is known. ctx
// carries the page's timeout. A local server that has not replied by then is reported, a remote one is not.
func (a *answering) problem(ctx context.Context) locale.Message {
	if a.ping == nil {
		return ""
	}
	err := a.ping(ctx)
	switch {
	case err == nil:
		return ""
	case ctx.Err() != nil && host.IsHere(host.Of(a.set.OpenAIBaseURL)):
		return "No reply yet. The model server is busy or not responding."
	case ctx.Err() != nil: // a remote server may be slower than the page's timeout
		return ""
	case a.fallback() == nil:
		return locale.Say("Currently unavailable: {1}", failureMessage(err))
	}
	return locale.Say("Currently unavailable, answering in offline mode: {1}", failureMessage(err))
}

// fallback returns the model that replaces a failing one, see Features. It is nil if the settings disable answers
// by rules.
func (a *answering) fallback() llm.Model {
	if !a.set.AgentFallbackToFixedPipeline {
		return nil
	}
	return a.models.fallback
}

// runModels returns the models for runs. Measurements of a model are logged.
func (a *answering) runModels(log *slog.Logger) agentrun.Models {
	return agentrun.Models{
		Model: a.models.main, Fallback: a.fallback(), Select: a.models.selecting, Models: a.models.allowed,
		LeastModel: a.set.AgentMinModelForAgent, Small: smallProfiles(a.set, a.models.measured, log),
	}
}

// Switcher changes the model of a running server.
type Switcher struct {
	log   *slog.Logger
	rules llm.Model
	runs  *agent.Runs
	now   atomic.Pointer[answering]

	choosing sync.Mutex      // held during a trial and while the settings are written: one choice at a time
	stopping context.Context //nolint:containedctx // ends when the server begins to stop: no trial outlives that
	cancel   context.CancelFunc
}

// NewSwitcher returns a Switcher with the model that the settings name. known is the client of the OpenAI-compatible
// server, or nil. rules is the offline model. Runs use the Switcher's model after Attach has been called.
func NewSwitcher(
	ctx context.Context, set *settings.Settings, known *openai.Model, rules llm.Model, log *slog.Logger,
) (*Switcher, error) {
	first, err := newAnswering(set, known, rules, log)
	if err != nil {
		return nil, err
	}
	d := &Switcher{log: log, rules: rules}
	d.stopping, d.cancel = context.WithCancel(context.WithoutCancel(ctx)) // cancelled by CancelTrials
	d.now.Store(first)
	return d, nil
}

// Model returns the current model. It may change at any time.
func (sw *Switcher) Model() llm.Model { return sw.now.Load().models.main }

// Attach sets the current model for runs, and each one that is chosen later.
func (sw *Switcher) Attach(runs *agent.Runs) {
	sw.runs = runs
	runs.Use(sw.now.Load().runModels(sw.log))
}

// UsesServer reports whether the current model sends requests over a network. The rules do not.
func (sw *Switcher) UsesServer() bool { return sw.now.Load().models.client != nil }

// Reachable reports whether the current model has a server for Ping.
func (sw *Switcher) Reachable() bool { return sw.now.Load().ping != nil }

// Ping sends a health check to the current model's server. It requires Reachable.
func (sw *Switcher) Ping(ctx context.Context) error { return sw.now.Load().ping(ctx) }

// CancelTrials cancels the running trial of a model and all later ones.
func (sw *Switcher) CancelTrials() { sw.cancel() }

// Close cancels trials and closes the models' idle connections.
func (sw *Switcher) Close() {
	sw.cancel()
	sw.now.Load().models.close()
}

// Find lists the model servers on this machine, and the services.
//
// It scans the ports of the settings with the timeout nearby.Look, and checks the current model concurrently. Lists
// are never nil, since the page decodes them as JSON arrays.
func (sw *Switcher) Find(ctx context.Context) modelchoice.Found {
	ctx, cancel := context.WithTimeout(ctx, nearby.Look)
	defer cancel()
	found := modelchoice.Found{Servers: []modelchoice.Server{}, Services: []modelchoice.Service{}}
	now := sw.now.Load()
	var asking sync.WaitGroup
	asking.Go(func() { found.Trouble = now.problem(ctx) })
	servers := nearby.Find(ctx, portsOf(now.set))
	asking.Wait()
	best, suits, _ := nearby.Best(servers)
	for _, s := range servers {
		server := modelchoice.Server{Program: s.Program, Port: s.Number, Models: []modelchoice.Model{}}
		for _, m := range s.Models {
			server.Models = append(server.Models, modelchoice.Model{
				Name: m.Name, Size: m.Size, Bytes: m.Bytes, Context: m.Context, Tools: m.Tools, Loaded: m.Loaded,
				Suggested: s.Port == best && m.Name == suits.Name, Answering: now.isCurrent(s.Port, m.Name),
			})
		}
		found.Servers = append(found.Servers, server)
	}
	for _, s := range modelServices {
		found.Services = append(found.Services, modelchoice.Service{Service: s.id, Name: s.name, Model: s.model})
	}
	return found
}

// LogOtherModels logs which model on this machine could answer, for an operator without a model. It logs nothing if a
// server's model answers or the settings name one.
func (sw *Switcher) LogOtherModels(ctx context.Context) {
	now := sw.now.Load()
	if now.ping != nil || now.set.Model != "auto" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, nearby.Look)
	defer cancel()
	if at, best, ok := nearby.Best(nearby.Find(ctx, portsOf(now.set))); ok {
		sw.log.InfoContext(ctx, "a local model is available: select it at the bottom of the menu",
			"model", best.Name, "server", at.Program)
	}
}

// Choose validates a model. If the model answers, it is saved in the settings file and answers from then on.
//
// It has two phases, so that a failure changes nothing. First the settings file is parsed with the choice, then the
// model gets a request, and only then the file is written. Only one trial runs at a time; a concurrent one is
// refused. A *chat.Error has a message for users. Cancelling ctx or stopping the server ends the trial.
func (sw *Switcher) Choose(ctx context.Context, choice modelchoice.Choice) (modelchoice.Tried, error) {
	if !sw.choosing.TryLock() {
		return modelchoice.Tried{}, chat.Invalid("Another model is being tested. Try again in a moment.")
	}
	defer sw.choosing.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(sw.stopping, cancel)() //nolint:contextcheck // it is the server's
	old := sw.now.Load()
	set, keep, err := settingsFor(old.set, choice)
	if err != nil {
		return modelchoice.Tried{}, err
	}
	if err := settings.Save(set.Config, keep, dryRun(set)); !errors.Is(err, settings.ErrTried) {
		return modelchoice.Tried{}, saveError(err)
	}
	// This takes up to half a minute with the lock held: a second choice is refused.
	tried, err := tryModel(ctx, set)
	if err != nil {
		return modelchoice.Tried{}, err
	}
	next, err := newAnswering(set, nil, sw.rules, sw.log)
	if err != nil {
		return modelchoice.Tried{}, err
	}
	if err := settings.Save(set.Config, keep, checkNextStart(set)); err != nil {
		next.models.close()
		return modelchoice.Tried{}, saveError(err)
	}
	// Runs first, then the page and /health: neither may name a model before it answers.
	sw.runs.Use(next.runModels(sw.log))
	sw.now.Store(next)
	old.models.close() // running runs open new connections
	tried.Model = next.models.main.Name()
	sw.log.InfoContext(ctx, "another model answers", "model", tried.Model)
	return tried, nil
}

// dryRun is checkNextStart for a file that is not saved yet.
func dryRun(s *settings.Settings) func(next *settings.Settings) error {
	return func(next *settings.Settings) error { return cmp.Or(checkNextStart(s)(next), settings.ErrTried) }
}

// checkNextStart returns a check that fails if the next start would use another model than s, because the environment
// takes precedence over the file.
func checkNextStart(s *settings.Settings) func(next *settings.Settings) error {
	return func(next *settings.Settings) error {
		if modelOf(next) == modelOf(s) {
			return nil
		}
		return overrideError()
	}
}

// overrideError returns the error for a choice that the environment or another setting overrides. It lists the names
// of the environment variables that are set, never their values.
func overrideError() error {
	var names []string
	for _, name := range []string{
		"FOOTNOTE_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL",
		"OPENAI_EMBEDDING_BASE_URL", "OPENAI_EMBEDDING_API_KEY",
	} {
		if os.Getenv(name) != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return chat.Invalid("Another setting in the settings file overrides the model. Change it there.")
	}
	return chat.Invalid(
		"The environment sets {1}, which overrides the settings file. Remove that setting, restart the server, and "+
			"choose the model again.", english.List(names),
	)
}

// modelNamed holds the settings that select the model and the embedding model.
type modelNamed struct {
	model, key, base, openAI, anthropicKey, anthropic, vectorBase, vectorKey string
}

// modelOf returns the settings that a choice can change, without those of unused models.
func modelOf(s *settings.Settings) modelNamed {
	m := modelNamed{model: s.Model, vectorBase: s.OpenAIEmbeddingBaseURL, vectorKey: string(s.OpenAIEmbeddingAPIKey)}
	switch {
	case s.UsesAnthropic():
		m.anthropicKey, m.anthropic = string(s.AnthropicAPIKey), s.AnthropicModel
	case s.Model == "openai":
		m.key, m.base, m.openAI = string(s.OpenAIAPIKey), s.OpenAIBaseURL, s.OpenAIModel
	}
	return m
}

// saveError wraps the error of a choice that can't be saved. A *chat.Error is returned unchanged.
func saveError(err error) error {
	if _, ok := errors.AsType[*chat.Error](err); ok {
		return err
	}
	return &chat.Error{
		Code: chat.CodeInvalid, Err: err,
		Message: "The model can't be saved to the settings file automatically. Set it there manually.",
	}
}

// portsOf returns the ports that are scanned for model servers. The settings' ports replace the default ones; they
// are for tests and for servers on other ports.
func portsOf(s *settings.Settings) []nearby.Port {
	if s.ModelPorts == nil {
		return nearby.Ports
	}
	var ports []nearby.Port
	for _, number := range s.ModelPorts {
		ports = append(ports, nearby.Port{Number: number, Program: "A server"})
	}
	return ports
}

// settingsFor returns the settings for a choice, and the values to save in the settings file, by flag name. An empty
// value removes the flag from the file. Other models of the settings stay with their server. It does not change s.
func settingsFor(s *settings.Settings, choice modelchoice.Choice) (*settings.Settings, map[string]string, error) {
	choice.Model, choice.Key = strings.TrimSpace(choice.Model), strings.TrimSpace(choice.Key)
	switch {
	case len(choice.Model) > 200 || len(choice.Key) > 400:
		return nil, nil, chat.Invalid("A model name can have up to 200 characters, and an API key up to 400.")
	case strings.ContainsFunc(choice.Model, unicode.IsControl) || strings.ContainsFunc(choice.Key, notInKeys):
		return nil, nil, chat.Invalid("An API key can't contain spaces or line breaks. A model name can't contain " +
			"line breaks.")
	case s.OCR == "model":
		return nil, nil, chat.Invalid(
			"The configured model is also used for OCR (FOOTNOTE_OCR). Change it in the settings, for both.",
		)
	}
	set := *s
	set.AgentModelsAllowed, set.AgentMinModelForAgent, set.ModelsSelect = nil, "", ""
	if s.EmbedsRemotely() { // embeddings of another model are incompatible
		base, key, err := s.OpenAI(s.OpenAIModel, nil).EmbeddingServer()
		if err != nil {
			return nil, nil, err
		}
		set.OpenAIEmbeddingBaseURL, set.OpenAIEmbeddingAPIKey = base, settings.Secret(key)
	}
	switch {
	case choice.Port != 0:
		if err := chooseServer(&set, choice); err != nil {
			return nil, nil, err
		}
	case choice.Service == noService:
		set.Model = noService
	default:
		if err := chooseService(&set, choice); err != nil {
			return nil, nil, err
		}
	}
	if err := set.CheckModels(); err != nil {
		return nil, nil, chat.Invalid("The model is incompatible with other settings: {1}.", err)
	}
	keep := map[string]string{"model": set.Model}
	if set.Model != noService {
		keep["agent-models-allowed"], keep["agent-min-model-for-agent"], keep["models-select"] = "", "", ""
		keep["openai-embedding-base-url"] = set.OpenAIEmbeddingBaseURL
		keep["openai-embedding-api-key"] = string(set.OpenAIEmbeddingAPIKey)
	}
	switch set.Model {
	case anthropicService:
		keep["anthropic-api-key"], keep["anthropic-model"] = string(set.AnthropicAPIKey), set.AnthropicModel
	case "openai":
		keep["openai-api-key"], keep["openai-base-url"] = string(set.OpenAIAPIKey), set.OpenAIBaseURL
		keep["openai-model"] = set.OpenAIModel
	}
	return &set, keep, nil
}
