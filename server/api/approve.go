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
	// The arguments of the call. Default: the model's arguments.
	Input map[string]any `json:"input"`
}

// Approve handles POST /agent/runs/{id}/steps/{call}/approve: the call runs unchanged if the body is empty or has no
// input, else with that.
func (a *Runs) Approve(c httpio.Context) error {
	var input json.RawMessage
	if c.Request().ContentLength != 0 {
		var err error
		if input, err = a.readInput(c); err != nil {
			return err
		}
	}
	return a.decide(c, func(ctx context.Context, scope chat.Scope, run string) error {
		return a.Runs.Approve(ctx, scope, run, c.Param("call"), input)
	})
}

// Deny handles POST /agent/runs/{id}/steps/{call}/deny.
func (a *Runs) Deny(c httpio.Context) error {
	return a.decide(c, func(ctx context.Context, scope chat.Scope, run string) error {
		return a.Runs.Deny(ctx, scope, run, c.Param("call"))
	})
}

func (a *Runs) decide(c httpio.Context, how func(context.Context, chat.Scope, string) error) error {
	return a.Steered(func(ctx context.Context, scope chat.Scope, run string) error {
		if err := how(ctx, scope, run); err != nil {
			return err
		}
		return a.awaitDecision(c, run) //nolint:contextcheck // c holds the request's context
	})(c)
}

// decidedLimit is the timeout for a decision's effect before a page without scripts is shown anyway.
const decidedLimit = 5 * time.Second

// awaitDecision waits, for a page without scripts, until the decided call is no longer pending in the run's log. An
// earlier page would show the question again, without a reload, which would discard a reader's input.
func (a *Runs) awaitDecision(c httpio.Context, run string) error {
	if !httpio.ByForm(c) {
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
