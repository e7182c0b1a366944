package runlog

import (
	"context"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// Branch is a session with its runs, and those of the shown branch, oldest first. Lost counts the turns that can't be
// read, because their rows are damaged.
type Branch struct {
	chat.Session
	All, Shown []chat.Run
	Lost       int
}

// Branch reads a session. Damaged turns are left out and logged.
func (r *Reader) Branch(ctx context.Context, scope chat.Scope, session string) (b Branch, err error) {
	if b.Session, err = r.Store.Session(ctx, scope, session); err != nil {
		return b, err
	}
	b.All, err = r.Store.Runs(ctx, scope, session)
	if err != nil && ctx.Err() == nil && httpio.AsError(err).Code == chat.CodeInternal {
		r.Log.ErrorContext(
			ctx, "could not load the turns of a conversation", "session", session, "error", err,
		)
		b.Lost, err = max(1, b.TurnCount), nil
	}
	shown, lost := Readable(BranchTo(b.All, b.HeadID))
	b.Shown, b.Lost = shown, b.Lost+lost
	return b, err
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
