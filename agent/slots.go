package agent

import (
	"context"
	"slices"

	"github.com/footnote/footnote/chat"
)

// acquireSlot takes a slot for a run. If users share the slots, a user may take another slot only while more slots are
// free than the user already holds. One user alone can get at most half. With n slots free a user who has n already
// gets no further one, so the last slots go to those who have fewer; with the default of 1,000 one user alone stops at
// 500.
func (r *Runs) acquireSlot(user string) error {
	shared := r.cfg.Shared != nil && r.cfg.Shared()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping {
		return &chat.Error{Code: chat.CodeUnavailable, Message: "The server is stopping. Ask again in a moment."}
	}
	free := r.cfg.MaxRuns - len(r.active) - r.begun
	if free <= 0 || shared && r.slots[user] >= free {
		return &chat.Error{
			Code:    chat.CodeTooMany,
			Message: "Too many questions are being answered right now. Ask again in a few seconds.",
		}
	}
	r.begun++
	r.slots[user]++
	return nil
}

// releaseSlot gives back what acquireSlot took for the time of storing; a run that was launched holds a slot of its
// own.
func (r *Runs) releaseSlot(user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun--
	r.freeSlot(user)
}

// freeSlot gives a user's place back. The caller holds r.mu.
func (r *Runs) freeSlot(user string) {
	if r.slots[user]--; r.slots[user] <= 0 {
		delete(r.slots, user)
	}
}

// maxDeferred bounds the sessions of one user that are remembered until a place is free; those beyond are found by
// sendWaiting.
const maxDeferred = 100

// deferSession remembers that a user's limits hold a session's waiting question back.
func (r *Runs) deferSession(session chat.SessionKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if list := r.deferred[session.User]; len(list) < maxDeferred && !slices.Contains(list, session.ID) {
		r.deferred[session.User] = append(list, session.ID)
	}
}

// sendDeferred sends a question that the limits of a user held back, once one of the user's runs is over.
func (r *Runs) sendDeferred(ctx context.Context, user string) {
	r.mu.Lock()
	list := r.deferred[user]
	if len(list) == 0 {
		r.mu.Unlock()
		return
	}
	next := list[0]
	if list = list[1:]; len(list) == 0 {
		delete(r.deferred, user)
	} else {
		r.deferred[user] = list
	}
	r.mu.Unlock()
	r.sendNext(ctx, chat.SessionKey{User: user, ID: next})
}

// countTokens counts what a user's run or search took from models against the user's limit. It comes after the tokens
// were spent and never refuses: a run under way goes on over the limit, and the next one is not started.
func (r *Runs) countTokens(ctx context.Context, user string, used chat.Tokens) {
	if used.In+used.Out == 0 {
		return
	}
	if err := r.cfg.Store.Charge(ctx, user, chat.ResourceTokens, int64(used.In)+int64(used.Out)); err != nil {
		r.cfg.Log.ErrorContext(ctx, "tokens could not be counted", "user", user, "error", err)
	}
}
