// Package answering is what answers questions: the models that the settings name, and the desk at which another one is
// chosen while the server serves.
//
// A choice is a change of the settings file. It is tried before it is kept: what the next start would read of the file
// first, then the model itself by one short question. Runs under way keep the model that they began with. A [Desk] may
// be used by many goroutines at once.
//
// To add a service of models, add its row to cmd/footnote/answering/services.go. GET /model and the page then offer it.
// A server with a protocol of its own needs a package below llm, settings, and a branch where UsesAnthropic is called.
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
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/llm/openai"
	agentrun "github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/server/modelchoice"
	"github.com/footnote/footnote/text/english"
)

// answering is what answers questions, and the settings that it was made by. It does not change once it is made:
// another choice makes another one.
type answering struct {
	set    *settings.Settings
	models modelSet
	reach  func(context.Context) error // asks the model's server; nil: rules answer
}

// newAnswering makes the models that settings name. known is the client of the OpenAI-compatible server, nil if there
// is none yet.
func newAnswering(
	set *settings.Settings, known *openai.Model, similar offline.Similarity, log *slog.Logger,
) (*answering, error) {
	made, err := buildModels(set, known, similar, log)
	if err != nil {
		return nil, err
	}
	a := &answering{set: set, models: made}
	if main, direct := made.main.(*anthropic.Model); direct {
		a.reach = main.Reach
	} else if served := made.measured[made.main.Name()]; served != nil {
		a.reach = served.Reach
	}
	return a, nil
}

// isAt reports whether a model at a port of this machine is the one that answers. Then the page shows it as the one in
// use.
func (a *answering) isAt(port nearby.Port, model string) bool {
	return a.reach != nil && !a.set.UsesAnthropic() && a.set.OpenAIModel == model && port.IsNamed(a.set.OpenAIBaseURL)
}

// trouble says why the model can't be used now; empty: nothing is known against it. The text is for the page. ctx is
// the time that the page waits: a server on this machine that has not replied by then is told of, one far away is not.
func (a *answering) trouble(ctx context.Context) string {
	if a.reach == nil {
		return ""
	}
	err := a.reach(ctx)
	switch {
	case err == nil:
		return ""
	case ctx.Err() != nil && nearby.IsHere(a.set.OpenAIBaseURL):
		return "It has not replied yet: its server is busy, or hangs."
	case ctx.Err() != nil: // what is far away takes longer than the page waits
		return ""
	case a.fallback() == nil:
		return "It can't be used now: " + whyNot(err)
	}
	return "It can't be used now, and rules answer until it can: " + whyNot(err)
}

// fallback takes over from a model that fails. It also keeps rules from searching for a model that can't, see
// features. It is nil when the settings want no answers by rules.
func (a *answering) fallback() llm.Model {
	if !a.set.AgentFallbackToFixedPipeline {
		return nil
	}
	return a.models.fallback
}

// forRuns is what runs are answered with. The log gets what a model was measured to be.
func (a *answering) forRuns(log *slog.Logger) agentrun.Models {
	return agentrun.Models{
		Model: a.models.main, Fallback: a.fallback(), Select: a.models.selecting, Models: a.models.allowed,
		LeastModel: a.set.AgentMinModelForAgent, Small: smallProfiles(a.set, a.models.measured, log),
	}
}

// Desk changes which model answers while the server serves.
type Desk struct {
	log     *slog.Logger
	similar offline.Similarity
	runs    *agent.Runs
	now     atomic.Pointer[answering]

	choosing sync.Mutex      // one choice at a time: held while a model is tried, and while the settings are written
	stopping context.Context //nolint:containedctx // ends when the server begins to stop: no trial outlives that
	cancel   context.CancelFunc
}

// NewDesk makes the desk with the model that the settings name. known is the client of the OpenAI-compatible
// server, nil if there is none; similar compares sentences for the model made of rules, nil without an embedder. It
// is for runs once AnswerFor has been called.
func NewDesk(
	ctx context.Context, set *settings.Settings, known *openai.Model, similar offline.Similarity, log *slog.Logger,
) (*Desk, error) {
	first, err := newAnswering(set, known, similar, log)
	if err != nil {
		return nil, err
	}
	d := &Desk{log: log, similar: similar}
	d.stopping, d.cancel = context.WithCancel(context.WithoutCancel(ctx)) // StopTrials ends it
	d.now.Store(first)
	return d, nil
}

