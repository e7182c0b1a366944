package standing

import (
	"context"
	"time"

	"github.com/footnote/footnote/chat"
)

// maxHistory is the maximum number of earlier turns that are stored with a follow-up question.
const maxHistory = 4

// Add stores the question of an answered run in a new session. The basis of its answer is read now; a document that
// changed since the answer makes the question due at once. It returns CodeNotFound for a run that the user does not
// have, and CodeConflict for a run without an answer or a question that is already kept.
func (k *Scheduler) Add(ctx context.Context, s chat.Scope, runID string) (chat.Standing, error) {
	run, err := k.cfg.Store.Run(ctx, s, runID)
	if err != nil {
		return chat.Standing{}, err
	}
	log, err := chat.ReadTranscript(ctx, k.cfg.Store, s, runID)
	if err != nil {
		return chat.Standing{}, err
	}
	switch {
	case run.Status != chat.RunCompleted || log.Answer == nil || run.Unreadable:
		return chat.Standing{}, &chat.Error{
			Code: chat.CodeConflict, Message: "Only answered questions can be monitored. Ask it again first.",
		}
	case run.Request.ContextText != "":
		return chat.Standing{}, &chat.Error{
			Code: chat.CodeConflict,
			Message: "This question was asked about attached context, which never changes. Ask it about your " +
				"documents.",
		}
	}
	all, err := k.cfg.Store.AllStanding(ctx, s)
	if err != nil {
		return chat.Standing{}, err
	}
	for _, other := range all {
		if other.RunID == runID || other.Basis.RunID == runID {
			return other, &chat.Error{Code: chat.CodeConflict, Message: "This question is already monitored."}
		}
	}
	kept := chat.Standing{User: s.User, RunID: runID, SeenAt: now(), Request: run.Request}
	kept.Request.Sibling, kept.Request.From = "", nil
	kept.Request.SessionID = "kept-" + chat.NewID()
	if kept.Request.History, err = k.historyOf(ctx, s, run); err != nil {
		return chat.Standing{}, err
	}
	if kept.Version, err = k.cfg.Library.Version(ctx, s); err != nil {
		return chat.Standing{}, err
	}
	if kept.Basis, err = k.basisOf(ctx, kept, runID, *log.Answer); err != nil {
		return chat.Standing{}, err
	}
	// A cited document without sentences has changed since it was cited, so the question is due at once.
	for _, d := range kept.Basis.Documents { // changed since it was read
		for _, cite := range kept.Basis.Citations {
			if cite.DocumentID == d.ID && len(d.Lines) == 0 {
				kept.DueAt = time.Now()
			}
		}
	}
	return k.cfg.Store.AddStanding(ctx, s, kept)
}

// AddNew stores a question that was not asked yet. It is due at once.
func (k *Scheduler) AddNew(ctx context.Context, s chat.Scope, req chat.RunRequest) (chat.Standing, error) {
	if err := req.Validate(); err != nil {
		return chat.Standing{}, err
	}
	if err := k.cfg.Library.CheckNamed(ctx, s, req.Namespace, req.DocumentIDs); err != nil {
		return chat.Standing{}, err
	}
	req.SessionID = "kept-" + chat.NewID()
	kept, err := k.cfg.Store.AddStanding(ctx, s, chat.Standing{
		Request: req, SeenAt: now(), Wanted: true, DueAt: time.Now(),
	})
	k.loop.Wake()
	return kept, err
}

// historyOf returns the earlier turns of the session, which a follow-up question needs as context.
func (k *Scheduler) historyOf(ctx context.Context, s chat.Scope, run chat.Run) ([][2]string, error) {
	history := run.Request.History
	if run.ParentID == "" {
		return history, nil
	}
	runs, err := k.cfg.Store.Runs(ctx, s, run.SessionID)
	if err != nil {
		return nil, err
	}
	byID := map[string]chat.Run{}
	for _, r := range runs {
		byID[r.ID] = r
	}
	var before [][2]string
	// Backwards from the nearest turn, so that the last turns of a long session are kept.
	for r, ok := byID[run.ParentID]; ok && len(before) < maxHistory; r, ok = byID[r.ParentID] {
		if r.Answer != "" {
			before = append([][2]string{{r.Request.Message, r.Answer}}, before...)
		}
	}
	return append(history, before...), nil
}

// AskNow makes a question due at once. It returns CodeConflict for a paused question and CodeTooMany for one that
// was asked perHour times within an hour. A question with an active run is unchanged.
func (k *Scheduler) AskNow(ctx context.Context, s chat.Scope, id string) (chat.Standing, error) {
	kept, err := k.cfg.Store.ChangeStanding(ctx, s, id, func(kept *chat.Standing) error {
		switch {
		case kept.Paused:
			return &chat.Error{Code: chat.CodeConflict, Message: "This question is paused. Resume it first."}
		case !nextHour(kept.Recent).IsZero():
			return &chat.Error{
				Code: chat.CodeTooMany, Message: "This question was run 6 times within an hour. Try again later.",
			}
		case kept.Asking == "":
			kept.Wanted, kept.DueAt = true, time.Now()
		}
		return nil
	})
	k.loop.Wake()
	return kept, err
}

// Pause pauses a question or resumes it. An active run continues.
func (k *Scheduler) Pause(ctx context.Context, s chat.Scope, id string, paused bool) (chat.Standing, error) {
	kept, err := k.cfg.Store.ChangeStanding(ctx, s, id, func(kept *chat.Standing) error {
		kept.Paused = paused
		return nil
	})
	k.loop.Wake()
	return kept, err
}

// MarkSeen records that the user has seen the changes.
func (k *Scheduler) MarkSeen(ctx context.Context, s chat.Scope, id string) error {
	_, err := k.cfg.Store.ChangeStanding(ctx, s, id, func(kept *chat.Standing) error {
		kept.SeenAt = now()
		return nil
	})
	return err
}
