package server

import (
	"context"
	"encoding/json"

	"github.com/labstack/echo/v4"

	"footnote/chat"
)

// approval is the body of POST /agent/runs/{id}/steps/{call}/approve. A form has the same field, as text.
type approval struct {
	Input map[string]any `json:"input"`
}

// approveStep lets a call that waits run: as the model asked for it when the body is empty or has no input, else with the body's input.
func (s *Server) approveStep(c echo.Context) error {
	var input json.RawMessage
	if c.Request().ContentLength != 0 {
		var err error
		if input, err = s.readInput(c); err != nil {
			return err
		}
	}
	return s.steer(c, func(ctx context.Context, scope chat.Scope, run string) error {
		return s.runs.Approve(ctx, scope, run, c.Param("call"), input)
	})
}

// denyStep keeps a call that waits from running.
func (s *Server) denyStep(c echo.Context) error {
	return s.steer(c, func(ctx context.Context, scope chat.Scope, run string) error {
		return s.runs.Deny(ctx, scope, run, c.Param("call"))
	})
}
