package run

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// FeatureNames are what a run does around its model, by name. Each can be switched off. They are the values of the
// setting agent.without, and the names under which the handbook explains them.
func FeatureNames() []string {
	return []string{
		featureAnalyse, featurePlan, featurePaths, featureRefine, featureEarlyStop, featureDecisions, featureReflect,
	}
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

// Features is how runs decide. Its zero value is all of it, with the selection of each toolset.
type Features struct {
	Selection tools.Selection // of requests without one; empty: the toolset's own
	Without   []string        // features that are switched off
	Pipeline  bool            // the fixed pipeline for every question: search, read, answer
	// FallbackScore is the minimum similarity, 0–1, of the results of the semantic search that replaces a model that
	// can't use its tools.
	FallbackScore float64
	Checks        CheckMode // when a language model checks passages
	NoRescue      bool      // a model that can't use its tools is not helped by the fixed pipeline

	// ContextTokens is how large a run's history may grow before the results of its older calls are shortened. 0:
	// 60,000.
	ContextTokens int
}

// Check says what is wrong with it.
func (t Features) Check() error {
	if err := t.Selection.Check(); err != nil {
		return err
	}
	for _, name := range t.Without {
		if !slices.Contains(FeatureNames(), name) {
			return chat.Invalid(
				"There is nothing called “%s” to switch off. There are: %s.", text.Shorten(name, 60),
				strings.Join(FeatureNames(), ", "),
			)
		}
	}
	if t.ContextTokens < 0 {
		return chat.Invalid("The tokens of a context can't be negative.")
	}
	return nil
}

// usesAgent reports whether the model may call tools as it sees fit: as the request says, else as the settings do.
func (k *knowledge) usesAgent() bool {
	if asked := k.run.Request.Config.UseAgentMode; asked != nil {
		return *asked
	}
	return !k.cfg.Features.Pipeline
}

// isEnabled reports whether a feature is on.
func (k *knowledge) isEnabled(feature string) bool {
	return !slices.Contains(k.cfg.Features.Without, feature)
}
