package agent

import (
	"fmt"
	"slices"
	"strings"

	"footnote/corpus/text"
)

// Selection says who chooses a run's first tools.
type Selection string

// The ways to choose. With auto rules choose for simple questions, and what the model chose for a similar question before is used again.
const (
	SelectModel Selection = "model"
	SelectRules Selection = "rules"
	SelectAuto  Selection = "auto"
)

// Features are what a run does around its model, by name. Each can be switched off.
func Features() []string {
	return []string{featureAnalyse, featurePlan, featurePaths, featureRefine, featureEarlyStop, featureDecisions, featureReflect}
}

const (
	featureAnalyse   = "analyse"
	featurePlan      = "plan"
	featurePaths     = "short_paths"
	featureRefine    = "refine"
	featureEarlyStop = "early_stop"
	featureDecisions = "cached_decisions"
	featureReflect   = "reflect"
)

// Thinking is how runs decide. Its zero value is all of it, with the selection of each toolset.
type Thinking struct {
	Selection Selection // of requests without one; empty: the toolset's own
	Without   []string  // features that are switched off
	Pipeline  bool      // the fixed pipeline for every question: search, read, answer
	NoRescue  bool      // a model that can't use its tools is not helped by the fixed pipeline

	// ContextTokens is how large a run's history may grow before the results of its older calls are shortened. 0: 60,000.
	ContextTokens int
}

// Check says what is wrong with it.
func (t Thinking) Check() error {
	if why := checkSelection(t.Selection); why != "" {
		return invalid("%s", why)
	}
	for _, name := range t.Without {
		if !slices.Contains(Features(), name) {
			return invalid("There is nothing called “%s” to switch off. There are: %s.", text.Shorten(name, 60), strings.Join(Features(), ", "))
		}
	}
	if t.ContextTokens < 0 {
		return invalid("The tokens of a context can't be negative.")
	}
	return nil
}

func checkSelection(s Selection) string {
	switch s {
	case "", SelectModel, SelectRules, SelectAuto:
		return ""
	default:
		return fmt.Sprintf("selection must be model, rules or auto, not “%s”.", text.Shorten(string(s), 60))
	}
}

// thinks reports whether a feature is on.
func (w *work) thinks(feature string) bool { return !slices.Contains(w.cfg.Thinking.Without, feature) }

// selection is who chooses this run's first tools.
func (w *work) selection() Selection {
	switch asked := Selection(w.run.Request.Config.Selection); {
	case w.cfg.Thinking.Pipeline, w.usesPipeline(w.model):
		return SelectRules
	case asked != "":
		return asked
	case w.cfg.Thinking.Selection != "":
		return w.cfg.Thinking.Selection
	default:
		return w.set.selection
	}
}
