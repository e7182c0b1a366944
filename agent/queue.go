package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// Enqueue adds a question to the queue of its session, or starts it at once if no run of the session is active. The
// server sends it after that run, without a client. A retry with the same IdempotencyKey returns the stored
// question, or its run under the run's id, even if its documents changed since. It returns the errors of Start, and
// CodeConflict if the queue is full. A retry of a queued question is not refused for a full queue.
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

// isWaitingAlready reports whether the queue has a question with the request's IdempotencyKey.
func isWaitingAlready(list []chat.Queued, req chat.RunRequest) bool {
	return req.IdempotencyKey != "" && slices.ContainsFunc(list, func(q chat.Queued) bool {
		return q.Request.IdempotencyKey == req.IdempotencyKey
	})
}

// SendNow moves a queued question to the front and ends the run before it, on whichever server it is: with answer by
// AnswerNow, else by Cancel. The question is moved first, so that it is the next one whichever server sends it. A
// run that ended meanwhile is not an error.
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
				continue // it ended meanwhile
			}
			return err
		}
	}
	r.sendNext(context.WithoutCancel(ctx), chat.SessionKey{User: s.User, ID: sessionID})
	return nil
}

// Resend sends a session's first queued question if it can be sent, after it was edited or another question was
// removed.
func (r *Runs) Resend(ctx context.Context, s chat.Scope, sessionID string) {
	r.sendNext(context.WithoutCancel(ctx), chat.SessionKey{User: s.User, ID: sessionID})
}

// sendNext starts the first queued question of a session, if no run of the session is active. It repeats while the
// question was already started under its key, since then only its removal from the queue was lost.
//
// Errors are of three kinds. Errors that only the user can correct, and limits of more than a minute, are stored
// with the question until the user acts. Load and short limits put the question back for a retry. All other errors
// leave it taken, and the next poll retries it. held reports that no other question of the user can be sent now.
func (r *Runs) sendNext(ctx context.Context, session chat.SessionKey) (held bool) {
	for {
		q, ok, err := r.cfg.Store.TakeQueued(ctx, session)
		if err != nil {
			r.cfg.Log.ErrorContext(ctx, "could not claim a queued question", "session", session.ID, "error", err)
			return false
		}
		if !ok {
			return false
		}
		q.Request.SessionID = q.SessionID
		_, isNew, err := r.Start(ctx, q.User, q.Request)
		var problem locale.Message
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
					ctx, "could not send a queued question", "session", session.ID, "error", err,
				)
				return false
			}
		}
		if err := r.cfg.Store.SettleQueued(ctx, q.ID, string(problem)); err != nil {
			r.cfg.Log.ErrorContext(ctx, "could not complete a queued question", "session", session.ID, "error", err)
			return false
		}
		if err != nil || isNew {
			return false
		}
	}
}

// putBack returns a question to the queue, where its user can edit it. The session is recorded first, so that the
// end of one of the user's runs retries it.
func (r *Runs) putBack(ctx context.Context, q chat.Queued) {
	r.deferSession(chat.SessionKey{User: q.User, ID: q.SessionID})
	if err := r.cfg.Store.PutBackQueued(ctx, q.ID); err != nil {
		r.cfg.Log.ErrorContext(ctx, "could not requeue a question", "session", q.SessionID, "error", err)
	}
}

// sendWaiting sends queued questions of sessions without an active run, which a server left that ended between a
// run's end and the next question. A refusal by a user's limits skips that user's other sessions in this round.
func (r *Runs) sendWaiting(ctx context.Context) {
	sessions, err := r.cfg.Store.Waiting(ctx)
	if err != nil {
		r.cfg.Log.ErrorContext(ctx, "could not load queued questions", "error", err)
		return
	}
	held := map[string]bool{}
	for _, session := range sessions {
		if !held[session.User] {
			held[session.User] = r.sendNext(ctx, session)
		}
	}
}
