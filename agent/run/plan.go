package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"footnote/agent/ground"
	"footnote/agent/question"
	"footnote/agent/tools"
	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/text"
	"footnote/english"
	"footnote/llm"
)

// plan is a question's parts and how far each is. Its step is emitted again whenever that changes; the step's output is
// {"sub_queries": [{query, reasoning, depends_on, status}]}.
type plan struct {
	step  chat.Step
	parts []chat.PlanPart
	calls map[string]int // calls that search for a part, by id
}

// makePlan takes the question apart, when the request wants that, or when rules find that it is complex and see its
// parts. It spends a call of the model on it when the request wants it, and in a reflective toolset on questions that
// are not simple.
func (w *Runner) makePlan(ctx context.Context) error {
	wanted := w.run.Request.Config.EnableQueryDecomposition
	switch {
	case w.givenText(), wanted != nil && !*wanted, !w.asked.NeedsDocuments(), w.set.SearchTool() == nil,
		!w.enabled(featurePlan):
		return nil
	case wanted == nil && w.asked.Complexity != "complex" && !w.modelPlans():
		return nil
	}
	begun := time.Now()
	parts, by, note := question.Split(w.run.Request.Message, w.asked), "rules", ""
	var spent *chat.Tokens
	if w.modelPlans() {
		said, used, err := w.consult(ctx, planPrompt(w))
		if cause := w.stopCause(ctx); cause != nil {
			return cause
		}
		spent = &used
		switch made, why := readPlan(said, w.run.Request.Message); {
		case err != nil:
			w.cfg.Log.WarnContext(ctx, "model made no plan", "run", w.run.ID, "error", err)
			note = "The model did not answer: the parts are those that rules see."
		default:
			parts, by, note = made, "model", why
		}
	}
	if spent == nil && wanted == nil && len(parts) < 2 {
		return nil
	}
	step := w.newStep("plan", chat.ActionPlanning, chat.StatusComplete, "Planned the answer")
	step.Details["planned_by"] = by
	if note != "" {
		step.Details["note"] = note
	}
	step.DurationMS, step.Tokens = sinceMS(begun), spent
	w.plan = &plan{step: step, parts: parts, calls: map[string]int{}}
	if len(parts) > 1 || w.searchesParts() {
		w.history[0].Text += w.plan.told(w.searchesParts())
	}
	state, err := w.plan.state()
	if err != nil {
		return err
	}
	w.plan.step.Tokens = nil // told once
	return w.emit(ctx, state)
}

// modelPlans reports whether the model takes the question apart.
func (w *Runner) modelPlans() bool {
	wanted := w.run.Request.Config.EnableQueryDecomposition
	return !w.onFallback && (isOn(wanted) ||
		wanted == nil && w.set.Reflective && w.asked.Complexity != "" && w.asked.Complexity != "simple")
}

// searchesParts reports whether the parts are searched before the model's first turn. Otherwise the model is told of
// them. If the model finds only one part in a question, the first tools are chosen as without a plan.
func (w *Runner) searchesParts() bool {
	if w.plan != nil && len(w.plan.parts) < 2 && w.plan.step.Details["planned_by"] == "model" &&
		w.plan.step.Details["note"] == nil {
		return false
	}
	return w.onFallback || w.modelPlans() || isOn(w.run.Request.Config.EnableQueryDecomposition) ||
		w.selection() == tools.SelectRules
}

