package run

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

//go:embed plan.md
var planDoc string

// makePlan takes the question apart, when the request wants that, or when rules find that it is complex and see its
// parts. It spends a call of the model on it when the request wants it, and in a reflective toolset on questions that
// are not simple. A failure of the model is not one of the run: the parts are then those that rules see. Elsewhere
// rules take it apart, which costs no call.
func (w *Runner) makePlan(ctx context.Context) error {
	wanted := w.run.Request.Config.EnableQueryDecomposition
	switch {
	case w.givenText(), wanted != nil && !*wanted, wanted == nil && w.model.isSmall(),
		!w.asked.NeedsDocuments(), w.asked.Undecided,
		w.set.SearchTool() == nil, !w.isEnabled(featurePlan):
		return nil
	case wanted == nil && w.asked.Complexity != "complex" && !w.modelPlans():
		return nil
	}
	begun := time.Now()
	parts, by, note := question.Split(w.run.Request.Message, w.asked), "rules", ""
	var spent *chat.Spent
	if w.modelPlans() {
		said, used, err := w.model.completeOnce(ctx, planPrompt(w.run.Request.Message, w.conversation.messages))
		if cause := w.stopCause(ctx); cause != nil {
			return cause
		}
		spent = &used
		switch made, why := readPlan(said, w.run.Request.Message); {
		case err != nil:
			w.cfg.Log.ErrorContext(ctx, "model made no plan", "run", w.run.ID, "error", err)
			note = "The model did not answer: the parts are those that rules see."
		default:
			parts, by, note = made, "model", why
		}
	}
	if spent == nil && wanted == nil && len(parts) < 2 {
		return nil
	}
	step := w.log.newStep("plan", chat.ActionPlanning, chat.StatusComplete, "Planned the answer")
	step.Details["planned_by"] = by
	if note != "" {
		step.Details["note"] = note
	}
	step.DurationMS = sinceMS(begun)
	if spent != nil {
		step.Tokens, step.Cost = &spent.Tokens, spent.Cost
	}
	w.plan = plan{step: step, parts: parts, calls: map[string]int{}}
	// one part is the question, of which the model knows
	if len(parts) > 1 || w.searchesParts() {
		w.messages.list[0].Text += w.plan.promptText(w.searchesParts())
	}
	state, err := w.plan.stateStep()
	if err != nil {
		return err
	}
	return w.log.emitEvents(ctx, state)
}

// planPrompt asks a model to take the question apart. The conversation goes along, since a part may be meant by “the
// second one”.
func planPrompt(asked string, conversation []llm.Message) []llm.Message {
	system := strings.ReplaceAll(planDoc, "{{parts}}", strconv.Itoa(question.MaxParts))
	messages := append([]llm.Message{{Role: llm.RoleSystem, Text: system}}, conversation...)
	return append(messages, llm.Message{Role: llm.RoleUser, Text: text.Visible(asked)})
}

// modelPlans reports whether the model takes the question apart.
func (w *Runner) modelPlans() bool {
	wanted := w.run.Request.Config.EnableQueryDecomposition
	return !w.model.isRuleBased() && (isOn(wanted) ||
		wanted == nil && w.set.Reflective && w.asked.Complexity != "" && w.asked.Complexity != "simple")
}

// searchesParts reports whether the parts are searched before the model's first turn. Otherwise the model is told of
// them. If the model finds only one part in a question, the first tools are chosen as without a plan.
func (w *Runner) searchesParts() bool {
	if w.plan.hasParts() && len(w.plan.parts) < 2 && w.plan.step.Details["planned_by"] == "model" &&
		w.plan.step.Details["note"] == nil {
		return false
	}
	return w.model.isRuleBased() || w.modelPlans() || isOn(w.run.Request.Config.EnableQueryDecomposition) ||
		w.model.toolSelection() == tools.SelectRules
}

// searchParts searches for the parts: those that wait for no other at the same time, then those that waited for them. A
// part that could not be searched for is left to the model. As many searches run as the budget has left; each round
// makes further parts ready, so it ends.
func (w *Runner) searchParts(ctx context.Context) error {
	if !w.plan.hasParts() || !w.searchesParts() {
		return nil
	}
	tool := w.set.SearchTool()
	for {
		w.budget.checkLimits()
		room := w.budget.limits.RetrievalCalls - w.budget.retrievals
		ready := w.plan.readyParts()
		if len(ready) == 0 || room <= 0 || w.budget.stop != "" {
			return nil
		}
		r := reply{finish: llm.FinishCalls, byProgram: true}
		var queries []string
		for _, i := range ready[:min(len(ready), room)] {
			query := w.plan.searchQuery(i)
			args, err := json.Marshal(map[string]string{"query": query})
			if err != nil {
				return fmt.Errorf("encode query: %w", err)
			}
			id := fmt.Sprintf("plan_%d", i)
			w.plan.calls[id] = i
			r.calls = append(r.calls, llm.Call{ID: id, Name: tool.Name, Arguments: args})
			queries = append(queries, w.plan.parts[i].Query)
		}
		r.text = "By the plan: " + strings.Join(queries, "; ")
		if err := w.calls.runCalls(ctx, r); err != nil {
			return err
		}
	}
}

// endPlan closes the plan: a part is complete when it was searched for or when the answer speaks of it, whatever it was
// found with, and was left out otherwise. It is part of the run's last events, so that a plan never ends before its
// answer.
func (w *Runner) endPlan(answer string) ([]chat.Payload, error) {
	changed := false
	for i := range w.plan.parts {
		part := &w.plan.parts[i]
		was := part.Status
		switch {
		case was == chat.StatusComplete:
		case w.speaksOf(answer, part.Query):
			part.Status = chat.StatusComplete
		case !isOver(was):
			part.Status = chat.StatusSkipped
		}
		changed = changed || part.Status != was
	}
	if !changed {
		return nil, nil
	}
	state, err := w.plan.stateStep()
	return []chat.Payload{state}, err
}

// resumePlan takes a plan up again from its last state. Parts whose search was cut off are searched for again. The
// steps of the log do not say which call was for which part, so calls that are made again are matched by their words.
func (w *Runner) resumePlan(s *chat.Step) {
	if s == nil || s.Result == nil || len(s.Result.Parts) == 0 {
		return
	}
	parts := slices.Clone(s.Result.Parts)
	for i := range parts {
		if parts[i].Status == chat.StatusRunning {
			parts[i].Status = chat.StatusPending
		}
	}
	w.plan = plan{step: *s, parts: parts, calls: map[string]int{}}
	w.messages.list[0].Text += w.plan.promptText(w.searchesParts())
}
