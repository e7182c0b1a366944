package api

import (
	"net/http"

	"footnote/server/httpio"
	"footnote/server/modelchoice"
)

// FindModels answers GET /model: which model answers, and which others there are.
func (a *Handlers) FindModels(c httpio.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, a.Models.Look(c, a.Guard, a.Questions.Models()[0]))
}

// ChooseModel answers PUT /model.
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
