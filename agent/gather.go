package agent

import (
	"context"

	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// Gather lets the agent choose how to search for a question, with the toolset strategy unless the request names
// another, and returns what it found instead of an answer. Nothing is stored. It fails when the model does and there is
// no fallback; what was found until then comes with the error. It takes a slot like a run, since it asks the model as
// one, and its tokens count against the user's limit. most bounds the passages that are returned.
func (r *Runs) Gather(ctx context.Context, user string, req chat.RunRequest, most int) (run.Gathered, error) {
	req, set, err := r.engine.CheckRequest(r.engine.WithToolset(req, "strategy"))
	if err != nil {
		return run.Gathered{}, err
	}
	var found run.Gathered
	err = r.besideRuns(ctx, user, func(ctx context.Context) (_ chat.Spent, err error) {
		found, err = r.engine.Gather(ctx, chat.Run{ID: chat.NewID(), User: user, Request: req}, set, most)
		return found.Spent, err
	})
	return found, err
}

// CheckResults has a language model judge results of a search; see run.Engine.CheckResults. It takes a slot like a run,
// and its tokens count against the user's limit.
func (r *Runs) CheckResults(
	ctx context.Context, user, question string, found []corpus.Result,
) (checked run.CheckedResults, err error) {
	req := chat.RunRequest{Message: question}
	err = r.besideRuns(ctx, user, func(ctx context.Context) (_ chat.Spent, err error) {
		checked, err = r.engine.CheckResults(ctx, chat.Run{ID: chat.NewID(), User: user, Request: req}, found)
		return checked.Spent, err
	})
	return checked, err
}

// besideRuns does a user's work that asks models and is no run. It holds a slot meanwhile, fails when the user has no
// tokens left, and ends the work when the server stops.
func (r *Runs) besideRuns(
	ctx context.Context, user string, work func(context.Context) (chat.Spent, error),
) error {
	if err := r.cfg.Store.Room(ctx, user, chat.ResourceTokens); err != nil {
		return err
	}
	if err := r.acquireSlot(user); err != nil {
		return err
	}
	defer r.releaseSlot(user)
	working, end := context.WithCancel(ctx)
	defer end()
	go func() {
		select {
		case <-r.stopped:
			end()
		case <-working.Done():
		}
	}()
	spent, err := work(working)
	r.countTokens(context.WithoutCancel(ctx), user, spent.Tokens)
	return err
}
