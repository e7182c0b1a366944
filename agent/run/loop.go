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
		if ok, err := w.quoteAgain(ctx); ok || err != nil {
			return w.lastReply(ctx, err)
		}
		w.budget.checkLimits()
		if w.budget.badTurns > maxRepairs || w.budget.cutTurns >= maxCuts {
			if _, err := w.fallBackToPipeline(ctx); err != nil {
				return reply{}, nil, err
			}
		}
		if err := w.shortenOldResults(ctx); err != nil {
			return reply{}, nil, err
		}
		aside := w.messages.ephemeral
		if r, err = w.model.completeTurn(ctx); err != nil {
			return w.orEarlier(ctx, err)
		}
		if w.model.answerIfDeclined(r, aside) {
			continue
		}
		if answer, args, ok := w.answerInCall(r); ok {
			if r, err = w.writeFinishAnswer(ctx, r, answer, args); err != nil {
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
			return w.orEarlier(ctx, &chat.Error{
				Code: chat.CodeGuardrail, Message: "The model's provider refused to answer this. Ask in other words.",
			})
		}
		again, err := w.reviewReply(ctx, r, text)
		if err != nil {
			return w.orEarlier(ctx, err)
		}
		if again {
			continue
		}
		if again, err = w.reconsiderAnswer(ctx); err != nil {
			return reply{}, nil, err
		}
		if again {
			continue
		}
		if text, err = w.finishAnswer(ctx); err != nil {
			return reply{}, nil, err
		}
		last, err = w.lastEvents(text, r.finish)
		return r, last, err
	}
}

// runTurnCalls makes the calls of a turn and looks at what came of them. The first calls that the model chose by itself
// are remembered: they may serve a similar question later.
func (w *Runner) runTurnCalls(ctx context.Context, r reply) error {
	if w.firstCalls == nil && r.finish != llm.FinishLength {
		w.firstCalls = r.calls
	}
	if err := w.calls.runCalls(ctx, r); err != nil {
		return err
	}
	if err := w.reformulateQuery(ctx); err != nil {
		return err
	}
	if w.model.toolSelection() != tools.SelectAuto || w.phase != gathering {
		return nil
	}
	_, err := w.stopEarly(ctx)
	return err
}

// phase is what the model's next turn is for. A spent budget (budget.stop) makes it the answer in every phase.
type phase string

const (
	gathering            phase = ""           // the model may call tools
	answering            phase = "answering"  // the model answers: it has what it needs, or can't call tools
	answeringPreselected phase = "from rules" // the model answers from what the program chose to gather
)

// modelRole is the part that the model of a run plays. The offline model is made of rules (llm/offline). A run has it
// when the request names it (useRequested), or when it takes over as Config.Fallback because the language model failed
// or said nothing that holds (switchToFallback). Both are one role: advice, reviews and repairs are for language
// models.
type modelRole string

const (
	languageModel  modelRole = ""         // it writes freely: it is given advice, and its answers are reviewed
	ruleBasedModel modelRole = "fallback" // it quotes: asked for as "offline", or in the place of a model that failed
)

// mayCallTools reports whether the next turn may call tools.
func (m *modelCaller) mayCallTools() bool {
	return m.phase == gathering && m.budget.stop == "" && !m.isSmall()
}

// answerNext makes the next turn the answer, also when rules chose what was gathered.
func (s *state) answerNext() {
	if s.phase == gathering {
		s.phase = answering
	}
}

// isRuleBased reports whether the run's model is the one made of rules: asked for, or because the other failed.
func (m *modelCaller) isRuleBased() bool { return m.role == ruleBasedModel }

// switchToFallback gives the rest of the run to Config.Fallback, which is the offline model wherever it is set.
func (m *modelCaller) switchToFallback() { m.model, m.role = m.cfg.Fallback, ruleBasedModel }

// remedy is something that a run does at most once to get on.
type remedy string

// Remedies besides those that tell the model what is wrong with its answer.
const (
	reformulation remedy = "reformulation" // it was searched in other words
	translation   remedy = "translation"   // what is searched for was translated, or could not be
	pipelineRun   remedy = "pipeline"      // the fixed pipeline took over
)

// remedies are those that a run has used.
type remedies map[remedy]bool
