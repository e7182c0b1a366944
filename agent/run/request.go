package run

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
)

// CheckRequest refuses what can't be worked on, with a sentence for the user, and finds the request's tools. It is the
// one check that needs settings; chat.RunRequest.Validate is the one that needs none. What it returns is what is
// stored: trimmed, with the toolset of the route, and thorough written out as its two settings. It does no I/O: whether
// documents exist is asked by Runs.Start.
func (e *Engine) CheckRequest(req chat.RunRequest) (chat.RunRequest, tools.Set, error) {
	req.Message = strings.TrimSpace(strings.ToValidUTF8(req.Message, "\ufffd"))
	if err := req.Validate(); err != nil {
		return req, tools.Set{}, err
	}
	if err := tools.Selection(req.Config.Selection).Check(); err != nil {
		return req, tools.Set{}, err
	}
	model, err := e.config().modelOf(req.Config)
	if err != nil {
		return req, tools.Set{}, err
	}
	if req.Thorough && e.config().Toolset == tools.DefaultToolset {
		req = e.WithToolset(req, "react")
	}
	set, err := e.ToolsOf(req)
	if (req.Thorough || set.Thorough) && model.Name() != offlineName {
		req.Config = withThoroughDefaults(req.Config)
	}
	req.Thorough = false // the config says it from here on
	if t := req.Config.Temperature; err == nil && t != nil && *t > set.MaxTemperature {
		err = chat.Invalid("temperature must be from 0 to %g with the toolset %s.", set.MaxTemperature, set.Name)
	}
	if k := req.Config.RetrievalTopK; err == nil && k != nil && set.MaxTopK() > 0 && *k > set.MaxTopK() {
		err = chat.Invalid("retrieval_top_k must be from 1 to %d with the toolset %s.", set.MaxTopK(), set.Name)
	}
	return req, set, err
}

// withThoroughDefaults switches query decomposition and self-evaluation on where the request says nothing of them.
func withThoroughDefaults(c chat.RunConfig) chat.RunConfig {
	on := true
	for _, setting := range []**bool{&c.EnableQueryDecomposition, &c.EnableSelfEvaluation} {
		if *setting == nil {
			*setting = &on
		}
	}
	return c
}

// WithToolset gives a request that names no toolset the one of its route. Tools that the settings name hold there too.
func (e *Engine) WithToolset(req chat.RunRequest, toolset string) chat.RunRequest {
	if req.Toolset != "" {
		return req
	}
	req.Toolset = toolset
	if len(req.Config.EnabledTools) == 0 {
		req.Config.EnabledTools = e.config().Tools
	}
	return req
}

// ToolsOf finds the tools that a request names. Those that the settings name hold in the place of the usual toolset,
// and of another that has them all. The tools of other servers are not among them: they join when the run begins
// (Registry.WithMCPTools).
func (e *Engine) ToolsOf(req chat.RunRequest) (tools.Set, error) {
	set, why := e.Registry.Toolset(cmp.Or(req.Toolset, e.config().Toolset))
	if why == "" {
		names := req.Config.EnabledTools
		if len(names) == 0 && (set.Name == e.config().Toolset || set.HasAll(e.config().Tools)) {
			names = e.config().Tools
		}
		set, why = e.Registry.Pick(set, names)
	}
	if why != "" {
		return tools.Set{}, chat.Invalid("%s", why)
	}
	return set, nil
}

// budgetOf is what a run may use: what the request says, else the server's settings, else the toolset's defaults. A
// request may raise steps and retrieval calls above the settings; time and tokens are the server's alone.
func (e *Engine) budgetOf(set tools.Set, c chat.RunConfig) chat.Budget {
	b := chat.Budget{
		Steps:          cmp.Or(e.config().Budget.Steps, set.Budget.Steps),
		RetrievalCalls: cmp.Or(e.config().Budget.RetrievalCalls, set.Budget.RetrievalCalls),
		Seconds:        cmp.Or(e.config().Budget.Seconds, set.Budget.Seconds),
		Tokens:         cmp.Or(e.config().Budget.Tokens, set.Budget.Tokens),
	}
	if c.MaxSteps != nil {
		b.Steps = *c.MaxSteps
	}
	if c.MaxRetrievalCalls != nil {
		b.RetrievalCalls = *c.MaxRetrievalCalls
	}
	return b
}

// isOn reports whether a request switched something on that is off by default.
func isOn(b *bool) bool { return b != nil && *b }

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
