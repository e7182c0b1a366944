package agent

import (
	"maps"
	"slices"

	"footnote/llm"
)

// models returns those that a request may name, each name once: the usual one, the allowed ones, and the one that takes over from them.
func (e *engine) models() []llm.Model {
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

// modelNames returns the names of the models that a request may name, the usual one first.
func (e *engine) modelNames() []string {
	names := []string{}
	for _, m := range e.models() {
		names = append(names, m.Name())
	}
	return names
}

// toolsets returns the names of the toolsets, the usual one first.
func (e *engine) toolsets() []string {
	names := []string{e.cfg.Toolset}
	for _, name := range slices.Sorted(maps.Keys(e.registry.Toolsets)) {
		if name != e.cfg.Toolset {
			names = append(names, name)
		}
	}
	return names
}