// Model is the one that answers now. It may be another one a moment later.
func (d *Desk) Model() llm.Model { return d.now.Load().models.main }

// AnswerFor has runs answered with the model of now, and with each that is chosen later.
func (d *Desk) AnswerFor(runs *agent.Runs) {
	d.runs = runs
	runs.Use(d.now.Load().forRuns(d.log))
}

// AsksServer reports whether the model that answers is asked over a network: rules need none.
func (d *Desk) AsksServer() bool { return d.now.Load().models.client != nil }

// Reachable reports whether the model that answers has a server that Reach can ask.
func (d *Desk) Reachable() bool { return d.now.Load().reach != nil }

// Reach asks the server of the model that answers. Reachable says whether there is one.
func (d *Desk) Reach(ctx context.Context) error { return d.now.Load().reach(ctx) }

// StopTrials ends the trial of a model that is under way, and each that begins later.
func (d *Desk) StopTrials() { d.cancel() }

// Close ends trials, and gives up idle connections of the models.
func (d *Desk) Close() {
	d.cancel()
	d.now.Load().models.close()
}

// Find lists the model servers on this machine, and the services.
//
// It looks at the ports of the settings, for as long as nearby.Look, and asks at the same time whether the model that
// answers can be used. Lists are never nil, for the page reads them as JSON.
func (d *Desk) Find(ctx context.Context) modelchoice.Found {
	ctx, cancel := context.WithTimeout(ctx, nearby.Look)
	defer cancel()
	found := modelchoice.Found{Servers: []modelchoice.Server{}, Services: []modelchoice.Service{}}
	now := d.now.Load()
	var asking sync.WaitGroup
	asking.Go(func() { found.Trouble = now.trouble(ctx) })
	servers := nearby.Find(ctx, portsOf(now.set))
	asking.Wait()
	best, suits, _ := nearby.Best(servers)
	for _, s := range servers {
		server := modelchoice.Server{Program: s.Program, Port: s.Number, Models: []modelchoice.Model{}}
		for _, m := range s.Models {
			server.Models = append(server.Models, modelchoice.Model{
				Name: m.Name, Size: m.Size, Bytes: m.Bytes, Context: m.Context, Tools: m.Tools, Loaded: m.Loaded,
				Suggested: s.Port == best && m.Name == suits.Name, Answering: now.isAt(s.Port, m.Name),
			})
		}
		found.Servers = append(found.Servers, server)
	}
	for _, s := range modelServices {
		found.Services = append(found.Services, modelchoice.Service{Service: s.id, Name: s.name, Model: s.model})
	}
	return found
}

// TellOfOthers tells whoever starts a server without a model which one on this machine would suit. It says nothing
// when a model of a server answers, or when the settings say which one is wanted.
func (d *Desk) TellOfOthers(ctx context.Context) {
	now := d.now.Load()
	if now.reach != nil || now.set.Model != "auto" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, nearby.Look)
	defer cancel()
	if at, best, ok := nearby.Best(nearby.Find(ctx, portsOf(now.set))); ok {
		d.log.InfoContext(ctx, "a model on this machine could answer: choose it on the page, at the foot of the menu",
			"model", best.Name, "server", at.Program)
	}
}

