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

	"footnote/agent/question"
	"footnote/agent/tools"
	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

//go:embed plan.md
var planDoc string

// planner takes a question apart and searches for its parts.
type planner struct {
	*task
	log      *eventLog
	budget   *budget
	messages *messages
	found    *findings
	model    *modelCaller
	plan     *plan
	calls    *toolCaller
}

// makePlan takes the question apart, when the request wants that, or when rules find that it is complex and see its
// parts. It spends a call of the model on it when the request wants it, and in a reflective toolset on questions that
// are not simple. A failure of the model is not one of the run: the parts are then those that rules see.
func (p *planner) makePlan(ctx context.Context) error {
	wanted := p.run.Request.Config.EnableQueryDecomposition
	switch {
	case p.givenText(), wanted != nil && !*wanted, wanted == nil && p.model.isSmall(), !p.asked.NeedsDocuments(),
		p.set.SearchTool() == nil, !p.isEnabled(featurePlan):
		return nil
	case wanted == nil && p.asked.Complexity != "complex" && !p.modelPlans():
		return nil
	}
	begun := time.Now()
	parts, by, note := question.Split(p.run.Request.Message, p.asked), "rules", ""
	var spent *chat.Spent
	if p.modelPlans() {
		said, used, err := p.model.completeOnce(ctx, planPrompt(p.run.Request.Message, p.conversation.messages))
		if cause := p.stopCause(ctx); cause != nil {
			return cause
		}
		spent = &used
		switch made, why := readPlan(said, p.run.Request.Message); {
		case err != nil:
			p.cfg.Log.WarnContext(ctx, "model made no plan", "run", p.run.ID, "error", err)
			note = "The model did not answer: the parts are those that rules see."
		default:
			parts, by, note = made, "model", why
		}
	}
	if spent == nil && wanted == nil && len(parts) < 2 {
		return nil
	}
	step := p.log.newStep("plan", chat.ActionPlanning, chat.StatusComplete, "Planned the answer")
	step.Details["planned_by"] = by
	if note != "" {
		step.Details["note"] = note
	}
	step.DurationMS = sinceMS(begun)
	if spent != nil {
		step.Tokens, step.Cost = &spent.Tokens, spent.Cost
	}
	*p.plan = plan{step: step, parts: parts, calls: map[string]int{}}
	if len(parts) > 1 || p.searchesParts() {
		p.messages.list[0].Text += p.plan.promptText(p.searchesParts())
	}
	state, err := p.plan.stateStep()
	if err != nil {
		return err
	}
	return p.log.emitEvents(ctx, state)
}

// planPrompt asks a model to take the question apart.
func planPrompt(asked string, conversation []llm.Message) []llm.Message {
	system := strings.ReplaceAll(planDoc, "{{parts}}", strconv.Itoa(question.MaxParts))
	messages := append([]llm.Message{{Role: llm.RoleSystem, Text: system}}, conversation...)
	return append(messages, llm.Message{Role: llm.RoleUser, Text: text.Visible(asked)})
}

// modelPlans reports whether the model takes the question apart.
func (p *planner) modelPlans() bool {
	wanted := p.run.Request.Config.EnableQueryDecomposition
	return !p.model.isRuleBased() && (isOn(wanted) ||
		wanted == nil && p.set.Reflective && p.asked.Complexity != "" && p.asked.Complexity != "simple")
}

// searchesParts reports whether the parts are searched before the model's first turn. Otherwise the model is told of
// them. If the model finds only one part in a question, the first tools are chosen as without a plan.
func (p *planner) searchesParts() bool {
	if p.plan.hasParts() && len(p.plan.parts) < 2 && p.plan.step.Details["planned_by"] == "model" &&
		p.plan.step.Details["note"] == nil {
		return false
	}
	return p.model.isRuleBased() || p.modelPlans() || isOn(p.run.Request.Config.EnableQueryDecomposition) ||
		p.model.toolSelection() == tools.SelectRules
}

// searchParts searches for the parts: those that wait for no other at the same time, then those that waited for them. A
// part that could not be searched for is left to the model. As many searches run as the budget has left; each round
// makes further parts ready, so it ends.
func (p *planner) searchParts(ctx context.Context) error {
	if !p.plan.hasParts() || !p.searchesParts() {
		return nil
	}
	tool := p.set.SearchTool()
	for {
		p.budget.checkLimits()
		room := p.budget.limits.RetrievalCalls - p.budget.retrievals
		ready := p.plan.readyParts()
		if len(ready) == 0 || room <= 0 || p.budget.stop != "" {
			return nil
		}
		r := reply{finish: llm.FinishCalls, byProgram: true}
		var queries []string
		for _, i := range ready[:min(len(ready), room)] {
			query := p.plan.searchQuery(i)
			args, err := json.Marshal(map[string]string{"query": query})
			if err != nil {
				return fmt.Errorf("encode query: %w", err)
			}
			id := fmt.Sprintf("plan_%d", i)
			p.plan.calls[id] = i
			r.calls = append(r.calls, llm.Call{ID: id, Name: tool.Name, Arguments: args})
			queries = append(queries, p.plan.parts[i].Query)
		}
		r.text = "By the plan: " + strings.Join(queries, "; ")
		if err := p.calls.runCalls(ctx, r); err != nil {
			return err
		}
	}
}

// endPlan closes the plan: a part is complete when it was searched for or when the answer speaks of it, whatever it was
// found with, and was left out otherwise. It is part of the run's last events, so that a plan never ends before its
// answer.
func (p *planner) endPlan(answer string) ([]chat.Payload, error) {
	changed := false
	for i := range p.plan.parts {
		part := &p.plan.parts[i]
		was := part.Status
		switch {
		case was == chat.StatusComplete:
		case p.found.speaksOf(answer, part.Query):
			part.Status = chat.StatusComplete
		case !isOver(was):
			part.Status = chat.StatusSkipped
		}
		changed = changed || part.Status != was
	}
	if !changed {
		return nil, nil
	}
	state, err := p.plan.stateStep()
	return []chat.Payload{state}, err
}

// resumePlan takes a plan up again from its last state. Parts whose search was cut off are searched for again.
func (p *planner) resumePlan(s *chat.Step) {
	if s == nil || s.Result == nil || len(s.Result.Parts) == 0 {
		return
	}
	parts := slices.Clone(s.Result.Parts)
	for i := range parts {
		if parts[i].Status == chat.StatusRunning {
			parts[i].Status = chat.StatusPending
		}
	}
	*p.plan = plan{step: *s, parts: parts, calls: map[string]int{}}
	p.messages.list[0].Text += p.plan.promptText(p.searchesParts())
}
