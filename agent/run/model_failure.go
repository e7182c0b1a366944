package run

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// rateLimit says how long a turn waits for a model's server that refuses it because of its rate limit. This is the only
// place that tries a rate-limited turn again: below it, httpllm.Retry waits for the rate limit of embeddings alone. The
// zero value is ready to use. It belongs to one turn: the next one begins with the short waits again.
type rateLimit struct {
	busyReplies int
	told        bool // the server named a wait before, and it was too short
}

// nextWait returns how long to wait after a refusal, and false when it was the last: 5, 10, 20, 40, 60 s. The first
// wait that the server names replaces its step; those after it are lower bounds, since the first did not suffice.
func (l *rateLimit) nextWait(named time.Duration) (time.Duration, bool) {
	// 135 s in all, less than half of the usual 300 s of a run
	steps := [...]time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 60 * time.Second}
	if l.busyReplies == len(steps) {
		return 0, false
	}
	wait := steps[l.busyReplies]
	l.busyReplies++
	if named > 0 {
		least := max(named, leastWait)
		least += rand.N(least / 16) // a little apart from others who were told the same
		if !l.told {
			wait = 0
		}
		l.told, wait = true, max(wait, least)
	}
	return wait, true
}

// waitForServer lets a rate limit pass, visibly. A user who wants the answer now ends it. The step shows how long it
// takes, so that a silent run can be told from one that hangs.
func (m *modelCaller) waitForServer(ctx context.Context, d time.Duration) error {
	step := m.log.newStep("rate_limit", chat.ActionThinking, chat.StatusRunning,
		fmt.Sprintf("The model's server is busy: trying again in %d s", int(d.Round(time.Second).Seconds())))
	if err := m.log.emitEvents(ctx, m.log.trackStep(step)); err != nil {
		return err
	}
	begin := time.Now()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-m.control.now.Done():
	case <-m.control.leaving.Done():
	case <-ctx.Done():
	}
	if cause := m.stopCause(ctx); cause != nil { // before m.control.now, which ends with ctx
		return cause
	}
	step.Status, step.ToolStatus, step.DurationMS, step.Timestamp = chat.StatusComplete, chat.StatusComplete, sinceMS(
		begin,
	), nowSeconds()
	step.Message = fmt.Sprintf(
		"Waited %d s for the model's server", int(time.Since(begin).Round(time.Second).Seconds()),
	)
	if m.control.now.Err() != nil { // no more waiting: the offline engine answers at once
		if err := m.log.emitEvents(ctx, m.log.trackStep(step)); err != nil {
			return err
		}
		m.budget.stop = chat.StopAnswerNow
		return m.fallBack(ctx, &llm.Error{Kind: llm.KindRateLimited, Message: "the model's server asked to wait"})
	}
	return m.log.emitEvents(ctx, m.log.trackStep(step))
}

// fallBack gives the rest of the run to the fallback model and says so; without one, the run ends with the model's
// failure. The step and the error say what failed in words for the user; the cause is logged here, once. A run that
// quotes already has nothing to fall back to.
func (m *modelCaller) fallBack(ctx context.Context, e *llm.Error) error {
	reason, _ := explainFailure(e, m.run.User)
	failed := &chat.Error{Code: chat.CodeModelFailed, Message: m.explainFor(e), Err: e}
	if m.isRuleBased() || m.cfg.Fallback == nil {
		m.cfg.Log.ErrorContext(
			ctx, "model failed", "run", m.run.ID, "model", m.model.Name(), "kind", e.Kind, "error", e,
		)
		return failed
	}
	m.cfg.Log.ErrorContext(
		ctx, "model failed, falling back", "run", m.run.ID, "model", m.model.Name(), "kind", e.Kind, "error", e,
	)
	step := m.log.newStep("fallback", chat.ActionThinking, chat.StatusError,
		fmt.Sprintf(
			"The model %s can't answer, because %s: going on with %s instead", m.model.Name(), reason,
			m.cfg.Fallback.Name(),
		))
	step.Error = &chat.StepError{Code: chat.CodeModelFailed, Message: failed.Message, Retryable: e.Retryable()}
	step.Details = map[string]any{"kind": e.Kind, "instead": m.cfg.Fallback.Name()}
	if e.Kind != llm.KindEmpty && e.Kind != llm.KindTooLong {
		m.judge = nil // it would fail at checks as well
	}
	return m.goOnWithFallback(ctx, step)
}

// goOnWithFallback makes the fallback the run's model: what was shown is taken back into the step, the messages for one
// turn are dropped, and a text that came with the question is given to it as if it had read it. The phase is gathering
// again: the fallback chooses its own tools, with what the budget has left.
func (m *modelCaller) goOnWithFallback(ctx context.Context, step chat.Step) error {
	m.switchToFallback()
	m.messages.ephemeral, m.phase = nil, gathering
	if err := m.giveTextToFallback(); err != nil {
		return err
	}
	return m.log.takeAnswerBack(ctx, step)
}

// quoteInstead gives the rest of the run to the fallback, because what the model says is no answer.
func (m *modelCaller) quoteInstead(ctx context.Context, why string) error {
	step := m.log.newStep("fallback", chat.ActionThinking, chat.StatusComplete, why)
	step.Details = map[string]any{"kind": "unsupported", "instead": m.cfg.Fallback.Name()}
	return m.goOnWithFallback(ctx, step)
}

