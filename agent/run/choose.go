package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"footnote/agent/question"
	"footnote/agent/tools"
	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

// With the selection auto rules choose in place of the model from this confidence on.
const sureEnough = 0.7

// choice is how a run begins without its model having been asked.
type choice struct {
	by         string // rules, cache, pipeline, model
	path       string // the short path that it takes; empty: none
	message    string // for people
	why        string
	confidence float64 // 0–1
	only       string  // the document that is searched within; empty: none
	opening    []llm.Call
	then       []llm.Call // made when the opening has ended
	read       bool       // the best of the documents found are read, unless what was found suffices
}

// preselectTools begins a run as rules, an earlier choice or the fixed pipeline have it. What was chosen, and why, is
// a step; then the model writes the answer. It does nothing when the model is to choose.
func (w *Runner) preselectTools(ctx context.Context) error {
	if w.givenText() || w.turns > 0 || w.retrievals > 0 && w.selection() != tools.SelectRules {
		return nil
	}
	begun := time.Now()
	c, ok, err := w.choose(ctx)
	if err != nil || !ok && c.by == "" {
		return err
	}
	step := w.newStep("choose", chat.ActionPlanning, chat.StatusComplete, c.message)
	step.Summary, step.DurationMS = c.why, sinceMS(begun)
	step.Details = map[string]any{
		"selection": w.selection(), "by": c.by, "why": c.why, "confidence": c.confidence,
		"tools": append(namesOf(c.opening), namesOf(c.then)...),
	}
	if c.path != "" {
		step.Details["path"] = c.path
	}
	if err := w.emit(ctx, step); err != nil || !ok {
		return err
	}
	w.preselected, w.direct = true, true
	return w.carryOut(ctx, c)
}

// carryOut makes the calls of a choice.
func (w *Runner) carryOut(ctx context.Context, c choice) error {
	if c.only != "" {
		all := w.toolContext.DocumentIDs
		w.toolContext.DocumentIDs = []string{c.only}
		defer func() { w.toolContext.DocumentIDs = all }()
	}
	// else the plan has searched
	if _, _, _, searches := w.toolContext.Sources.Readings(); searches == 0 && len(w.failed) == 0 {
		if err := w.makeCalls(ctx, c.opening, c.why); err != nil {
			return err
		}
		if err := w.refine(ctx); err != nil {
			return err
		}
	}
	if err := w.makeCalls(ctx, c.then, c.why); err != nil || !c.read {
		return err
	}
	if enough, err := w.stopEarly(ctx); enough || err != nil {
		return err
	}
	return w.readBest(ctx)
}

// makeCalls makes calls of the program's own, as far as the budget goes.
func (w *Runner) makeCalls(ctx context.Context, calls []llm.Call, why string) error {
	if len(calls) == 0 || !w.mayCall() {
		return nil
	}
	return w.runCalls(ctx, reply{finish: llm.FinishCalls, text: why, calls: calls})
}

// mayCall reports whether there is room for further calls of the program's own.
func (w *Runner) mayCall() bool {
	w.checkBudgets()
	return w.stop == "" && w.retrievals < w.budget.RetrievalCalls
}

// mostRead is how many of the documents found are read when rules choose.
const mostRead = 2

// readBest reads the best of the documents that were found.
func (w *Runner) readBest(ctx context.Context) error {
	var calls []llm.Call
	for _, id := range w.toolContext.Sources.Unread(min(mostRead, w.budget.RetrievalCalls-w.retrievals)) {
		if call, ok := w.reading(id, w.run.Request.Message, len(calls)); ok {
			calls = append(calls, call)
		}
	}
	return w.makeCalls(ctx, calls, "Reading the best of what was found.")
}

