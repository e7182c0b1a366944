package runlog

import (
	"context"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// ReadableRuns returns the runs of a session. If the store can't decode them, it returns none, logs the failure, and
// lost is their number. Any other failure is returned.
func (r *Reader) ReadableRuns(
	ctx context.Context, scope chat.Scope, session chat.Session,
) (runs []chat.Run, lost int, err error) {
	runs, err = r.Store.Runs(ctx, scope, session.ID)
	if err == nil || ctx.Err() != nil || httpio.AsError(err).Code != chat.CodeInternal {
		return runs, 0, err
	}
	r.Log.ErrorContext(
		ctx, "conversation could not be read: shown without its turns", "session", session.ID, "error", err,
	)
	return nil, max(1, session.TurnCount), nil
}

// Readable filters out runs with damaged requests, and counts them.
func Readable(branch []chat.Run) (runs []chat.Run, lost int) {
	runs = slices.DeleteFunc(slices.Clone(branch), func(r chat.Run) bool { return r.Unreadable })
	return runs, len(branch) - len(runs)
}

// BranchTo returns the runs from the first question to head.
//
// They are oldest first; the result is empty for an unknown head. A cycle of parents, which only damage can cause,
// ends after as many runs as there are.
func BranchTo(runs []chat.Run, head string) []chat.Run {
	byID := make(map[string]chat.Run, len(runs))
	for _, run := range runs {
		byID[run.ID] = run
	}
	var branch []chat.Run
	for run, ok := byID[head]; ok && len(branch) < len(runs); run, ok = byID[run.ParentID] {
		branch = append(branch, run)
	}
	slices.Reverse(branch)
	return branch
}
