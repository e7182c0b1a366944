package run

import (
	"context"

	"footnote/agent/tools"
	"footnote/chat"
	"footnote/llm"
)

// answerLoop lets the model work until it answers, and returns what ends the run's log but for run_done. An error ends
// the run. What is called a framework here only decides the order of turns and calls: without one in the settings,
// driveOwnLoop does. Its context ends before the run is taken back, so that nothing of it goes on.
func (w *Runner) answerLoop(ctx context.Context) ([]chat.Payload, error) {
	drive := w.cfg.Framework
	if drive == nil {
		drive = driveOwnLoop
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &rounds{w: w}
	err := drive(ctx, r.asRounds())
	cancel()
	return r.takeBack(err)
}

// nextReply asks the model for a turn, and again until the reply has calls or its answer is good enough. With an
// answer, last holds the events that end the run's log. A turn may be asked for again because it was empty, rested on
// nothing, had no footnotes, or because the model that only chooses tools is done. Each of these happens a limited
// number of times (remedies, maxRepairs, maxCuts), so it ends.
func (w *Runner) nextReply(ctx context.Context) (r reply, last []chat.Payload, err error) {
	for {
		if ok, err := w.selector.quoteAgain(ctx); ok || err != nil {
			return w.reviewer.lastReply(ctx, err)
		}
		w.budget.checkLimits()
		if w.budget.badTurns > maxRepairs || w.budget.cutTurns >= maxCuts {
			if _, err := w.selector.fallBackToPipeline(ctx); err != nil {
				return reply{}, nil, err
			}
		}
		if err := w.messages.shortenOldResults(ctx); err != nil {
			return reply{}, nil, err
		}
		aside := w.messages.ephemeral
		if r, err = w.model.completeTurn(ctx); err != nil {
			return w.reviewer.orEarlier(ctx, err)
		}
		if w.model.answerIfDeclined(r, aside) {
			continue
		}
		if answer, args, ok := w.answerInCall(r); ok {
			if r, err = w.reviewer.writeFinishAnswer(ctx, r, answer, args); err != nil {
				return reply{}, nil, err
			}
		}
		if len(r.calls) > 0 {
			return r, nil, nil
		}
		text, err := w.log.writer.Finish(ctx)
		if err != nil {
			return reply{}, nil, err
		}
		if r.finish == llm.FinishFilter || r.finish == llm.FinishRefusal {
			return w.reviewer.orEarlier(ctx, &chat.Error{
				Code: chat.CodeGuardrail, Message: "The model's provider refused to answer this. Ask in other words.",
			})
		}
		again, err := w.reviewer.reviewReply(ctx, r, text)
		if err != nil {
			return w.reviewer.orEarlier(ctx, err)
		}
		if again {
			continue
		}
		if again, err = w.reviewer.reconsiderAnswer(ctx); err != nil {
			return reply{}, nil, err
		}
		if again {
			continue
		}
		if text, err = w.reviewer.finishAnswer(ctx); err != nil {
			return reply{}, nil, err
		}
		last, err = w.reviewer.lastEvents(text, r.finish)
		return r, last, err
	}
}

// runTurnCalls makes the calls of a turn and looks at what came of them. The first calls that the model chose by itself
// are remembered: they may serve a similar question later.
func (w *Runner) runTurnCalls(ctx context.Context, r reply) error {
	if w.selector.first == nil && r.finish != llm.FinishLength {
		w.selector.first = r.calls
	}
	if err := w.calls.runCalls(ctx, r); err != nil {
		return err
	}
	if err := w.selector.reformulateQuery(ctx); err != nil {
		return err
	}
	if w.model.toolSelection() != tools.SelectAuto || w.model.phase != gathering {
		return nil
	}
	_, err := w.selector.stopEarly(ctx)
	return err
}
