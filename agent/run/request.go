package run

import (
	"cmp"
	"strings"

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
