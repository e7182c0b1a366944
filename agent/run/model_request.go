package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
)

// turnModel returns the model for the next turn. A cheaper model, if there is one, chooses the tools, and nobody is
// shown what it says. The run's own model writes the answer, and talk is left to it alone. A chooser of the same name
// would only say the same twice.
func (m *modelCaller) turnModel() (model llm.Model, chooses bool) {
	s := m.chooser
	if s == nil || m.isRuleBased() || m.givenText() || !m.mayCallTools() || m.asked.Type == question.General ||
		s.Name() == m.model.Name() {
		return m.model, false
	}
	return s, true
}

// nextRequest is the next turn as the model gets it. The messages are shared with the history, not copied: a model must
// not change them. Tools are named even when none may be called: a history with calls needs them, and NoTools forbids
// further ones.
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

// toolSpecs are the run's tools as a model is told them: none beside a given text, and none for a small model.
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

// chosenTemperature is that of the request, else of the server, else of the toolset.
func (k *knowledge) chosenTemperature() *float64 {
	switch {
	case k.run.Request.Config.Temperature != nil:
		return k.run.Request.Config.Temperature
	case k.cfg.Temperature != nil:
		return k.cfg.Temperature
	}
	return &k.set.DefaultTemperature
}

// toolSelection is who chooses this run's first tools. A fixed pipeline, a model below LeastModel and a small model
// leave no choice: rules choose. Of those who leave a choice the request counts most, then the settings, then the
// toolset.
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

// answerIfDeclined makes the next turn the answer when the model that only chooses tools wants no further ones, and
// reports whether it did. Both turns count as one: the budget gets the chooser's turn back, and what was said aside to
// it is said to the model that answers. The text of the chooser is dropped.
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
		Text: r.text + "\n" + answer, Message: "Removed the words of the model that only chooses tools",
	})
}

// chooseAlone lets the run's own model choose from now on, and says why. It stays so for the rest of the run: a chooser
// that failed once would cost its timeout again and again.
func (m *modelCaller) chooseAlone(ctx context.Context, e *llm.Error) error {
	m.chooser = nil
	name := m.cfg.Select.Name()
	m.cfg.Log.ErrorContext(
		ctx, "the model that chooses tools failed", "run", m.run.ID, "model", name, "kind", e.Kind, "error", e,
	)
	step := m.log.newStep("choose", chat.ActionThinking, chat.StatusError, fmt.Sprintf(
		"The model %s failed: %s chooses itself", name, m.model.Name(),
	))
	reason, _ := explainFailure(e, m.run.User)
	step.Error = &chat.StepError{Code: chat.CodeModelFailed, Message: fmt.Sprintf(
		"The model %s can't answer, because %s.", name, reason,
	), Retryable: e.Retryable()}
	return m.log.emitEvents(ctx, step)
}

// giveTextToFallback gives the fallback, which knows documents only, the given text as one that was read. The text is
// split at blank lines, so that a quote is a paragraph at most.
func (m *modelCaller) giveTextToFallback() error {
	if !m.givenText() {
		return m.giveContextToFallback()
	}
	out := tools.ReadDocumentOutput{
		DocID: llm.GivenDocument, Filename: "the given text", Title: "The given text", Page: 1, Pages: 1,
	}
	for _, part := range strings.Split(m.run.Request.ContextText, "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			out.Passages = append(out.Passages, tools.ShownPassage{N: len(out.Passages) + 1, Text: part})
		}
	}
	result, err := toolMessage(m.nonce, llm.GivenDocument, out)
	if err != nil {
		return err
	}
	call := llm.Call{
		ID: llm.GivenDocument, Name: "read_document",
		Arguments: json.RawMessage(`{"doc_id":"` + llm.GivenDocument + `"}`),
	}
	m.messages.list = append(m.messages.list, llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{call}}, result)
	return nil
}

// giveContextToFallback gives the model made of rules, which reads only the results of tools, the added context as
// one of them.
func (m *modelCaller) giveContextToFallback() error {
	paragraphs := m.evidence.Added
	if m.givenText() || len(paragraphs) == 0 {
		return nil
	}
	out := tools.ReadDocumentOutput{
		DocID: llm.AddedDocument, Filename: "the given text", Title: "The given text", Page: 1, Pages: 1,
	}
	for _, p := range paragraphs {
		out.Passages = append(out.Passages, tools.ShownPassage{Text: p})
	}
	result, err := toolMessage(m.nonce, llm.AddedDocument, out)
	if err != nil {
		return err
	}
	call := llm.Call{
		ID: llm.AddedDocument, Name: "read_document",
		Arguments: json.RawMessage(`{"doc_id":"` + llm.AddedDocument + `"}`),
	}
	m.messages.list = append(m.messages.list, llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{call}}, result)
	return nil
}
