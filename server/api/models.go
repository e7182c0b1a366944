package api

import (
	"net/http"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/modelchoice"
)

// FindModels handles GET /model: which model answers, and which others there are.
//
// It is for programs. Who may not choose gets 200 with the reason, and no model of this machine.
func (a *Handlers) FindModels(c httpio.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, a.Models.Look(c, a.Guard, a.Questions.Models()[0]))
}

// ChooseModel handles PUT /model.
//
// Only the local user or an operator may; see modelchoice.Desk. The model is tried first, so the answer takes as long
// as that.
func (a *Handlers) ChooseModel(c httpio.Context) error {
	var choice modelchoice.Choice
	if err := a.Bodies.ReadJSON(c, &choice); err != nil {
		return err
	}
	tried, err := a.Models.Take(c, a.Guard, choice)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, tried)
}
