package standing

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/footnote/footnote/chat"
)

// askIfQuiet asks a question again, once its documents have not changed for a while, and when nothing of its user's own
// is under way. The order matters: first whether the documents are quiet (not for a question that its user wants asked
// now), then whether there is still a difference, then the limit of an hour, then the user's own runs, which come
// first. Each branch stores when to look next, so no state is in memory.
func (k *Keeper) askIfQuiet(ctx context.Context, kept chat.Standing) error {
	version, err := k.cfg.Library.Version(ctx, scope(kept))
	if err != nil {
		return err
	}
	// A question that its user wants asked now is not asked first whether anything changed.
	if !kept.Wanted {
		patient := time.Since(kept.Noticed) < quietMost
		if version != kept.Version && patient {
			return k.change(ctx, kept, func(s *chat.Standing) {
				s.Version, s.DueAt = version, time.Now().Add(k.cfg.Quiet)
			})
		}
		different, busy, err := k.isDifferent(ctx, kept)
		switch {
		case err != nil:
			return err
		case busy && patient:
			return k.later(ctx, kept, time.Now().Add(pollTime))
		case !different && !busy: // a document that was deleted came back
			return k.change(ctx, kept, func(s *chat.Standing) {
				s.Noticed, s.Version, s.DueAt = time.Time{}, version, time.Time{}
			})
		}
	}
	if until := nextHour(kept.Recent); !until.IsZero() {
		return k.later(ctx, kept, until)
	}
	if busy, err := k.cfg.Store.HasRuns(ctx, scope(kept)); err != nil || busy {
		return errors.Join(err, k.later(ctx, kept, time.Now().Add(giveWay)))
	}
	return k.start(ctx, kept, version)
}

// nextHour is when a question may be asked again that was asked at these times; zero: now.
func nextHour(recent []time.Time) time.Time {
	if len(recent) < perHour {
		return time.Time{}
	}
	if until := recent[len(recent)-perHour].Add(time.Hour); until.After(time.Now()) {
		return until
	}
	return time.Time{}
}

// start starts the run. One that was started before a server died is found by its key. The key is made of the question
// and of its count, so one count starts one run, whichever server does it and however often. The run is a sibling of
// the one before: earlier answers are no history that would shape the new one.
func (k *Keeper) start(ctx context.Context, kept chat.Standing, version int64) error {
	req := kept.Request
	req.IdempotencyKey = "kept-" + kept.ID + "-" + strconv.Itoa(kept.Turn)
	run, _, err := k.cfg.Runs.Start(ctx, kept.User, req)
	if over, ok := errors.AsType[*chat.OverLimit](err); ok {
		return k.later(ctx, kept, time.Now().Add(over.Wait))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil && chat.CodeOf(err) == chat.CodeNotFound && req.Sibling != "":
		// its conversation was deleted: it goes on in another
		return k.change(ctx, kept, func(s *chat.Standing) {
			s.Turn++
			s.Request.Sibling, s.Request.SessionID = "", sessionOf(s.ID, s.Turn)
			s.DueAt = time.Now()
		})
	case err != nil:
		return k.fail(ctx, kept, err)
	}
	return k.change(ctx, kept, func(s *chat.Standing) {
		s.Asking, s.Version, s.DueAt = run.ID, version, time.Now().Add(pollTime/2)
		s.Recent = append(s.Recent, now())
		s.Recent = s.Recent[max(0, len(s.Recent)-perHour):]
	})
}

// sessionOf names the conversation that holds a question's runs.
func sessionOf(id string, turn int) string { return "kept-" + id + "-" + strconv.Itoa(turn) }

// fail has a question asked again after a while, longer each time. The count goes on, so that the next try is another
// run. What was noticed stays noticed.
func (k *Keeper) fail(ctx context.Context, kept chat.Standing, err error) error {
	k.cfg.Log.WarnContext(ctx, "kept question could not be asked again", "question", kept.ID, "error", err)
	return k.change(ctx, kept, func(s *chat.Standing) {
		s.Trouble, s.DueAt = chat.MessageOf(err), time.Now().Add(wait(s.Failed))
		s.Failed, s.Wanted = s.Failed+1, false
		s.Turn++
		if s.Noticed.IsZero() {
			s.Noticed = now()
		}
		if s.Asking != "" {
			s.Request.Sibling, s.Asking = s.Asking, ""
		}
	})
}

// wait is how long to wait after a failure that others came before. The shift is bounded, so that it can't overflow.
func wait(before int) time.Duration {
	return min(firstWait<<min(before, 10), longestWay)
}
