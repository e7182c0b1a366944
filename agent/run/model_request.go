package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

// turnModel returns the model for the next turn. A cheaper model, if there is one, chooses the tools; its text is
// not shown. The run's own model writes the answer, and small talk needs no chooser. A chooser of the same name is
// ignored, since it would only duplicate the turn.
func (m *modelCaller) turnModel() (model llm.Model, chooses bool) {
	s := m.chooser
	if s == nil || m.isRuleBased() || m.givenText() || !m.mayCallTools() || m.asked.Type == question.General ||
		s.Name() == m.model.Name() {
		return m.model, false
	}
	return s, true
}

// nextRequest builds the request for the next turn. It shares the messages with the history: a model must not change
// them. Tools are included even if none may be called: a history with calls needs them, and NoTools forbids further
// ones.
func (m *modelCaller) nextRequest(ctx context.Context) llm.Request {
	req := llm.Request{
		Messages: m.messages.list, NoTools: !m.mayCallTools(), Temperature: m.chosenTemperature(),
		DefaultTemperature: m.run.Request.Config.Temperature == nil && m.cfg.Temperature == nil,
		Seed:               m.run.Request.Config.Seed,
		MaxTokens:          m.cfg.MaxTokens,
	}
	if m.isSmall() {
		req.Messages, req.MaxTokens = m.smallRequest(ctx), cmp.Or(m.cfg.MaxTokens, smallReply)
		return req
	}
	if len(m.messages.ephemeral) > 0 {
		req.Messages = append(
			append(make([]llm.Message, 0, len(m.messages.list)+len(m.messages.ephemeral)), m.messages.list...),
			m.messages.ephemeral...)
	}
	req.Tools = m.toolSpecs()
	return req
}

// toolSpecs returns the specs of the run's tools; none for a given text or a small model.
func (m *modelCaller) toolSpecs() []llm.ToolSpec {
	if m.givenText() || m.isSmall() {
		return nil
	}
	out := make([]llm.ToolSpec, 0, len(m.set.Tools))
	for _, t := range m.set.Tools {
		out = append(out, t.Spec)
	}
	return out
}

// chosenTemperature returns the temperature of the request, else of the server's settings, else of the toolset.
func (k *knowledge) chosenTemperature() *float64 {
	switch {
	case k.run.Request.Config.Temperature != nil:
		return k.run.Request.Config.Temperature
	case k.cfg.Temperature != nil:
		return k.cfg.Temperature
	}
	return &k.set.DefaultTemperature
}

// toolSelection returns who chooses the run's first tools. Rules choose for the fixed pipeline, a model below
// LeastModel and a small model. Otherwise the request's setting takes precedence, then the server's, then the
// toolset's.
func (m *modelCaller) toolSelection() tools.Selection {
	switch asked := tools.Selection(m.run.Request.Config.Selection); {
	case !m.usesAgent(), m.cfg.usesPipeline(m.model), m.isSmall():
		return tools.SelectRules
	case asked != "":
		return asked
	case m.cfg.Features.Selection != "":
		return m.cfg.Features.Selection
	default:
		return m.set.Selection
	}
}

// answerIfDeclined makes the next turn the answer if the model that only chooses tools wants no further ones, and
// reports whether it did. Both turns count as one: the budget gets the chooser's turn back. The chooser's ephemeral
// messages are sent to the answering model too. The chooser's text is dropped.
func (m *modelCaller) answerIfDeclined(ctx context.Context, r reply, aside []llm.Message) (bool, error) {
	if !r.chooses {
		return false, nil
	}
	answer, _, ends := m.answerInCall(r)
	if !ends && len(r.calls) > 0 {
		return false, nil
	}
	m.answerNext()
	m.messages.ephemeral = aside
	m.budget.turns--
	return true, m.log.emitDropped(ctx, llm.Dropped{
		Text: r.text + "\n" + answer, Message: "Removed text from the tool selection model",
	})
}

// disableChooser makes the run's own model choose from now on, and emits a step. It holds for the rest of the run: a
// failed chooser would cost its timeout again.
func (m *modelCaller) disableChooser(ctx context.Context, e *llm.Error) error {
	m.chooser = nil
	name := m.cfg.Select.Name()
	m.cfg.Log.ErrorContext(
		ctx, "the model that chooses tools failed", "run", m.run.ID, "model", name, "kind", e.Kind, "error", e,
	)
	step := m.log.newStep("choose", chat.ActionThinking, chat.StatusError, locale.Message(fmt.Sprintf(
		"The model %s failed: %s chooses itself", name, m.model.Name(),
	)))
	reason, _ := explainFailure(e, m.run.User)
	step.Error = chat.NewStepError(chat.CodeModelFailed, locale.Say(
		"The model {1} failed: {2}.", name, reason,
	), e.Retryable())
	return m.log.emitEvents(ctx, step)
}

