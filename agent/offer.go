package agent

import (
	"maps"
	"slices"

	"footnote/llm"
)

// models returns those that a request may name, each name once: the usual one, the allowed ones, and the one that takes over from them.
func (r *Runs) models() []llm.Model {
	all := append([]llm.Model{r.cfg.Model}, r.cfg.Models...)
	if r.cfg.Fallback != nil {
		all = append(all, r.cfg.Fallback)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(m llm.Model) bool {
		known := seen[m.Name()]
		seen[m.Name()] = true
		return known
	})
}

// Models returns the names of the models that a request may name, the usual one first.
func (r *Runs) Models() []string {
	names := []string{}
	for _, m := range r.models() {
		names = append(names, m.Name())
	}
	return names
}

// Toolsets returns the names of the toolsets, the usual one first.
func (r *Runs) Toolsets() []string {
	names := []string{r.cfg.Toolset}
	for _, name := range slices.Sorted(maps.Keys(r.box.Toolsets)) {
		if name != r.cfg.Toolset {
			names = append(names, name)
		}
	}
	return names
}
