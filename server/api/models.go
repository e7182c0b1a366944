package api

import (
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/modelchoice"
)

// Models finds and chooses the answering model.
type Models struct {
	Chooser modelchoice.Chooser
	Names   func() []string // the available models, the default first
	Guard   *httpio.Guard
}

// Find handles GET /model. A user who may not choose gets the reason, and no model of this machine.
func (a *Models) Find(c httpio.Context) (modelchoice.Found, error) {
	found := a.Chooser.Describe(c, a.Guard, a.Names()[0])
	found.Trouble = found.Trouble.English()
	return found, nil
}

// Choose handles PUT /model. Only the local user or an operator may; see modelchoice.Chooser.
func (a *Models) Choose(c httpio.Context, choice modelchoice.Choice) (modelchoice.Tried, error) {
	return a.Chooser.TryChoice(c, a.Guard, choice)
}
