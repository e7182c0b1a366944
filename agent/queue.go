package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/footnote/footnote/chat"
)

// Enqueue lets a question wait until the run of its session is over; then the server sends it, whoever looks. Without
// one under way it is sent at once. What a request with the same IdempotencyKey has stored comes back, whatever became
// of its documents since: the waiting question, or its run, under the run's id. It fails like Start for what can't be
// asked, and with CodeConflict when too many wait. A question that waits already is not refused for want of room: it
// has its place.
func (r *Runs) Enqueue(ctx context.Context, s chat.Scope, req chat.RunRequest) (chat.Queued, error) {
	req, set, err := r.engine.CheckRequest(req)
	if err != nil {
		return chat.Queued{}, err
	}
	if req.IdempotencyKey != "" {
		earlier, err := r.cfg.Store.Repeated(ctx, s.User, req)
		if err == nil {
			return chat.Queued{
				ID: earlier.ID, SessionID: earlier.SessionID, User: earlier.User, Request: earlier.Request,
				CreatedAt: earlier.CreatedAt,
			}, nil
		}
		if chat.CodeOf(err) != chat.CodeNotFound {
			return chat.Queued{}, err
		}
	}
	waiting, err := r.cfg.Store.Queue(ctx, s, req.SessionID)
	if err != nil {
		return chat.Queued{}, err
	}
	if err := r.checkAdmission(ctx, s.User, req, set, len(waiting)); err != nil && !isWaitingAlready(waiting, req) {
		return chat.Queued{}, err
	}
	q, err := r.cfg.Store.Enqueue(ctx, s, req)
	if err == nil {
		r.sendNext(context.WithoutCancel(ctx), chat.SessionKey{User: s.User, ID: req.SessionID})
	}
	return q, err
}

// isWaitingAlready reports whether one of these questions came under a request's key.
func isWaitingAlready(list []chat.Queued, req chat.RunRequest) bool {
	return req.IdempotencyKey != "" && slices.ContainsFunc(list, func(q chat.Queued) bool {
		return q.Request.IdempotencyKey == req.IdempotencyKey
	})
}

// SendNow puts a waiting question first and ends what it waits for: with answer, by an answer from what was found so
// far, else at once, on whichever server it is. The question moves first before anything is ended, so it is the next
// one whoever sends it. A run that ended by itself in between is no failure.
func (r *Runs) SendNow(ctx context.Context, s chat.Scope, sessionID, id string, answer bool) error {
	if err := r.cfg.Store.MoveQueuedFirst(ctx, s, sessionID, id); err != nil {
		return err
	}
	runs, err := r.cfg.Store.Runs(ctx, s, sessionID)
	if err != nil {
		return err
	}
	end := r.Cancel
	if answer {
		end = r.AnswerNow
	}
	for _, underWay := range runs {
		if underWay.Status != chat.RunRunning {
			continue
		}
		if err := end(ctx, s, underWay.ID); err != nil {
			if now, readErr := r.cfg.Store.Run(ctx, s, underWay.ID); readErr == nil && now.Status != chat.RunRunning {
				continue // it ended by itself just now
			}
			return err
		}
	}
	r.sendNext(context.WithoutCancel(ctx), chat.SessionKey{User: s.User, ID: sessionID})
	return nil
}

// Resend sends a session's first waiting question if nothing is in its way any more: after it was changed or another
// was removed.
func (r *Runs) Resend(ctx context.Context, s chat.Scope, sessionID string) {
	r.sendNext(context.WithoutCancel(ctx), chat.SessionKey{User: s.User, ID: sessionID})
}

// sendNext sends the first waiting question of a session, if it is its turn. A question that the store, the load or the
// user's limits refuse for a moment is tried again later. One that can't be sent today, or ever, stays in the queue
// with the reason, until its user acts. held says that no other question of the user can be sent now. It goes on while
// the store says that the question was started before by its key: then its settling was lost and the next one is due.
//
// Errors are of three kinds: those that only the user can mend stay with the question; those of load and short limits
// put it back; all others leave it taken, and the next look finds it again.
func (r *Runs) sendNext(ctx context.Context, session chat.SessionKey) (held bool) {
	for {
		q, ok, err := r.cfg.Store.TakeQueued(ctx, session)
		if err != nil {
			r.cfg.Log.ErrorContext(ctx, "waiting question could not be taken", "session", session.ID, "error", err)
			return false
		}
		if !ok {
			return false
		}
		q.Request.SessionID = q.SessionID
		_, isNew, err := r.Start(ctx, q.User, q.Request)
		problem := ""
		if err != nil {
			switch chat.CodeOf(err) {
			case chat.CodeUnauthorized, chat.CodeInvalid, chat.CodeConflict, chat.CodeTurnLimit, chat.CodeNotFound,
				chat.CodeKeyReused, chat.CodeGuardrail, chat.CodeTooLarge:
				problem = chat.MessageOf(err)
			case chat.CodeTooMany:
				if over, ok := errors.AsType[*chat.OverLimit](err); ok && over.Wait > time.Minute {
					problem = chat.MessageOf(err)
					break
				}
				r.putBack(ctx, q)
				return true
			default:
				r.cfg.Log.WarnContext(
					ctx, "waiting question could not be sent yet", "session", session.ID, "error", err,
				)
				return false
			}
		}
		if err := r.cfg.Store.SettleQueued(ctx, q.ID, problem); err != nil {
			r.cfg.Log.ErrorContext(ctx, "waiting question could not be settled", "session", session.ID, "error", err)
			return false
		}
		if err != nil || isNew {
			return false
		}
	}
}

// putBack lets a question wait on that was taken too early. Its user can change it meanwhile. The session is noted
// before the question is put back, so that the end of one of the user's runs finds it.
func (r *Runs) putBack(ctx context.Context, q chat.Queued) {
	r.deferSession(chat.SessionKey{User: q.User, ID: q.SessionID})
	if err := r.cfg.Store.PutBackQueued(ctx, q.ID); err != nil {
		r.cfg.Log.ErrorContext(ctx, "waiting question could not be put back", "session", q.SessionID, "error", err)
	}
}

// sendWaiting sends what waits in sessions where nothing happens: a server ended between a run's end and the next
// question. One refusal by a user's limits holds for all of that user's sessions in this round.
func (r *Runs) sendWaiting(ctx context.Context) {
	sessions, err := r.cfg.Store.Waiting(ctx)
	if err != nil {
		r.cfg.Log.ErrorContext(ctx, "waiting questions could not be read", "error", err)
		return
	}
	held := map[string]bool{}
	for _, session := range sessions {
		if !held[session.User] {
			held[session.User] = r.sendNext(ctx, session)
		}
	}
}