// sideContext returns the context of a request beside the conversation, and a function that releases it. The timeout,
// a user who wants the answer now, and the server's shutdown cancel it.
func (m *modelCaller) sideContext(ctx context.Context, limit time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	now, leaving := context.AfterFunc(m.control.now, cancel), context.AfterFunc(m.control.leaving, cancel)
	return ctx, func() { now(); leaving(); cancel() }
}

// addTextForFallback adds the given text, or the request's added context, to the history as the result of a read,
// since the fallback knows only documents. The given text is split at blank lines, so that a quote is a paragraph at
// most, and its paragraphs have numbers.
func (m *modelCaller) addTextForFallback() error {
	id, paragraphs := llm.AddedDocument, m.evidence.Added
	if m.givenText() {
		id, paragraphs = llm.GivenDocument, strings.Split(m.run.Request.ContextText, "\n\n")
	}
	passages := []map[string]any{}
	for _, p := range paragraphs {
		if p = strings.TrimSpace(p); p != "" {
			n := 0
			if m.givenText() {
				n = len(passages) + 1
			}
			passages = append(passages, map[string]any{"n": n, "block_id": "", "text": p})
		}
	}
	if len(passages) == 0 && !m.givenText() {
		return nil
	}
	result, err := toolMessage(m.nonce, id, map[string]any{
		"doc_id": id, "filename": "the given text", "title": "The given text", "page": 1, "pages": 1,
		"passages": passages,
	})
	if err != nil {
		return err
	}
	call := llm.Call{ID: id, Name: "read_document", Arguments: json.RawMessage(`{"doc_id":"` + id + `"}`)}
	m.messages.list = append(m.messages.list, llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{call}}, result)
	return nil
}

// offlineName is the name of the rule-based model. It takes no advice.
const offlineName = "offline"

// Models holds the models that a server uses: the fields of Config of the same names. Prices are separate.
type Models struct {
	Model, Fallback, Select llm.Model
	Models                  []llm.Model
	LeastModel              string
	Small                   func(ctx context.Context, model string, measuring func()) string
}

// Use sets the models for new runs. Running runs keep theirs, and the cache of tool decisions stays. Model is
// required.
func (e *Engine) Use(m Models) {
	cfg := *e.config()
	cfg.Model, cfg.Fallback, cfg.Select, cfg.Models = m.Model, m.Fallback, m.Select, m.Models
	cfg.LeastModel, cfg.Small = m.LeastModel, m.Small
	e.cfg.Store(&cfg)
}

// Price is the price of a million tokens.
type Price struct{ In, Out float64 }

// allowedModels returns the models that a request may select, deduplicated by name: the usual one, the allowed ones
// and the fallback. With the fallback a user can select the offline model by its name.
func (c *Config) allowedModels() []llm.Model {
	all := append([]llm.Model{c.Model}, c.Models...)
	if c.Fallback != nil {
		all = append(all, c.Fallback)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(m llm.Model) bool {
		known := seen[m.Name()]
		seen[m.Name()] = true
		return known
	})
}

// ModelNames returns the names of the models that a request may select, the usual one first.
func (e *Engine) ModelNames() []string { return e.config().modelNames() }

func (c *Config) modelNames() []string {
	names := []string{}
	for _, m := range c.allowedModels() {
		names = append(names, m.Name())
	}
	return names
}

// modelOf returns the model that a request selects, or the usual one. It fails with CodeInvalid for a model that is
// not allowed.
func (c *Config) modelOf(asked chat.RunConfig) (llm.Model, error) {
	if asked.Model == "" || asked.Model == c.Model.Name() {
		return c.Model, nil
	}
	for _, m := range c.allowedModels() {
		if m.Name() == asked.Model {
			return m, nil
		}
	}
	return nil, chat.Invalid(
		"The model “{1}” is not allowed here. Allowed: {2}.", text.Shorten(asked.Model, 60),
		strings.Join(c.modelNames(), ", "),
	)
}

// usesPipeline reports whether a model is weaker than LeastModel, in the order of the allowed models.
func (c *Config) usesPipeline(m llm.Model) bool {
	if c.LeastModel == "" || m.Name() == c.LeastModel || m.Name() == offlineName {
		return false
	}
	for _, allowed := range c.Models {
		switch allowed.Name() {
		case c.LeastModel:
			return false
		case m.Name():
			return true
		}
	}
	return false
}

