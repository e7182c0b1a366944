package api

import (
	"net/http"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/modelchoice"
)

// FindModels handles GET /model: the answering model, and the available others.
//
// It is for programs. A user who may not choose gets 200 with the reason, and no model of this machine.
func (a *Handlers) FindModels(c httpio.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, a.Models.Look(c, a.Guard, a.Questions.Models()[0]))
}

// ChooseModel handles PUT /model.
//
// Only the local user or an operator may; see modelchoice.Desk. The response is sent after a test of the model.
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