// choose decides who begins. ok is false when the model does; a choice with "by" says then why.
func (w *Runner) choose(ctx context.Context) (c choice, ok bool, err error) {
	if w.onFallback {
		if w.enabled(featurePaths) {
			c, ok = w.citedPath()
		}
		return c, ok, nil
	}
	selection := w.selection()
	if w.enabled(featurePaths) {
		if c, ok, err = w.shortPath(ctx); ok || err != nil {
			return c, ok, err
		}
	}
	if selection == tools.SelectModel {
		return choice{}, false, nil
	}
	if selection == tools.SelectAuto && w.enabled(featureDecisions) {
		if calls, ok := w.recallDecision(); ok {
			return choice{
				by: "cache", confidence: 0.9, opening: calls, read: true,
				message: "Chose as for a similar question before: " + strings.Join(namesOf(calls), ", "),
				why:     "The same was asked before with the same words in some form, and these tools led to an answer.",
			}, true, nil
		}
	}
	c, ok = w.byRules()
	if ok && selection == tools.SelectAuto && c.confidence < sureEnough {
		return choice{
			by: "model", confidence: c.confidence, message: "Left the choice to the model",
			why: fmt.Sprintf(
				"Rules would choose %s, and are not sure enough of it: %.2f, where %.2f is needed.",
				strings.Join(namesOf(c.opening), ", "), c.confidence, sureEnough,
			),
		}, false, nil
	}
	switch {
	case w.cfg.Thinking.Pipeline:
		c.by, c.why, c.message = "pipeline", "By the fixed pipeline: the agent is switched off.", "Following the fixed pipeline: search, read, answer"
	case w.engine.usesPipeline(w.model):
		c.by, c.why, c.message = "pipeline", "By the fixed pipeline: "+w.model.Name()+" does not choose tools.", "Following the fixed pipeline: search, read, answer"
	}
	return c, ok, nil
}

// byRules chooses tools by the kind of the question.
func (w *Runner) byRules() (choice, bool) {
	c := choice{by: "rules", confidence: 0.8}
	switch w.asked.Type {
	case question.General:
		return choice{}, false
	case question.Calculation:
		call, ok := w.call("calculate", map[string]any{"expression": question.Expression(w.run.Request.Message)}, 0)
		c.opening, c.confidence, c.why = []llm.Call{call}, 0.95, "It is a calculation."
		c.message = "Chose calculate by rules"
		return c, ok
	case question.Metadata:
		if listed, ok := w.byProperties(c); ok {
			return listed, true
		}
		if call, ok := w.call("list_documents", map[string]any{}, 0); ok {
			c.opening, c.confidence, c.why, c.message = []llm.Call{
				call,
			}, 0.6, "It asks about the documents themselves.", "Chose list_documents by rules"
			return c, true
		}
		c.confidence = 0.5
	case question.FollowUp, question.Exploratory, question.Comparison:
		c.confidence = 0.5
	}
	if w.asked.Complexity != "simple" {
		c.confidence = min(c.confidence, 0.5)
	}
	tool := w.set.SearchTool()
	if tool == nil {
		return choice{}, false
	}
	call, ok := w.call(tool.Name, map[string]any{"query": w.searchWords()}, 0)
	c.opening, c.read = []llm.Call{call}, w.reader() != nil
	c.message = "Chose " + tool.Name + " by rules"
	if c.why = "Search, read the best, answer."; w.asked.Complexity != "" {
		c.why = fmt.Sprintf(
			"A %s question of the kind “%s”: search, read the best, answer.", w.asked.Complexity,
			strings.ReplaceAll(string(w.asked.Type), "_", " "),
		)
	}
	return c, ok
}

// searchWords is the question as it is searched for; one that points back borrows the words of the question before it.
func (w *Runner) searchWords() string {
	words := w.run.Request.Message
	if w.asked.Type == question.FollowUp {
		for i := len(w.conversation.messages) - 1; i >= 0; i-- {
			if w.conversation.messages[i].Role == llm.RoleUser {
				words += " " + strings.Join(question.Keywords(w.conversation.messages[i].Text), " ")
				break
			}
		}
	}
	return text.Shorten(words, 1000)
}

// reader is the tool of the set that reads a document; nil if it has none.
func (w *Runner) reader() *tools.Tool {
	for _, name := range w.set.Available([]string{"read_document"}) {
		return w.set.Find(name)
	}
	return nil
}

func (w *Runner) reading(id, focus string, place int) (llm.Call, bool) {
	t := w.reader()
	if t == nil {
		return llm.Call{}, false
	}
	return w.call(t.Name, map[string]any{"doc_id": id, "focus_query": text.Shorten(focus, 1000)}, place)
}

// call makes a call of the program's own. ok is false when the run has no such tool.
func (w *Runner) call(name string, args map[string]any, place int) (llm.Call, bool) {
	if w.set.Find(name) == nil {
		return llm.Call{}, false
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return llm.Call{}, false
	}
	return llm.Call{ID: fmt.Sprintf("rule_%d_%d", len(w.history), place), Name: name, Arguments: raw}, true
}

func namesOf(calls []llm.Call) []string {
	out := []string{}
	for _, c := range calls {
		out = append(out, c.Name)
	}
	return out
}
