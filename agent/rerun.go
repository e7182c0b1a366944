package agent

import (
	"context"
	"encoding/json"

	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
)

// Rerun starts a run beside an earlier one that is over: the same question and the same steps up to a tool call, that
// call with another input, and then what the model makes of it. The earlier steps come from the log: no model and no
// tool is asked for them again. It fails with CodeNotFound for a call that is not there, with CodeConflict for one that
// can't be made again and for a run under way, with CodeInvalid for an input that the tool does not take or can only
// fail with, and else as Start does. key may be empty. The new run is a sibling of the old one in the session's tree.
func (r *Runs) Rerun(
	ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage, key string,
) (begun chat.Run, isNew bool, err error) {
	old, err := r.cfg.Store.Run(ctx, s, runID)
	if err != nil {
		return begun, false, err
	}
	if old.Unreadable {
		return begun, false, run.ErrUnreadable
	}
	if old.Status == chat.RunRunning {
		return begun, false, &chat.Error{
			Code: chat.CodeConflict, Message: "This answer is still being made. Wait for its end, or stop it first.",
		}
	}
	log, err := r.engine.ReadLog(ctx, old)
	if err != nil {
		return begun, false, err
	}
	req, err := r.engine.BranchRequest(ctx, old, log, callID, input)
	if err != nil {
		return begun, false, err
	}
	req.IdempotencyKey = key
	return r.Start(ctx, s.User, req)
}