// ToolsetNames returns the names of the toolsets, the usual one first.
func (e *Engine) ToolsetNames() []string {
	names := []string{e.config().Toolset}
	for _, name := range slices.Sorted(maps.Keys(e.Registry.Toolsets)) {
		if name != e.config().Toolset {
			names = append(names, name)
		}
	}
	return names
}

const (
	// contextTokens is the default token limit of a run's history. With the answer it fits a model of 64k. If a
	// server has less context, checkPrompt detects it, or the server refuses the prompt as too long
	// (dropOldResults).
	contextTokens = 60_000

	// keptOutput is the number of bytes kept of a shortened result: about the title and the first lines, from which
	// the model can decide whether to call the tool again.
	keptOutput = 600
)

// messages is the context for the model: the prompt, its own turns and the results of its calls. A resumed run
// rebuilds it from the log; ephemeral is lost then.
type messages struct {
	list      []llm.Message
	ephemeral []llm.Message // for the next turn only: a rejected reply and the prompt to correct it
}

// shortenOldResults shortens the results of older calls when the history nears its token limit, and emits a step. It
// starts at 80 % of Features.ContextTokens: the rest is for the next results and the answer. Results of the last
// turn stay whole.
func (s *state) shortenOldResults(ctx context.Context) error {
	size := s.messages.estimateTokens()
	if size <= s.cfg.Features.ContextTokens*8/10 {
		return nil
	}
	shortened, freed := s.messages.shortenOldResults(s.nonce)
	if shortened == 0 {
		return nil
	}
	step := s.log.newStep(
		"compact", chat.ActionThinking, chat.StatusComplete,
		locale.Say(
			"Shortened {1} to make room", locale.Count(shortened, "earlier result"),
		),
	)
	step.Summary = step.Forms.Say(locale.Say("about {1} of {2} tokens freed", freed, size))
	step.Details = map[string]any{"tokens": size, "freed": freed, "limit": s.cfg.Features.ContextTokens}
	return s.log.emitEvents(ctx, step)
}

// estimateTokens estimates the tokens of the whole history.
func (ms *messages) estimateTokens() int {
	size := 0
	for _, m := range ms.list {
		size += estimateTokens(m.Text)
	}
	return size
}

// lastTurn returns the index where the results of the last turn begin; earlier ones are the older results.
func (ms *messages) lastTurn() int {
	last := len(ms.list)
	for last > 0 && ms.list[last-1].Role == llm.RoleTool {
		last--
	}
	return last
}

// shortenOldResults cuts older tool results to keptOutput bytes. It returns how many it cut and the estimated tokens
// freed. A shortened result keeps its fence, so that it stays data.
func (ms *messages) shortenOldResults(nonce string) (shortened, freed int) {
	for i := range ms.list[:ms.lastTurn()] {
		m := &ms.list[i]
		if m.Role != llm.RoleTool || len(m.Text) <= 2*keptOutput {
			continue
		}
		_, body, _ := strings.Cut(m.Text, "\n") // without the opening mark
		short := fenceData(
			nonce,
			clipTokens(body, keptOutput/4)+" (shortened to save room: call the tool again if you need the rest)",
		)
		shortened, freed = shortened+1, freed+estimateTokens(m.Text)-estimateTokens(short)
		m.Text = short
	}
	return shortened, freed
}

// dropOldResults replaces older tool results, which take the most tokens, by a note. It reports whether there were
// any. It is for a server that refused the prompt as too long, and frees more than shortenOldResults.
func (ms *messages) dropOldResults() bool {
	found := false
	for i := range ms.list[:ms.lastTurn()] {
		if m := &ms.list[i]; m.Role == llm.RoleTool && len(m.Text) > 400 {
			m.Text = `{"note":"This result was left out to save room. Call the tool again if you need it."}`
			found = true
		}
	}
	return found
}

// estimateTokens estimates the tokens of a text at about four bytes each. It is for the size of the context; usage
// is charged by the server's count wherever there is one.
func estimateTokens(s string) int { return len(s)/4 + 1 }

// estimateRequest estimates the tokens of a request, including its tools. The schemas of twelve tools are a good
// part of a short request.
func estimateRequest(req llm.Request) int {
	size := 0
	for _, message := range req.Messages {
		size += estimateTokens(message.Text)
	}
	for _, tool := range req.Tools {
		size += estimateTokens(tool.Description) + estimateTokens(string(tool.Schema))
	}
	return size
}

// clipTokens cuts a text to about limit tokens, four bytes each, at a rune boundary, and marks the cut with an
// ellipsis.
func clipTokens(s string, limit int) string {
	if len(s) <= limit*4 {
		return s
	}
	cut := max(limit*4, 0)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + " …"
}
