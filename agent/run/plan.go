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
	"github.com/footnote/footnote/text/locale"
)

// plan holds a question's parts and their states; without parts the question is answered as a whole. Its step is
// stored again after each change; the step's output is {"sub_queries": [{query, reasoning, depends_on, status}]}.
// Only the run's goroutine accesses it.
type plan struct {
	step  chat.Step
	parts []chat.PlanPart
	calls map[string]int // index of the part that a call searches for, by call id
}

// hasParts reports whether the question was split.
func (p *plan) hasParts() bool { return len(p.parts) > 0 }

// readyParts returns the pending parts whose prerequisites are over.
func (p *plan) readyParts() []int {
	var out []int
	for i, part := range p.parts {
		if part.Status == chat.StatusPending &&
			!slices.ContainsFunc(part.DependsOn, func(on int) bool { return !isOver(p.parts[on].Status) }) {
			out = append(out, i)
		}
	}
	return out
}

// isOver reports whether a step or a part has ended, with any status.
func isOver(s chat.Status) bool { return s != chat.StatusPending && s != chat.StatusRunning }

// searchQuery returns the search query for a part. A part that depends on the context of others adds their keywords,
// up to six strings in total, since each further word dilutes a keyword search. The result has at most 1,000
// characters, the limit in the search tools' schemas.
func (p *plan) searchQuery(i int) string {
	part := p.parts[i]
	words := []string{part.Query}
	if question.NeedsContext(part.Query) {
		own := question.Keywords(part.Query)
		for _, on := range part.DependsOn {
			for _, word := range question.Keywords(p.parts[on].Query) {
				if !slices.Contains(own, word) && len(words) < 6 {
					words = append(words, word)
				}
			}
		}
	}
	return text.Shorten(strings.Join(words, " "), 1000)
}

// updateState sets the status of the part that a call searches for, and appends the plan's new state to queue. A
// complete part stays complete, even if another search for it fails.
func (p *plan) updateState(queue []chat.Payload, a *toolCall, status chat.Status) ([]chat.Payload, error) {
	if !p.hasParts() || a.tool == nil || !a.tool.Retrieval {
		return queue, nil
	}
	i := p.partOf(a)
	if i < 0 || p.parts[i].Status == status || p.parts[i].Status == chat.StatusComplete {
		return queue, nil
	}
	p.parts[i].Status = status
	state, err := p.stateStep()
	return append(queue, state), err
}

// partOf returns the index of the part that a call searches for, -1 if there is none. The plan's own calls are
// registered by id. Any other is matched to the part that shares most content words with its query, more than half
// of the part's. The match is cached, because it is needed at the call's beginning and end.
func (p *plan) partOf(a *toolCall) int {
	if i, ok := p.calls[a.call.ID]; ok {
		return i
	}
	var in struct {
		Query string `json:"query"`
	}
	if json.Unmarshal(a.args, &in) != nil || in.Query == "" {
		return -1
	}
	searched := question.Keywords(in.Query)
	best, most := -1, 0.5
	for i, part := range p.parts {
		wanted := question.Keywords(part.Query)
		shared := 0
		for _, word := range wanted {
			if slices.Contains(searched, word) {
				shared++
			}
		}
		if alike := float64(shared) / float64(max(1, len(wanted))); alike > most {
			best, most = i, alike
		}
	}
	if best >= 0 {
		p.calls[a.call.ID] = best
	}
	return best
}

// stateStep returns the plan's step with its current state. It keeps the call id, so that the page replaces the
// step.
func (p *plan) stateStep() (chat.Step, error) {
	done := 0
	for _, part := range p.parts {
		if part.Status == chat.StatusComplete {
			done++
		}
	}
	shown := map[string]any{"sub_queries": p.parts}
	if note, ok := p.step.Details["note"]; ok {
		shown["note"] = note // the page shows it
	}
	out, err := tools.Encode(shown)
	if err != nil {
		return chat.Step{}, fmt.Errorf("encode plan: %w", err)
	}
	step := p.step
	step.Timestamp, step.ToolOutput, step.OutputSize = nowSeconds(), out, len(out)
	step.Result = &chat.StepResult{Parts: slices.Clone(p.parts)}
	if note, ok := p.step.Details["note"].(string); ok {
		step.Result.Notes = []string{note}
	}
	step.Summary = step.Forms.Say(locale.Say("{1} of {2} done", done, locale.Count(len(p.parts), "part")))
	return step, nil
}

// promptText returns the plan's description for the prompt.
func (p *plan) promptText(searched bool) string {
	var b strings.Builder
	b.WriteString("\nThe question has these parts:\n")
	for _, part := range p.parts {
		b.WriteString("- " + part.Query + "\n")
	}
	if searched {
		b.WriteString(
			"Each was searched for already: the results follow the question. Search on where they do not suffice. " +
				"Answer every part.",
		)
	} else {
		b.WriteString("Search for each, for independent ones in one turn. Answer every part.")
	}
	return b.String()
}

// readPlan parses a model's plan: a list of parts, or an object that holds one. partsIn parses the several forms
// that models write, and checkParts validates them. For an unusable plan it returns the undivided question, and the
// reason as a user-facing note for the plan's step.
func readPlan(said, asked string) (parts []chat.PlanPart, why locale.Message) {
	parts, why = partsIn(said)
	if why == "" {
		why = checkParts(parts)
	}
	if why != "" {
		return question.Undivided(asked), why
	}
	return parts, ""
}

