package agent

import (
	"context"
	"encoding/json"

	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// Approve lets a call that waits run, with another input if one is given. It fails with CodeNotFound for a call that
// never waited, CodeConflict for one that was decided and for a run that is over, and CodeInvalid for an input that the
// tool does not take. A nil input leaves the model's own.
func (r *Runs) Approve(ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage) error {
	return r.decideCall(ctx, s, chat.Command{RunID: runID, Kind: chat.CommandApprove, CallID: callID, Input: input})
}

// Deny keeps a call that waits from running; the model is told. It fails as Approve does.
func (r *Runs) Deny(ctx context.Context, s chat.Scope, runID, callID string) error {
	return r.decideCall(ctx, s, chat.Command{RunID: runID, Kind: chat.CommandDeny, CallID: callID})
}

// decideCall settles on one verdict about a call. With other servers beside this one, the stored command decides
// between two that come at once. The input is checked against the tool's schema here too, so that a person hears at
// once what does not fit. A server that is alone with its store applies the verdict directly. With others beside it the
// command is stored first, and its unique row decides which of two verdicts counts; only then is it applied here, if
// the run is here.
func (r *Runs) decideCall(ctx context.Context, s chat.Scope, w chat.Command) error {
	c, err := r.findControl(ctx, s, w.RunID)
	if err != nil {
		return err
	}
	t, err := r.undecidedTool(ctx, s, c, w)
	if err != nil {
		return err
	}
	if w.Input != nil && t != nil {
		if w.Input, err = t.Normalise(w.Input, nil); err != nil {
			return chat.Invalid("%s does not take this input: %s", t.Name, text.Shorten(err.Error(), 400)+".")
		}
	}
	if c == nil || !r.cfg.Exclusive {
		if err := r.storeCommand(ctx, s, w); err != nil || c == nil {
			return err
		}
	}
	if !applyCommand(c, w) && r.cfg.Exclusive {
		return run.ErrDecided
	}
	return nil
}

// undecidedTool fails unless the call waits for a decision. It returns the call's tool, nil if this server has no such
// tool at the moment. A run that is elsewhere is judged by its log: the call must wait there.
func (r *Runs) undecidedTool(ctx context.Context, s chat.Scope, c *run.Control, w chat.Command) (*tools.Tool, error) {
	if c != nil {
		if t, known, err := c.Undecided(w.CallID); known || err != nil {
			return t, err
		}
	}
	now, err := r.cfg.Store.Run(ctx, s, w.RunID)
	if err != nil {
		return nil, err
	}
	log, err := r.engine.ReadLog(ctx, now)
	if err != nil {
		return nil, err
	}
	step, err := run.PendingCall(log, w.CallID)
	if err != nil {
		return nil, err
	}
	t, err := r.engine.FindTool(ctx, now.Request, step.ToolName)
	if err != nil { // a toolset of an older version: the run's server has the last word
		return nil, nil
	}
	return t, nil
}
