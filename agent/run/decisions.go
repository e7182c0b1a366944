package run

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/chat"
)

// maxDecisions is how many choices of tools are remembered, of all users. It bounds memory (a choice is a question and
// a few calls); no measurement of it is recorded.
const maxDecisions = 1000

// decision is what a model chose first for a question that was then answered. Decisions are kept in memory only, of all
// users of this process, each under a key that holds its user.
type decision struct {
	question string
	calls    []llm.Call
}

// decisionKey identifies questions that the same tools answer: by what they ask for (question.IntentOf) and where the
// run searches. It is empty for a question that refers to earlier ones, and for one that is asked again because its
// answer did not please. What makes two questions alike: docs/decisions/agent.md.
func (k *knowledge) decisionKey() string {
	req := k.run.Request
	if k.asked.Type == question.FollowUp || !k.asked.NeedsDocuments() || req.Sibling != "" || len(req.History) > 0 {
		return ""
	}
	key := question.IntentOf(req.Message).Key()
	if key == "" {
		return ""
	}
	return strings.Join([]string{
		k.run.User, k.set.Name, strings.Join(k.set.Names(), " "), strings.Join(k.toolContext.Scope.Namespaces, "\x01"),
		strings.Join(k.toolContext.DocumentIDs, "\x01"), key,
	}, "\x00")
}

// recallDecision returns the calls that led to an answer for a similar question. Those for the same question are made
// as they were; for another one the tools stay and search for its own words. ok is false when a tool was given
// anything that can't be taken from the question.
func (w *Runner) recallDecision() (calls []llm.Call, ok bool) {
	d, ok := w.engine.decisions.Get(w.decisionKey())
	if !ok {
		return nil, false
	}
	if strings.EqualFold(
		strings.Join(strings.Fields(d.question), " "), strings.Join(strings.Fields(w.run.Request.Message), " "),
	) {
		return slices.Clone(d.calls), true
	}
	for _, c := range d.calls {
		var args map[string]json.RawMessage
		if json.Unmarshal(c.Arguments, &args) != nil {
			return nil, false
		}
		own := map[string]any{}
		switch _, searches := args["query"]; {
		case searches:
			own["query"] = w.searchWords()
		case len(args) > 0:
			return nil, false
		}
		if slices.Contains(namesOf(calls), c.Name) {
			continue // several searches for one question were for parts of it
		}
		call, ok := w.calls.programCall(c.Name, own, len(calls))
		if !ok {
			return nil, false
		}
		calls = append(calls, call)
	}
	return calls, true
}

// rememberDecision remembers the model's first choice of a run that ended with an answer from documents. What rules or
// an earlier choice began is not remembered: a choice would confirm itself.
func (w *Runner) rememberDecision(a chat.Answer) {
	if w.chosenBy != "" || len(a.Citations) == 0 || a.StopReason != chat.StopAnswered ||
		!w.isEnabled(featureDecisions) {
		return
	}
	if key := w.decisionKey(); key != "" && len(w.firstCalls) > 0 {
		w.engine.decisions.Add(key, decision{w.run.Request.Message, slices.Clone(w.firstCalls)})
	}
}
