package agent

import (
	"context"

	"footnote/agent/run"
	"footnote/chat"
	"footnote/corpus"
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
	if err := r.acquireSlot(user); err != nil {
		return run.Gathered{}, err
	}
	defer r.releaseSlot(user)
	found, err := r.engine.Gather(ctx, chat.Run{ID: chat.NewID(), User: user, Request: req}, set, most)
	r.countTokens(context.WithoutCancel(ctx), user, found.Spent.Tokens)
	return found, err
}

// CheckResults has a language model judge results of a search; see run.Engine.CheckResults. It takes a slot like a run,
// and its tokens count against the user's limit.
func (r *Runs) CheckResults(
	ctx context.Context, user, question string, found []corpus.Result,
) (run.CheckedResults, error) {
	if err := r.acquireSlot(user); err != nil {
		return run.CheckedResults{}, err
	}
	defer r.releaseSlot(user)
	req := chat.RunRequest{Message: question}
	checked, err := r.engine.CheckResults(ctx, chat.Run{ID: chat.NewID(), User: user, Request: req}, found)
	r.countTokens(context.WithoutCancel(ctx), user, checked.Spent.Tokens)
	return checked, err
}