// searchParts searches for the parts: those that wait for no other at the same time, then those that waited for them.
// A part that could not be searched for is left to the model.
func (w *Runner) searchParts(ctx context.Context) error {
	if w.plan == nil || !w.searchesParts() {
		return nil
	}
	tool := w.set.SearchTool()
	for {
		w.checkBudgets()
		room := w.budget.RetrievalCalls - w.retrievals
		ready := w.plan.ready()
		if len(ready) == 0 || room <= 0 || w.stop != "" {
			return nil
		}
		r := reply{finish: llm.FinishCalls}
		var queries []string
		for _, i := range ready[:min(len(ready), room)] {
			query := w.plan.query(i)
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
		if err := w.runCalls(ctx, r); err != nil {
			return err
		}
	}
}

// ready are the parts that were not searched for yet and whose prerequisites were.
func (p *plan) ready() []int {
	var out []int
	for i, part := range p.parts {
		if part.Status == chat.StatusPending &&
			!slices.ContainsFunc(part.DependsOn, func(on int) bool { return !over(p.parts[on].Status) }) {
			out = append(out, i)
		}
	}
	return out
}

func over(s chat.Status) bool { return s != chat.StatusPending && s != chat.StatusRunning }

// query is what is searched for a part. One that leans on others borrows their words.
func (p *plan) query(i int) string {
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

// updatePlan notes that a call which searches for a part began or ended, and adds the plan's new state to what is
// emitted.
func (w *Runner) updatePlan(queue []chat.Payload, a *toolCall, status chat.Status) ([]chat.Payload, error) {
	if w.plan == nil || a.tool == nil || !a.tool.Retrieval {
		return queue, nil
	}
	i := w.plan.partOf(a)
	if i < 0 || w.plan.parts[i].Status == status || w.plan.parts[i].Status == chat.StatusComplete {
		return queue, nil
	}
	w.plan.parts[i].Status = status
	state, err := w.plan.state()
	return append(queue, state), err
}

// partOf finds the part that a call searches for, -1 if it searches for something else.
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

// state is the plan's step as things are.
func (p *plan) state() (chat.Step, error) {
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
	step.Timestamp, step.ToolOutput, step.OutputSize = stamp(), out, len(out)
	step.Result = &chat.StepResult{Parts: slices.Clone(p.parts)}
	if note, ok := p.step.Details["note"].(string); ok {
		step.Result.Notes = []string{note}
	}
	step.Summary = fmt.Sprintf("%d of %s done", done, english.Count(len(p.parts), "part"))
	return step, nil
}

// endPlan closes the plan: a part is complete when it was searched for or when the answer speaks of it, whatever it
// was found with, and was left out otherwise.
func (w *Runner) endPlan(answer string) ([]chat.Payload, error) {
	changed := false
	for i := range w.plan.parts {
		part := &w.plan.parts[i]
		was := part.Status
		switch {
		case was == chat.StatusComplete:
		case w.speaksOf(answer, part.Query):
			part.Status = chat.StatusComplete
		case !over(was):
			part.Status = chat.StatusSkipped
		}
		changed = changed || part.Status != was
	}
	if !changed {
		return nil, nil
	}
	state, err := w.plan.state()
	return []chat.Payload{state}, err
}

// speaksOf reports whether a sentence of the answer that its passages bear out holds, together with what its
// footnotes quote, more than half of the content words of a part.
func (w *Runner) speaksOf(answer, part string) bool {
	language := text.Detect(part)
	if language == "" {
		language = "en"
	}
	words := text.QueryWords(part, []string{language})
	return slices.ContainsFunc(w.evidence.ClaimsOf(answer), func(c ground.Claim) bool {
		if len(c.Numbers) == 0 || !w.evidence.IsPartlySupported(c) {
			return false
		}
		said := corpus.Result{Passage: corpus.Passage{Text: c.Text}}
		for _, n := range c.Numbers {
			if n >= 1 && n <= len(w.cite.Citations) {
				cited := w.cite.Citations[n-1]
				said.Passage.Text += "\n" + cited.Quote
				said.Passage.Section += " " + cited.Section
			}
		}
		return corpus.ShareOfWords(words, said) > 0.5
	})
}

// told is the plan for the model.
func (p *plan) told(searched bool) string {
	var b strings.Builder
	b.WriteString("\nThe question has these parts:\n")
	for _, part := range p.parts {
		b.WriteString("- " + part.Query + "\n")
	}
	if searched {
		b.WriteString(
			"Each was searched for already: the results follow the question. Search on where they do not suffice. Answer every part.",
		)
	} else {
		b.WriteString("Search for each, for independent ones in one turn. Answer every part.")
	}
	return b.String()
}

// resumePlan takes a plan up again from its last state. Parts whose search was cut off are searched for again.
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
	step := *s
	step.Tokens = nil
	w.plan = &plan{step: step, parts: parts, calls: map[string]int{}}
	w.history[0].Text += w.plan.told(w.searchesParts())
}
