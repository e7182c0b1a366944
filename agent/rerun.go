package agent

import (
	"context"
	"encoding/json"

	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
)

// Rerun starts a run as a sibling of a finished one in the session's tree. It replays the question and the steps up
// to a tool call from the log, without a model or a tool. It makes that call with another input and continues from
// there. key is the idempotency key and may be empty.
//
// Errors: CodeNotFound for an unknown call; CodeConflict for an active run or a call that can't be repeated;
// CodeInvalid for an input that the tool refuses; and the errors of Start.
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
			Code: chat.CodeConflict, Message: "This answer is still in progress. Wait until it is done, or stop it " +
				"first.",
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