// Choose tries a model. If it answers, it is kept in the settings file and answers from then on.
//
// It is in two steps, so that nothing is half changed: first the settings file is read as it would be with the choice,
// then the model is asked, and only then the file is written. One choice at a time is tried; another one meanwhile is
// refused. A *chat.Error says what a user may read. ctx or the server's stop end the trial.
func (d *Desk) Choose(ctx context.Context, choice modelchoice.Choice) (modelchoice.Tried, error) {
	if !d.choosing.TryLock() {
		return modelchoice.Tried{}, chat.Invalid("Another model is being tried. Wait until that is done.")
	}
	defer d.choosing.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.stopping, cancel)() //nolint:contextcheck // it is the server's
	old := d.now.Load()
	set, keep, err := choosing(old.set, choice)
	if err != nil {
		return modelchoice.Tried{}, err
	}
	if err := settings.Keep(set.Config, keep, dryRun(set)); !errors.Is(err, settings.ErrTried) {
		return modelchoice.Tried{}, notKept(err)
	}
	// this takes up to half a minute, and the lock is held: a second choice is told to wait
	tried, err := tryModel(ctx, set)
	if err != nil {
		return modelchoice.Tried{}, err
	}
	next, err := newAnswering(set, nil, d.similar, d.log)
	if err != nil {
		return modelchoice.Tried{}, err
	}
	if err := settings.Keep(set.Config, keep, startsAs(set)); err != nil {
		next.models.close()
		return modelchoice.Tried{}, notKept(err)
	}
	// runs first, then what the page and /health show: neither may name a model before it answers
	d.runs.Use(next.forRuns(d.log))
	d.now.Store(next)
	old.models.close() // runs under way open connections of their own
	tried.Model = next.models.main.Name()
	d.log.InfoContext(ctx, "another model answers", "model", tried.Model)
	return tried, nil
}

// dryRun is startsAs for a file that is not to be kept yet.
func dryRun(s *settings.Settings) func(next *settings.Settings) error {
	return func(next *settings.Settings) error { return cmp.Or(startsAs(s)(next), settings.ErrTried) }
}

// startsAs makes the check that fails when another start would answer with another model than these settings, because
// the environment goes before the file.
func startsAs(s *settings.Settings) func(next *settings.Settings) error {
	return func(next *settings.Settings) error {
		if modelOf(next) == modelOf(s) {
			return nil
		}
		return otherStart()
	}
}

// otherStart says why another start would answer otherwise. It names the variables of the environment that are set,
// and never what they hold.
func otherStart() error {
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
		return chat.Invalid("The settings file says in another place which model answers. Change it there.")
	}
	return chat.Invalid(
		"The next start would answer otherwise: its environment sets %s, which goes before the settings file. Take "+
			"that out, start again, and choose then.", english.List(names),
	)
}

// modelNamed is what of settings says which model answers, and which makes vectors.
type modelNamed struct {
	model, key, base, openAI, anthropicKey, anthropic, vectorBase, vectorKey string
}

// modelOf takes of settings what a choice can change, and leaves out what another model's settings hold.
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

// notKept says why a choice can't be kept. One that users may read is left as it is.
func notKept(err error) error {
	if _, ok := errors.AsType[*chat.Error](err); ok {
		return err
	}
	return &chat.Error{
		Code: chat.CodeInvalid, Err: err,
		Message: "The choice can't be kept: the settings file can't be changed so that the next start takes it. " +
			"Set the model there by hand.",
	}
}

// portsOf are where servers of models are looked for. The settings' ports take the place of the usual ones; they are
// for tests and for servers at other ports.
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

// choosing are the settings with which a choice answers, and what of them a settings file has to say, by the names of
// the flags. Models that the settings name beside the usual one stay with their server. It does not change s. An empty
// text for a flag takes it out of the file.
func choosing(s *settings.Settings, choice modelchoice.Choice) (*settings.Settings, map[string]string, error) {
	choice.Model, choice.Key = strings.TrimSpace(choice.Model), strings.TrimSpace(choice.Key)
	switch {
	case len(choice.Model) > 200 || len(choice.Key) > 400:
		return nil, nil, chat.Invalid("A model's name has at most 200 characters, and a key 400.")
	case strings.ContainsFunc(choice.Model, unicode.IsControl) || strings.ContainsFunc(choice.Key, notInKeys):
		return nil, nil, chat.Invalid("A key has no spaces and no line breaks, and a model's name no line breaks.")
	case s.OCR == "model":
		return nil, nil, chat.Invalid(
			"The model of the settings also reads pictures (FOOTNOTE_OCR): change it there, for both.",
		)
	}
	set := *s
	set.AgentModelsAllowed, set.AgentMinModelForAgent, set.ModelsSelect = nil, "", ""
	if s.EmbedsRemotely() { // vectors of another model would not fit
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
		return nil, nil, chat.Invalid("That can't be used with the other settings: %v.", err)
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