// explainFor is what the user of a run is told of a model that failed.
func (m *modelCaller) explainFor(e *llm.Error) string {
	reason, advice := explainFailure(e, m.run.User)
	return fmt.Sprintf("The model %s can't answer, because %s: %s.", m.model.Name(), reason, advice)
}

// explainFailure says why a model failed and what a user can do, both to be set into a sentence. The model's own words,
// which name settings, are in the log and in footnote doctor alone: the local user, who runs the server, is sent there.
func explainFailure(e *llm.Error, user string) (reason, advice string) {
	soon, tell := "ask again in a moment", "tell whoever runs this server"
	if user == chat.LocalUser {
		tell = "“footnote doctor” and the server's log say more"
		soon += "; " + tell
	}
	switch e.Kind {
	case llm.KindUnreachable:
		return "its server can't be reached", soon
	case llm.KindTimeout:
		return "its server took too long", soon
	case llm.KindIncomplete:
		return "its reply broke off", soon
	case llm.KindEmpty:
		return "its reply was empty", soon
	case llm.KindRateLimited:
		return "its server is too busy", soon
	case llm.KindQuota:
		return "what was paid for it is used up", tell
	case llm.KindAuth:
		return "its server refused this server's key", tell
	case llm.KindInvalid:
		return "its server refused the request", tell
	case llm.KindProtocol, llm.KindBadCall:
		return "its reply could not be read", soon
	case llm.KindTooLong:
		return "the conversation is too long for it", "start a new one, or ask for less at once"
	case llm.KindServer, llm.KindCancelled:
		return "its server failed", soon
	}
	return "its server failed", soon
}

// repairCall meets a tool call that the model's server could not read. The first time the model hears of it, the second
// time it must answer from what there is. The server's own words go along, at most 300 characters: they often name the
// place of the mistake.
func (m *modelCaller) repairCall(ctx context.Context, e *llm.Error) error {
	m.badCalls++
	message, told := "The model's tool call could not be read: asking for it again",
		"Your last tool call could not be read: write it again, as the tool's schema says."
	if m.badCalls == maxBadCalls {
		m.answerNext()
		message, told = "The model's tool call could not be read again: asking for the answer",
			"Your tool calls can't be read. Answer now, in plain text, from what you have."
	}
	if e.Err != nil {
		told += " The server said: " + text.Shorten(strings.TrimSpace(e.Err.Error()), 300)
	}
	step := m.log.newStep("review", chat.ActionThinking, chat.StatusError, message)
	step.Error = &chat.StepError{Code: chat.CodeModelFailed, Message: m.explainFor(e), Retryable: true}
	m.messages.ephemeral = []llm.Message{{Role: llm.RoleUser, Aside: true, Text: told}}
	return m.log.takeAnswerBack(ctx, step)
}

// leastCounted is how many tokens a server must count before its count says anything: of a short prompt the estimate
// (four bytes a token) may be wrong by more than half. A longer prompt of which less than half is counted was cut.
const leastCounted = 1000

// checkPrompt says once when the model's server seems to have dropped a part of the prompt without a word, as servers
// do whose context is set too small. Ollama does so with its usual context; the answer stands, since nobody knows what
// was dropped.
func (m *modelCaller) checkPrompt(ctx context.Context, req llm.Request, u *llm.Usage) error {
	if u == nil || m.lossTold || m.isRuleBased() || u.In < leastCounted {
		return nil
	}
	sent := estimateRequest(req)
	if u.In*2 >= sent {
		return nil
	}
	m.lossTold = true
	m.cfg.Log.WarnContext(
		ctx,
		"the model's server counts far fewer tokens than were sent: its context may be too small",
		"run",
		m.run.ID,
		"model",
		m.model.Name(),
		"sent",
		sent,
		"counted",
		u.In,
	)
	return m.log.emitEvents(ctx, m.log.newStep("notice", chat.ActionThinking, chat.StatusError, fmt.Sprintf(
		"The model's server read only about %d of %d tokens: its context is set too small, and the answer may miss "+
			"something. With Ollama, OLLAMA_CONTEXT_LENGTH sets it",
		u.In,
		sent,
	)))
}

// saysNothing reports whether a reply is no answer: numbers of passages alone, or besides only the question again, its
// words in the question's order. It compares words, in any language that separates them. A reply with a word of its own
// is an answer, and so is one that turns the question into a statement: “The roof is good” for “Is the roof good?”.
// More than half of the question's words have to be there: fewer may be the choice that it asks for.
func saysNothing(reply, asked string) bool {
	place := map[string]int{} // of each word of the question, where it comes first
	for word := range lowerWords(asked) {
		if _, known := place[word]; !known {
			place[word] = len(place)
		}
	}
	said, last := map[string]bool{}, -1
	for word := range lowerWords(cite.WithoutMarkers(reply)) {
		if said[word] {
			continue
		}
		at, known := place[word]
		if !known || at < last {
			return false
		}
		said[word], last = true, at
	}
	return 2*len(said) > len(place) || len(said) == 0 // else it chooses one of what the question names
}

// lowerWords are the words of a text, in lower case.
func lowerWords(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
