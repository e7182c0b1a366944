package run

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
)

// Framework drives a run: it asks for a turn of the model, lets the agent make the turn's calls, and repeats this until
// a turn has no calls. The framework decides only what comes next. The agent does everything else: history, budgets,
// events, citations and the handling of failures. It returns when a turn had no calls, or with the
// error of a turn or a call.
type Framework func(ctx context.Context, r Rounds) error

// Rounds is a run as a framework drives it. Its functions may be called from any goroutine; they work one after the
// other.
type Rounds struct {
	Question string
	Tools    []llm.ToolSpec // those of the run
	Most     int            // rounds of a turn and its calls that no run reaches

	// Turn has the model speak, and returns the calls that it wants made: none after its answer. The answer's text is
	// shown as it comes. It fails while calls of the last turn are not made.
	Turn func(ctx context.Context) ([]llm.Call, error)

	// Call returns what the model is told about one of the last turn's calls, by its place from 0; for a call that
	// did not run that is why. The calls of a turn are made at the same time, when the first of them is asked for.
	Call func(ctx context.Context, place int) (string, error)
}

// moreRounds are those beyond the budget of turns: repairs, cut turns and reviews. There are far fewer of them; a
// framework that bounds its rounds, as Eino does, must only never end a run that the budget lets go on.
const moreRounds = 50

var errRounds = errors.New("the agent framework left the order of turns and calls")

// driveBy lets a framework drive the run, and takes it back. The framework's context ends before that, so that nothing
// of it goes on.
func (w *Runner) driveBy(ctx context.Context, drive Framework) ([]chat.Payload, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &rounds{w: w}
	err := drive(ctx, r.asRounds())
	cancel()
	return r.takeBack(err)
}

// rounds lets a framework drive one run, whose work is the framework's until close. A framework may call Turn and Call
// from other goroutines; the mutex makes them one after the other, because the parts of a Runner belong to one
// goroutine at a time.
type rounds struct {
	w       *Runner
	mu      sync.Mutex
	closed  bool
	err     error // the first failure; the framework may wrap or hide it
	reply   reply // of the last turn
	results []string
	ended   bool // the last turn was the answer
	last    []chat.Payload
}

// asRounds is the run as a Framework gets it.
func (r *rounds) asRounds() Rounds {
	return Rounds{
		Question: r.w.run.Request.Message, Tools: r.w.model.toolSpecs(),
		Most: r.w.budget.limits.Steps + moreRounds,
		Turn: func(ctx context.Context) (calls []llm.Call, err error) {
			err = r.inOrder(func() error { calls, err = r.takeTurn(ctx); return err })
			return calls, err
		},
		Call: func(ctx context.Context, place int) (told string, err error) {
			err = r.inOrder(func() error { told, err = r.callResult(ctx, place); return err })
			return told, err
		},
	}
}

// inOrder does one step at a time, and none after a failure or when the run was taken back.
func (r *rounds) inOrder(step func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return r.err
	case r.closed:
		return errRounds
	}
	r.err = step()
	return r.err
}

// takeTurn has the model speak. It fails with errRounds after the answer, and while calls of the last turn are open.
func (r *rounds) takeTurn(ctx context.Context) ([]llm.Call, error) {
	if r.ended || len(r.reply.calls) > 0 && r.results == nil {
		return nil, errRounds
	}
	var err error
	r.results = nil
	if r.reply, r.last, err = r.w.nextReply(ctx); err != nil {
		return nil, err
	}
	r.ended = len(r.reply.calls) == 0
	return r.reply.calls, nil
}

// callResult is what the model is told of one call, by its place in the turn from 0. All calls of the turn are made
// when the first of them is asked for: a framework that asks one by one still has them run side by side.
func (r *rounds) callResult(ctx context.Context, place int) (string, error) {
	if place < 0 || place >= len(r.reply.calls) {
		return "", errRounds
	}
	if r.results == nil {
		before := len(r.w.messages.list)
		if err := r.w.runTurnCalls(ctx, r.reply); err != nil {
			return "", err
		}
		r.results = make([]string, len(r.reply.calls))
		made := 0
		for _, m := range r.w.messages.list[min(before, len(r.w.messages.list)):] {
			if m.Role == llm.RoleTool && made < len(r.results) {
				r.results[made] = m.Text
				made++
			}
		}
	}
	return r.results[place], nil
}

// takeBack takes the run back from the framework, which returned err. It waits for a step that the framework left
// behind.
func (r *rounds) takeBack(err error) ([]chat.Payload, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	switch {
	case r.err != nil:
		return nil, r.err
	case err != nil:
		return nil, fmt.Errorf("agent framework: %w", err)
	case !r.ended:
		return nil, errRounds
	}
	return r.last, nil
}
