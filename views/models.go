package views

import (
	"strings"

	"github.com/dustin/go-humanize"

	"footnote/english"
)

// ModelsTitle is the title of the page about models.
const ModelsTitle = txtModels

// ModelsPage is what the page about models shows beside which one answers.
type ModelsPage struct {
	Servers  []ModelServer // on this machine
	Services []ModelService
	Locked   string // why another can't be chosen; empty: it can
	Said     string // of the last choice; empty: nothing
	Failed   bool   // it failed
	Trouble  string // why the model that answers can't be used now; empty: nothing is known against it
	// of a failed choice of a service: which, and which model
	Service, Named string
}

// ModelServer is a server of models on this machine.
type ModelServer struct {
	Program string
	Port    int
	Models  []FoundModel
}

// FoundModel is a model of such a server.
type FoundModel struct {
	Name      string
	Facts     string // see ModelFacts
	Answering bool
	Suggested bool
}

// ModelService is a service elsewhere that answers with a key.
type ModelService struct{ Service, Name string }

// ModelFacts says what is known of a model, like "8.2B · 5.2 GB · reads 41k tokens · calls tools".
func ModelFacts(size string, bytes int64, context int, tools *bool, loaded bool) string {
	var facts []string
	if size != "" {
		facts = append(facts, size)
	}
	if bytes > 0 {
		facts = append(facts, humanize.Bytes(uint64(bytes)))
	}
	if context > 0 {
		facts = append(facts, "reads "+english.Digits(context)+" tokens")
	}
	if tools != nil && *tools {
		facts = append(facts, "calls tools")
	} else if tools != nil {
		facts = append(facts, "calls no tools: rules search for it")
	}
	if loaded {
		facts = append(facts, "in memory")
	}
	return strings.Join(facts, " · ")
}

// ModelTaken says that a model was chosen.
func ModelTaken(name string, tools bool) string {
	if tools {
		return name + " answers from now on. It calls tools, so it searches by itself."
	}
	return name + " answers from now on. It did not call the tool that it was told to call, so rules search for it."
}
