package api

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// Approval is the body of POST /agent/runs/{id}/steps/{call}/approve. A form has the same field, as JSON text.
type Approval struct {
	// Other arguments for the tool; left out, those of the model.
	Input map[string]any `json:"input"`
}

// ApproveStep approves a pending call: unchanged if the body is empty or has no input, else with the body's input.
//
// It handles POST /agent/runs/{id}/steps/{call}/approve, for the run's user: 202 to programs, 204 to the page's
// script, 303 to a form. It fails as Runs.Approve does, and with 400 for an input that is no object.
func (a *Handlers) ApproveStep(c httpio.Context) error {
	var input json.RawMessage
	if c.Request().ContentLength != 0 {
		var err error
		if input, err = a.readInput(c); err != nil {
			return err
		}
	}
	return a.steerRun(c, func(ctx context.Context, scope chat.Scope, run string) error {
		if err := a.Runs.Approve(ctx, scope, run, c.Param("call"), input); err != nil {
			return err
		}
		return a.awaitDecision(c, run) //nolint:contextcheck // c holds the request's context
	})
}

// DenyStep denies a pending call.
//
// It handles POST /agent/runs/{id}/steps/{call}/deny; the responses are those of ApproveStep.
func (a *Handlers) DenyStep(c httpio.Context) error {
	return a.steerRun(c, func(ctx context.Context, scope chat.Scope, run string) error {
		if err := a.Runs.Deny(ctx, scope, run, c.Param("call")); err != nil {
			return err
		}
		return a.awaitDecision(c, run) //nolint:contextcheck // c holds the request's context
	})
}

// decidedLimit is the timeout for a decision's effect before a page without scripts is shown anyway.
const decidedLimit = 5 * time.Second

// awaitDecision waits, for a page without scripts, until the decided call is no longer pending in the run's log. An
// earlier page would show the question again, without a reload, which would discard a reader's input.
func (a *Handlers) awaitDecision(c httpio.Context, run string) error {
	if !httpio.WantsHTML(c) || httpio.ByHTMX(c) {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), decidedLimit)
	defer cancel()
	// The log is read from its start, so the call must first be seen waiting.
	waited, goesOn := false, errors.New("the call goes on")
	err := a.Logs.Listen(ctx, httpio.Scope(c), run, func(e chat.Event) error {
		p, err := e.Payload()
		step, ok := p.(chat.Step)
		if err != nil || !ok || step.CallID != c.Param("call") {
			return err
		}
		if step.Status == chat.StatusPending {
			waited = true
		} else if waited {
			return goesOn
		}
		return nil
	}, nil)
	if errors.Is(err, goesOn) || ctx.Err() != nil {
		return nil
	}
	return err
}
