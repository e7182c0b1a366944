package agent

import (
	"context"
	"fmt"

	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
)

// questionLimit is how many questions a session may have with a toolset: the setting, which never raises the limit of a
// toolset that is made for short conversations.
func (r *Runs) questionLimit(set tools.Set) int {
	switch most := r.cfg.MaxQuestions; {
	case most == 0:
		return set.MaxQuestions
	case set.MaxQuestions < r.engine.Registry.Toolsets[tools.DefaultToolset].MaxQuestions:
		return min(most, set.MaxQuestions)
	default:
		return most
	}
}

// checkQuestionLimit rejects a further question in a session that is at its limit with those that wait there. Asking an
// earlier question again, or in other words, takes its place and needs no room. It counts without a lock, so two
// questions at once may both be let in as the last one, which does no harm.
func (r *Runs) checkQuestionLimit(
	ctx context.Context, user string, req chat.RunRequest, set tools.Set, waiting int,
) error {
	if req.SessionID == "" || req.Sibling != "" {
		return nil
	}
	scope := chat.Scope{User: user}
	session, err := r.cfg.Store.Session(ctx, scope, req.SessionID)
	switch {
	case err != nil && chat.CodeOf(err) == chat.CodeNotFound:
		return nil // a new one, or one that StartRun refuses
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil: // the run goes on without what can't be read, and says so
		r.cfg.Log.ErrorContext(
			ctx, "questions of a conversation could not be counted", "session", req.SessionID, "error", err,
		)
		return nil
	case session.TurnCount+waiting < r.questionLimit(set):
		return nil
	}
	return &chat.Error{Code: chat.CodeTurnLimit, Message: fmt.Sprintf(
		"This conversation has reached its limit of %s. Ask in a new one: a request without session_id begins it.",
		english.Count(r.questionLimit(set), "question"))}
}
