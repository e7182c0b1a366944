package views

import (
	"context"
	"strings"

	"github.com/footnote/footnote/text/locale"
)

// The titles of the pages.
var (
	ModelsTitle    = txtModels
	DocumentsTitle = txtDocuments
	SearchTitle    = txtSearch
	LeaveTitle     = locale.T("External link")
)

// KeyNotValid is the error message for an unknown API key.
var KeyNotValid = locale.T("Invalid API key. Enter it again, or ask your administrator for a new one.")

// ModelsPage is the data of the models page, without the model in use.
//
// Servers and Services are empty if Locked holds the reason.
type ModelsPage struct {
	Servers  []ModelServer // on this machine
	Services []ModelService
	Locked   locale.Message // why the model can't be changed; empty: it can
	Said     locale.Message // result of the last choice; empty: none
	Failed   bool           // the last choice failed
	Trouble  locale.Message // why the current model can't be used; empty: no known problem
	// The service and model of a failed choice.
	Service, Named string
}

// ModelServer is a model server on this machine.
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

// ModelService is a remote service that requires an API key.
type ModelService struct{ Service, Name string }

var (
	readsTokens  = locale.N("{n}-token context", "{n}-token context")
	callsTools   = locale.T("tool calling")
	callsNoTools = locale.T("no tool calling, rule-based search")
	inMemory     = locale.T("loaded")
	answersNow   = locale.T("Footnote now uses {model}. It supports tool calling and runs its own searches.")
	answersRules = locale.T("Footnote now uses {model}. The model failed the tool calling test, so Footnote uses " +
		"rule-based search.")
)

// ModelFacts returns a model's properties, like "8.2B · 5.2 GB · reads 41k tokens · calls tools".
//
// Unknown properties are left out: an empty size, 0 bytes, a window of 0 tokens, nil tools.
func ModelFacts(ctx context.Context, size string, bytes int64, window int, tools *bool, loaded bool) string {
	var facts []string
	if size != "" {
		facts = append(facts, size)
	}
	if bytes > 0 {
		facts = append(facts, locale.Size(ctx, bytes))
	}
	if window > 0 {
		facts = append(facts, readsTokens.Count(ctx, window))
	}
	if tools != nil && *tools {
		facts = append(facts, callsTools.In(ctx))
	} else if tools != nil {
		facts = append(facts, callsNoTools.In(ctx))
	}
	if loaded {
		facts = append(facts, inMemory.In(ctx))
	}
	return strings.Join(facts, " · ")
}

// ModelTaken returns the message after a model was chosen.
func ModelTaken(ctx context.Context, name string, tools bool) string {
	if tools {
		return answersNow.Say(ctx, name)
	}
	return answersRules.Say(ctx, name)
}
