package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
)

// OtherInput is the body of POST /agent/runs/{id}/steps/{call}/rerun. A form has the same field, as JSON text.
type OtherInput struct {
	Input map[string]any `json:"input" api:"need"` // The tool's arguments.
}

// Rerun handles POST /agent/runs/{id}/steps/{call}/rerun: a new version of the answer copies the steps before a tool
// call, repeats that call with another input, and continues.
//
// Only a new run is counted.
func (a *Runs) Rerun(c httpio.Context) error {
	input, err := a.readInput(c)
	if err != nil {
		return err
	}
	if input == nil {
		return httpio.Invalid("input must be a JSON object: the tool's arguments.")
	}
	run, fresh, err := a.Runs.Rerun(
		c.Request().Context(), httpio.Scope(c), c.Param("id"), c.Param("call"), input, httpio.IdempotencyKey(c),
	)
	if err != nil {
		return err
	}
	if fresh {
		a.Metrics.RunStarted(c.Path())
	}
	if httpio.ByHTMX(c) {
		// a fragment would not reload the page
		c.Response().Header().Set("HX-Redirect", ask.AskedPage(run))
		return c.NoContent(http.StatusOK)
	}
	return answerAccepted(c, run, ask.AskedPage(run)+"#turn-"+run.ID)
}

// readInput decodes a call's input from JSON or from a form; nil if absent.
func (a *Runs) readInput(c httpio.Context) (json.RawMessage, error) {
	var body OtherInput
	if httpio.MediaType(c) == httpio.TypeJSON {
		if err := a.Bodies.ReadJSON(c, &body); err != nil {
			return nil, err
		}
		if body.Input == nil {
			return nil, nil
		}
		return json.Marshal(body.Input)
	}
	if err := a.Bodies.ReadForm(c); err != nil {
		return nil, err
	}
	text := strings.TrimSpace(httpio.FormText(c.Request().PostForm, "input"))
	if err := json.Unmarshal([]byte(text), &body.Input); err != nil || body.Input == nil {
		return nil, httpio.Invalid(
			`The input must be a JSON object, like {"query": "roof"}. Check its quotes, commas and brackets.`,
		)
	}
	return json.RawMessage(text), httpio.CheckJSON([]byte(text))
}
