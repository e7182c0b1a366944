package views

import (
	"context"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

// Options are what a question can be asked with, beside its documents. A list without a choice is not shown.
type Options struct {
	Models     []string // the usual one first
	Toolsets   []string // the usual one first
	Namespaces []string

	Model, Toolset, Namespace string // the chosen ones; empty, or not offered: the usual one, and all namespaces
}

// choice reports whether there is anything to choose.
func (o Options) choice() bool {
	return len(o.Models) > 1 || len(o.Toolsets) > 1 || len(o.Namespaces) > 1
}

// label names the model where there are several, and what else is not as usual.
func (o Options) label(ctx context.Context) string {
	var parts []string
	// A model that is not offered any more is shown as the usual one, which answers in its place.
	if len(o.Models) > 1 {
		parts = append(parts, modelName(ctx, o.Models[max(0, slices.Index(o.Models, o.Model))]))
	}
	if slices.Index(o.Toolsets, o.Toolset) > 0 {
		parts = append(parts, o.Toolset)
	}
	if len(o.Namespaces) > 1 && slices.Contains(o.Namespaces, o.Namespace) {
		parts = append(parts, o.Namespace)
	}
	if len(parts) == 0 {
		return txtOptions.In(ctx)
	}
	return strings.Join(parts, " · ")
}

// offers reports whether there is such a toolset.
func (o Options) offers(toolset string) bool { return slices.Contains(o.Toolsets, toolset) }

// OfflineModel is the name of the model made of rules.
//
// It must be the name that the server gives to it, since pages tell it from others by that alone.
const OfflineModel = "offline"

// modelTitle says which model answers, for the link to the others.
func modelTitle(ctx context.Context, p Page) string {
	return modelName(ctx, p.Model) + ": " + txtModels.In(ctx)
}

// modelName is a model's name for people.
func modelName(ctx context.Context, name string) string {
	if name == OfflineModel {
		return txtOffline.In(ctx)
	}
	return name
}

// modelText is an entry of the list of models.
func modelText(ctx context.Context, name string) string {
	if name == OfflineModel {
		return txtOffline.In(ctx) + ": " + txtQuotesOnly.In(ctx)
	}
	return name
}

// usual returns the value of entry i in a form. It is empty for the first entry, the server's own choice: a form that
// is sent later then gets whatever the server's choice is by then.
func usual(i int, name string) string {
	if i == 0 {
		return ""
	}
	return name
}

// toolsetWords say what a toolset is for.
var toolsetWords = map[string]locale.Text{
	"cursor":        locale.T("Searches, opens and reads as it needs"),
	"react":         locale.T("Small steps, and the web if it is set up"),
	"strategy":      locale.T("Quick: few searches, then the answer"),
	"documentation": locale.T("Searches only: for handbooks and manuals"),
}

// Chooser offers documents that a question can be narrowed to.
//
// Documents and Chosen may have some in common; rest leaves those out.
type Chooser struct {
	Documents []corpus.Document // the newest ones, or those that a search found
	Chosen    []corpus.Document
	Ready     int // how many can be chosen in all
	All       int // those that are not ready included
}

// all is the label for all documents.
func (c Chooser) all(ctx context.Context) string { return allDocuments.Count(ctx, c.Ready) }

// some is the label for several chosen documents, with {n} in the place of their number.
func (c Chooser) some(ctx context.Context) string { return someDocuments.Count(ctx, c.Ready, "{n}") }

// label says what the question is narrowed to.
func (c Chooser) label(ctx context.Context) string {
	switch len(c.Chosen) {
	case 0:
		return c.all(ctx)
	case 1:
		return documentTitle(c.Chosen[0])
	default:
		return someDocuments.Count(ctx, c.Ready, len(c.Chosen))
	}
}

// rest are the offered documents that were not chosen yet.
func (c Chooser) rest() []corpus.Document {
	var rest []corpus.Document
	for _, d := range c.Documents {
		if !slices.ContainsFunc(c.Chosen, func(chosen corpus.Document) bool { return chosen.ID == d.ID }) {
			rest = append(rest, d)
		}
	}
	return rest
}
