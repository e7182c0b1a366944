package run

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// offlineName is the name of the model made of rules. It needs no advice: what it says is what it can.
const offlineName = "offline"

// Models are what a server answers with: the fields of Config of the same names. The prices stay.
type Models struct {
	Model, Fallback, Select llm.Model
	Models                  []llm.Model
	LeastModel              string
	Small                   func(ctx context.Context, model string, measuring func()) string
}

// Use has the runs that begin from now on answer with other models. Those under way go on with theirs, and what is
// kept of earlier choices of tools stays. Model is required.
func (e *Engine) Use(m Models) {
	cfg := *e.config()
	cfg.Model, cfg.Fallback, cfg.Select, cfg.Models = m.Model, m.Fallback, m.Select, m.Models
	cfg.LeastModel, cfg.Small = m.LeastModel, m.Small
	e.cfg.Store(&cfg)
}

// Price is what a million tokens cost.
type Price struct{ In, Out float64 }

// allowedModels returns those that a request may name, each name once: the usual one, the allowed ones, and the one
// that takes over from them. The fallback is among them, so that a user can ask for the offline model by its name.
func (c *Config) allowedModels() []llm.Model {
	all := append([]llm.Model{c.Model}, c.Models...)
	if c.Fallback != nil {
		all = append(all, c.Fallback)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(m llm.Model) bool {
		known := seen[m.Name()]
		seen[m.Name()] = true
		return known
	})
}

// ModelNames returns the names of the models that a request may name now, the usual one first.
func (e *Engine) ModelNames() []string { return e.config().modelNames() }

func (c *Config) modelNames() []string {
	names := []string{}
	for _, m := range c.allowedModels() {
		names = append(names, m.Name())
	}
	return names
}

// modelOf finds the model that a request names, the usual one if it names none. It fails with CodeInvalid for one
// that is not allowed.
func (c *Config) modelOf(asked chat.RunConfig) (llm.Model, error) {
	if asked.Model == "" || asked.Model == c.Model.Name() {
		return c.Model, nil
	}
	for _, m := range c.allowedModels() {
		if m.Name() == asked.Model {
			return m, nil
		}
	}
	return nil, chat.Invalid(
		"The model “%s” is not allowed here. Allowed: %s.", text.Shorten(asked.Model, 60),
		strings.Join(c.modelNames(), ", "),
	)
}

// usesPipeline reports whether a model is below the least that may choose tools by itself. The order is that of the
// allowed models.
func (c *Config) usesPipeline(m llm.Model) bool {
	if c.LeastModel == "" || m.Name() == c.LeastModel || m.Name() == offlineName {
		return false
	}
	for _, allowed := range c.Models {
		switch allowed.Name() {
		case c.LeastModel:
			return false
		case m.Name():
			return true
		}
	}
	return false
}

// ToolsetNames returns the names of the toolsets, the usual one first.
func (e *Engine) ToolsetNames() []string {
	names := []string{e.config().Toolset}
	for _, name := range slices.Sorted(maps.Keys(e.Registry.Toolsets)) {
		if name != e.config().Toolset {
			names = append(names, name)
		}
	}
	return names
}
