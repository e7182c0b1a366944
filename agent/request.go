package agent

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"footnote/agent/tools"
	"footnote/chat"
)

// Limits of a request.
const (
	maxQuestion  = 32_000  // runes
	maxContext   = 200_000 // runes
	maxDocuments = 1000
	maxSteps     = 50
	maxTools     = 50
)

// check refuses what can't be worked on, with a sentence for the user, and finds the request's tools.
func (e *engine) check(req chat.RunRequest) (chat.RunRequest, tools.Set, error) {
	req.Message = strings.TrimSpace(strings.ToValidUTF8(req.Message, "\ufffd"))
	switch {
	case req.Message == "":
		return req, tools.Set{}, chat.Invalid("Type a question first.")
	case utf8.RuneCountInString(req.Message) > maxQuestion:
		return req, tools.Set{}, chat.Invalid("The question is longer than 32,000 characters. Shorten it, or add the text as a document and ask about that.")
	case utf8.RuneCountInString(req.ContextText) > maxContext:
		return req, tools.Set{}, chat.Invalid("The given context is longer than 200,000 characters. Add it as a document instead and ask about that.")
	case utf8.RuneCountInString(req.AddedContext) > maxContext:
		return req, tools.Set{}, chat.Invalid("The context is longer than 200,000 characters. Add it as a document instead and ask about that.")
	case len(req.DocumentIDs) > maxDocuments:
		return req, tools.Set{}, chat.Invalid("A question can be narrowed to at most 1,000 documents. Leave document_ids out to search them all.")
	}
	if req.SessionID != "" {
		if err := chat.CheckSessionID(req.SessionID); err != nil {
			return req, tools.Set{}, err
		}
	}
	if err := checkConfig(req.Config); err != nil {
		return req, tools.Set{}, err
	}
	model, err := e.modelOf(req.Config)
	if err != nil {
		return req, tools.Set{}, err
	}
	if req.Thorough && e.cfg.Toolset == tools.DefaultToolset {
		req = e.fill(req, "react")
	}
	set, err := e.toolsOf(req)
	if (req.Thorough || set.Thorough) && model.Name() != offlineName {
		req.Config = thorough(req.Config)
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

// thorough switches query decomposition and self-evaluation on where the request says nothing of them.
func thorough(c chat.RunConfig) chat.RunConfig {
	on := true
	for _, setting := range []**bool{&c.EnableQueryDecomposition, &c.EnableSelfEvaluation} {
		if *setting == nil {
			*setting = &on
		}
	}
	return c
}

// fill gives a request that names no toolset the one of its route. Tools that the settings name hold there too.
func (e *engine) fill(req chat.RunRequest, toolset string) chat.RunRequest {
	if req.Toolset != "" {
		return req
	}
	req.Toolset = toolset
	if len(req.Config.EnabledTools) == 0 {
		req.Config.EnabledTools = e.cfg.Tools
	}
	return req
}

// toolsOf finds the tools that a request names.
func (e *engine) toolsOf(req chat.RunRequest) (tools.Set, error) {
	set, why := e.registry.Toolset(cmp.Or(req.Toolset, e.cfg.Toolset))
	if why == "" {
		names := req.Config.EnabledTools
		if len(names) == 0 && set.Name == e.cfg.Toolset {
			names = e.cfg.Tools
		}
		set, why = e.registry.Pick(set, names)
	}
	if why != "" {
		return tools.Set{}, chat.Invalid("%s", why)
	}
	return set, nil
}

func checkConfig(c chat.RunConfig) error {
	for _, limit := range []struct {
		name string
		set  *int
	}{{"max_steps", c.MaxSteps}, {"max_retrieval_calls", c.MaxRetrievalCalls}, {"retrieval_top_k", c.RetrievalTopK}} {
		if limit.set != nil && (*limit.set < 1 || *limit.set > maxSteps) {
			return chat.Invalid("%s must be from 1 to %d.", limit.name, maxSteps)
		}
	}
	if c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 2) {
		return chat.Invalid("temperature must be from 0 to 2.")
	}
	if err := tools.Selection(c.Selection).Check(); err != nil {
		return err
	}
	if len(c.EnabledTools) > maxTools {
		return chat.Invalid("enabled_tools names more than %d tools.", maxTools)
	}
	return nil
}

// budgetOf is what a run may use: what the request says, else the server's settings, else the toolset's defaults.
func (e *engine) budgetOf(set tools.Set, c chat.RunConfig) chat.Budget {
	b := chat.Budget{
		Steps:          cmp.Or(e.cfg.Budget.Steps, set.Budget.Steps),
		RetrievalCalls: cmp.Or(e.cfg.Budget.RetrievalCalls, set.Budget.RetrievalCalls),
		Seconds:        cmp.Or(e.cfg.Budget.Seconds, set.Budget.Seconds),
		Tokens:         cmp.Or(e.cfg.Budget.Tokens, set.Budget.Tokens),
	}
	if c.MaxSteps != nil {
		b.Steps = *c.MaxSteps
	}
	if c.MaxRetrievalCalls != nil {
		b.RetrievalCalls = *c.MaxRetrievalCalls
	}
	return b
}
