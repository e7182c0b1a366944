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

// CheckRequest validates a request, with a user-facing error, and resolves its tools. It is the one check that
// depends on settings; chat.RunRequest.Validate needs none. The returned request is the one to store: trimmed, with
// its route's toolset, and with thorough expanded to its two settings. It does no I/O: Runs.Start checks that
// documents exist.
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
	req.Thorough = false // replaced by the settings in the config
	if t := req.Config.Temperature; err == nil && t != nil && *t > set.MaxTemperature {
		err = chat.Invalid("temperature must be from 0 to {1} with the toolset {2}.", set.MaxTemperature, set.Name)
	}
	if k := req.Config.RetrievalTopK; err == nil && k != nil && set.MaxTopK() > 0 && *k > set.MaxTopK() {
		err = chat.Invalid("retrieval_top_k must be from 1 to {1} with the toolset {2}.", set.MaxTopK(), set.Name)
	}
	return req, set, err
}

// withThoroughDefaults enables query decomposition and self-evaluation unless the request sets them.
func withThoroughDefaults(c chat.RunConfig) chat.RunConfig {
	on := true
	for _, setting := range []**bool{&c.EnableQueryDecomposition, &c.EnableSelfEvaluation} {
		if *setting == nil {
			*setting = &on
		}
	}
	return c
}

// WithToolset sets the toolset of a request without one, and the tools of the settings if it names none.
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

// ToolsOf resolves the tools of a request. Without enabled tools, those of the settings apply to the default
// toolset, and to any other that has them all. It excludes tools of MCP servers, which are added when the run begins
// (Registry.WithMCPTools).
func (e *Engine) ToolsOf(req chat.RunRequest) (tools.Set, error) {
	set, why := e.Registry.Toolset(cmp.Or(req.Toolset, e.config().Toolset))
	if why == "" {
		names := req.Config.EnabledTools
		missing := func(name string) bool { return set.Find(name) == nil }
		if usual := e.config().Tools; len(names) == 0 &&
			(set.Name == e.config().Toolset || !slices.ContainsFunc(usual, missing)) {
			names = usual
		}
		set, why = e.Registry.Pick(set, names)
	}
	if why != "" {
		return tools.Set{}, chat.Invalid("{1}", why)
	}
	return set, nil
}

// budgetOf returns the limits of a run: the request's, else the server's settings, else the toolset's defaults. A
// request may raise steps and retrieval calls above the settings, but not time and tokens.
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

// isOn reports whether a request enabled an option that is off by default.
func isOn(b *bool) bool { return b != nil && *b }

// maxDecisions is the size of the cache of decisions, over all users. It bounds memory (a decision is a question and
// a few calls); no measurement of it is recorded.
const maxDecisions = 1000

// decision is a model's first choice of tools for a question that was then answered. Decisions are cached in memory
// only, for all users of this process, each under a key that contains its user.
type decision struct {
	question string
	calls    []llm.Call
}

// decisionKey returns the cache key of questions that the same tools answer: their intent (question.IntentOf) and
// the scope of the search. It is empty for a question that refers to earlier ones, and for a new version of an
// answer. The criteria for similar questions are in docs/decisions/agent.md.
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

// recallDecision returns the cached calls that answered a similar question. For the same question they are
// unchanged; for another, the tools search for the new question's words. ok is false if a tool had an argument that
// can't be derived from the question.
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
			continue // several searches for one question were for its parts
		}
		call, ok := w.calls.programCall(c.Name, own, len(calls))
		if !ok {
			return nil, false
		}
		calls = append(calls, call)
	}
	return calls, true
}

// rememberDecision caches the model's first choice in a run that ended with an answer from documents. Choices by
// rules or from the cache are not cached, since a choice would confirm itself.
func (w *Runner) rememberDecision(a chat.Answer) {
	if w.chosenBy != "" || len(a.Citations) == 0 || a.StopReason != chat.StopAnswered ||
		!w.isEnabled(featureDecisions) {
		return
	}
	if key := w.decisionKey(); key != "" && len(w.firstCalls) > 0 {
		w.engine.decisions.Add(key, decision{w.run.Request.Message, slices.Clone(w.firstCalls)})
	}
}
