package run

import (
	"encoding/json"
	"slices"
	"strings"

	"footnote/agent/question"
	"footnote/chat"
	"footnote/llm"
)

// maxDecisions is how many choices of tools are remembered.
const maxDecisions = 1000

// decision is what a model chose first for a question that was then answered. Decisions are kept in memory only, of all
// users of this process, each under a key that holds its user.
type decision struct {
	question string
	calls    []llm.Call
}

// decisionKey identifies questions that the same tools answer: by what they ask for (question.IntentOf) and where the
// run searches. It is empty for a question that refers to earlier ones, and for one that is asked again because its
// answer did not please.
func (t *task) decisionKey() string {
	req := t.run.Request
	if t.asked.Type == question.FollowUp || !t.asked.NeedsDocuments() || req.Sibling != "" || len(req.History) > 0 {
		return ""
	}
	key := question.IntentOf(req.Message).Key()
	if key == "" {
		return ""
	}
	return strings.Join([]string{
		t.run.User, t.set.Name, strings.Join(t.set.Names(), " "), strings.Join(t.toolContext.Scope.Namespaces, "\x01"),
		strings.Join(t.toolContext.DocumentIDs, "\x01"), key,
	}, "\x00")
}

// recallDecision returns the calls that led to an answer for a similar question. Those for the same question are made
// as they were; for another one the tools stay and search for its own words. ok is false when a tool was given
// anything that can't be taken from the question.
func (s *toolSelector) recallDecision() (calls []llm.Call, ok bool) {
	d, ok := s.engine.decisions.Get(s.decisionKey())
	if !ok {
		return nil, false
	}
	if strings.EqualFold(
		strings.Join(strings.Fields(d.question), " "), strings.Join(strings.Fields(s.run.Request.Message), " "),
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
			own["query"] = s.searchWords()
		case len(args) > 0:
			return nil, false
		}
		if slices.Contains(namesOf(calls), c.Name) {
			continue // several searches for one question were for parts of it
		}
		call, ok := s.calls.programCall(c.Name, own, len(calls))
		if !ok {
			return nil, false
		}
		calls = append(calls, call)
	}
	return calls, true
}

// rememberDecision remembers the model's first choice of a run that ended with an answer from documents. What rules or
// an earlier choice began is not remembered: a choice would confirm itself.
func (s *toolSelector) rememberDecision(a chat.Answer) {
	if s.chosenBy != "" || len(a.Citations) == 0 || a.StopReason != chat.StopAnswered ||
		!s.isEnabled(featureDecisions) {
		return
	}
	if key := s.decisionKey(); key != "" && len(s.first) > 0 {
		s.engine.decisions.Add(key, decision{s.run.Request.Message, slices.Clone(s.first)})
	}
}
