package run

import (
	"maps"
	"slices"

	"footnote/llm"
)

// models returns those that a request may name, each name once: the usual one, the allowed ones, and the one that
// takes over from them.
func (e *Engine) models() []llm.Model {
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
	for _, m := range e.models() {
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
