package run

import (
	"maps"
	"slices"
	"strings"

	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

// offlineName is the name of the model made of rules. It needs no advice: what it says is what it can.
const offlineName = "offline"

// Price is what a million tokens cost.
type Price struct{ In, Out float64 }

// allowedModels returns those that a request may name, each name once: the usual one, the allowed ones, and the one
// that takes over from them. The fallback is among them, so that a user can ask for the offline model by its name.
func (e *Engine) allowedModels() []llm.Model {
	all := append([]llm.Model{e.cfg.Model}, e.cfg.Models...)
	if e.cfg.Fallback != nil {
		all = append(all, e.cfg.Fallback)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(m llm.Model) bool {
		known := seen[m.Name()]
		seen[m.Name()] = true
		return known
	})
}

// ModelNames returns the names of the models that a request may name, the usual one first.
func (e *Engine) ModelNames() []string {
	names := []string{}
	for _, m := range e.allowedModels() {
		names = append(names, m.Name())
	}
	return names
}

// ToolsetNames returns the names of the toolsets, the usual one first.
func (e *Engine) ToolsetNames() []string {
	names := []string{e.cfg.Toolset}
	for _, name := range slices.Sorted(maps.Keys(e.Registry.Toolsets)) {
		if name != e.cfg.Toolset {
			names = append(names, name)
		}
	}
	return names
}

// modelOf finds the model that a request names, the usual one if it names none. It fails with CodeInvalid for one
// that is not allowed.
func (e *Engine) modelOf(c chat.RunConfig) (llm.Model, error) {
	if c.Model == "" || c.Model == e.cfg.Model.Name() {
		return e.cfg.Model, nil
	}
	for _, m := range e.allowedModels() {
		if m.Name() == c.Model {
			return m, nil
		}
	}
	return nil, chat.Invalid(
		"The model “%s” is not allowed here. Allowed: %s.", text.Shorten(c.Model, 60),
		strings.Join(e.ModelNames(), ", "),
	)
}

// usesPipeline reports whether a model is below the least that may choose tools by itself. The order is that of the
// allowed models.
func (e *Engine) usesPipeline(m llm.Model) bool {
	if e.cfg.LeastModel == "" || m.Name() == e.cfg.LeastModel || m.Name() == offlineName {
		return false
	}
	for _, allowed := range e.cfg.Models {
		switch allowed.Name() {
		case e.cfg.LeastModel:
			return false
		case m.Name():
			return true
		}
	}
	return false
}