// partsIn parses the list in a reply, ignoring the text around it. It accepts a list of objects, a list of strings,
// an object with such a list, and a single part as an object.
func partsIn(said string) (parts []chat.PlanPart, why locale.Message) {
	const malformed = "The model's plan was no list of sub-queries: the question is searched for as it is."
	// prose and code fences may precede the list
	at := strings.IndexAny(said, "[{")
	if at < 0 {
		return nil, malformed
	}
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(said[at:])).Decode(&raw) != nil {
		return nil, malformed
	}
	if raw[0] == '{' {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return nil, malformed
		}
		list := json.RawMessage("[" + string(raw) + "]") // a single part
		for _, name := range []string{"sub_queries", "queries", "sub_questions"} {
			if inner, ok := object[name]; ok {
				list = inner
				break
			}
		}
		raw = list
	}
	var plain []string
	if json.Unmarshal(raw, &plain) == nil {
		for _, q := range plain {
			parts = append(parts, chat.PlanPart{Query: q})
		}
	} else if json.Unmarshal(raw, &parts) != nil {
		return nil, malformed
	}
	for i := range parts {
		parts[i].Query, parts[i].Reasoning = text.Shorten(parts[i].Query, 1000), text.Shorten(parts[i].Reasoning, 300)
		parts[i].Status = chat.StatusPending
		if parts[i].DependsOn == nil {
			parts[i].DependsOn = []int{}
		}
	}
	return parts, ""
}

// checkParts validates a list of parts, and returns the reason why it is unusable, or an empty string. It accepts at
// most twice question.MaxParts; every dependency must exist, and there must be no cycle.
func checkParts(parts []chat.PlanPart) locale.Message {
	if len(parts) == 0 || len(parts) > 2*question.MaxParts {
		return locale.Say(
			"The model's plan has {1}. Searching for the original question.", locale.Count(len(parts), "part"),
		)
	}
	for _, part := range parts {
		if part.Query == "" {
			return "The model's plan has an empty part: the question is searched for as it is."
		}
		for _, on := range part.DependsOn {
			if on < 0 || on >= len(parts) {
				return "The model's plan builds on a part that is not there: the question is searched for as it is."
			}
		}
	}
	// each round takes the parts without open dependencies; a round that takes none has found a cycle
	for done, ready := map[int]bool{}, true; len(done) < len(parts); {
		if !ready {
			return "The model's plan goes in a circle: the question is searched for as it is."
		}
		ready = false
		for i, part := range parts {
			free := !done[i]
			for _, on := range part.DependsOn {
				free = free && done[on]
			}
			if free {
				done[i], ready = true, true
			}
		}
	}
	return ""
}

//go:embed plan.md
var planDoc string

// makePlan splits the question, if the request asks for it, or if rules classify it as complex and find its parts.
// It calls the model if the request asks for a plan, and in a reflective toolset for questions that are not simple.
// If the model fails, the parts by rules are the fallback. Otherwise rules split the question, which costs no call.
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
	parts, by, note := question.Split(w.run.Request.Message, w.asked), "rules", locale.Message("")
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
		step.Details["note"] = step.Forms.Say(note)
	}
	step.DurationMS = sinceMS(begun)
	if spent != nil {
		step.Tokens, step.Cost = &spent.Tokens, spent.Cost
	}
	w.plan = plan{step: step, parts: parts, calls: map[string]int{}}
	// a single part is the question, which the prompt contains
	if len(parts) > 1 || w.searchesParts() {
		w.messages.list[0].Text += w.plan.promptText(w.searchesParts())
	}
	state, err := w.plan.stateStep()
	if err != nil {
		return err
	}
	return w.log.emitEvents(ctx, state)
}

// planPrompt returns the prompt for a plan. It includes the conversation, since a part may refer to it, as “the
// second one”.
func planPrompt(asked string, conversation []llm.Message) []llm.Message {
	system := strings.ReplaceAll(planDoc, "{{parts}}", strconv.Itoa(question.MaxParts))
	messages := append([]llm.Message{{Role: llm.RoleSystem, Text: system}}, conversation...)
	return append(messages, llm.Message{Role: llm.RoleUser, Text: text.Visible(asked)})
}

// modelPlans reports whether the model splits the question.
func (w *Runner) modelPlans() bool {
	wanted := w.run.Request.Config.EnableQueryDecomposition
	return !w.model.isRuleBased() && (isOn(wanted) ||
		wanted == nil && w.set.Reflective && w.asked.Complexity != "" && w.asked.Complexity != "simple")
}

// searchesParts reports whether the parts are searched before the model's first turn. Otherwise they are only in its
// prompt. If the model found only one part, the first tools are chosen as without a plan.
func (w *Runner) searchesParts() bool {
	if w.plan.hasParts() && len(w.plan.parts) < 2 && w.plan.step.Details["planned_by"] == "model" &&
		w.plan.step.Details["note"] == nil {
		return false
	}
	return w.model.isRuleBased() || w.modelPlans() || isOn(w.run.Request.Config.EnableQueryDecomposition) ||
		w.model.toolSelection() == tools.SelectRules
}

// searchParts searches for the plan's parts: independent ones in parallel, then those that depend on them. A failed
// search is left to the model. The budget limits the searches. Each round makes further parts ready, so the loop
// ends.
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

// endPlan completes the plan: a part is complete if it was searched for or the answer covers it, else skipped. It
// belongs to the run's last events, so that a plan never ends before its answer.
func (w *Runner) endPlan(answer string) ([]chat.Payload, error) {
	changed := false
	for i := range w.plan.parts {
		part := &w.plan.parts[i]
		was := part.Status
		switch {
		case was == chat.StatusComplete:
		case w.coversPart(answer, part.Query):
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

// resumePlan restores a plan from its last state. Parts with an interrupted search are pending again. The log does
// not record which call was for which part, so repeated calls are matched by their words.
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
