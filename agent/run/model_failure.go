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
	"github.com/footnote/footnote/text/locale"
)

// rateLimit computes the backoff of a turn whose server reports a rate limit. This is the only place that retries a
// rate-limited turn: below it, httpllm.Retry waits for the rate limit of embeddings alone. The zero value is ready
// to use. It is for one turn: the next one starts with the short waits again.
type rateLimit struct {
	busyReplies int
	told        bool // the server named a wait before, and it was too short
}

// nextWait returns the wait before the next retry, and false after the last: 5, 10, 20, 40, 60 s. The first wait
// that the server names replaces its step; later ones are lower bounds, since the first did not suffice.
func (l *rateLimit) nextWait(named time.Duration) (time.Duration, bool) {
	// 135 s in all, less than half of a run's usual 300 s
	steps := [...]time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 60 * time.Second}
	if l.busyReplies == len(steps) {
		return 0, false
	}
	wait := steps[l.busyReplies]
	l.busyReplies++
	if named > 0 {
		least := max(named, leastWait)
		least += rand.N(least / 16) // jitter, to spread clients that got the same wait
		if !l.told {
			wait = 0
		}
		l.told, wait = true, max(wait, least)
	}
	return wait, true
}

// waitForServer waits for a rate limit to pass. A user who wants the answer now ends the wait. Its step shows the
// duration, so that readers can distinguish a waiting run from a hanging one.
func (m *modelCaller) waitForServer(ctx context.Context, d time.Duration) error {
	step := m.log.newStep("rate_limit", chat.ActionThinking, chat.StatusRunning, locale.Message(
		fmt.Sprintf("The model's server is busy: retrying in %d s", int(d.Round(time.Second).Seconds())),
	))
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
	if cause := m.stopCause(ctx); cause != nil { // before m.control.now, which is cancelled with ctx
		return cause
	}
	step.Status, step.ToolStatus, step.DurationMS, step.Timestamp = chat.StatusComplete, chat.StatusComplete, sinceMS(
		begin,
	), nowSeconds()
	step.Message = step.Forms.Say(locale.Say(
		"Waited {1} s for the model server", int(time.Since(begin).Round(time.Second).Seconds()),
	))
	if m.control.now.Err() != nil { // no more waiting: the fallback answers at once
		if err := m.log.emitEvents(ctx, m.log.trackStep(step)); err != nil {
			return err
		}
		m.budget.stop = chat.StopAnswerNow
		return m.fallBack(ctx, &llm.Error{Kind: llm.KindRateLimited, Message: "the model server's rate limit was " +
			"exceeded"})
	}
	return m.log.emitEvents(ctx, m.log.trackStep(step))
}

// fallBack gives the rest of the run to the fallback model and emits a step. Without one, the run ends with the
// model's failure. The step and the error have a user-facing message; the cause is only logged, once. It fails for a
// run that already uses the fallback.
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
		locale.Message(fmt.Sprintf(
			"The model %s can't answer, because %s: continuing with %s", m.model.Name(), reason,
			m.cfg.Fallback.Name(),
		)))
	step.Error = chat.NewStepError(chat.CodeModelFailed, failed.Message, e.Retryable())
	step.Details = map[string]any{"kind": e.Kind, "instead": m.cfg.Fallback.Name()}
	if e.Kind != llm.KindEmpty && e.Kind != llm.KindTooLong {
		m.judge = nil // it would fail at checks as well
	}
	return m.continueWithFallback(ctx, step)
}

// continueWithFallback makes the fallback the run's model. The visible text is taken back into the step, ephemeral
// messages are dropped, and a given text is added as a tool result. The phase is gathering again: the fallback
// chooses its own tools within the remaining budget.
func (m *modelCaller) continueWithFallback(ctx context.Context, step chat.Step) error {
	m.switchToFallback()
	m.messages.ephemeral, m.phase = nil, gathering
	if err := m.addTextForFallback(); err != nil {
		return err
	}
	return m.log.retractAnswer(ctx, step)
}

// switchToQuotes gives the rest of the run to the fallback because the model's text is no answer.
func (m *modelCaller) switchToQuotes(ctx context.Context, why locale.Message) error {
	step := m.log.newStep("fallback", chat.ActionThinking, chat.StatusComplete, why)
	step.Details = map[string]any{"kind": "unsupported", "instead": m.cfg.Fallback.Name()}
	return m.continueWithFallback(ctx, step)
}

// explainFor returns the user-facing message for a failed model.
func (m *modelCaller) explainFor(e *llm.Error) locale.Message {
	reason, advice := explainFailure(e, m.run.User)
	return locale.Message(
		fmt.Sprintf("The model %s can't answer, because %s: %s.", m.model.Name(), reason, advice),
	)
}

// explainFailure returns why a model failed and the user's remedy, as clauses of a sentence. The server's own
// message names settings, so it is only in the log and in footnote doctor. The local user, who runs the server, is
// referred to them.
func explainFailure(e *llm.Error, user string) (reason, advice string) {
	soon, tell := "try again in a moment", "contact your administrator"
	if user == chat.LocalUser {
		tell = "see “footnote doctor” and the server's log"
		soon += "; " + tell
	}
	switch e.Kind {
	case llm.KindUnreachable:
		return "its server can't be reached", soon
	case llm.KindTimeout:
		return "its server timed out", soon
	case llm.KindIncomplete:
		return "its reply was incomplete", soon
	case llm.KindEmpty:
		return "its reply was empty", soon
	case llm.KindRateLimited:
		return "its server is overloaded", soon
	case llm.KindQuota:
		return "its credit or quota is used up", tell
	case llm.KindAuth:
		return "its server rejected the API key", tell
	case llm.KindInvalid:
		return "its server rejected the request", tell
	case llm.KindProtocol, llm.KindBadCall:
		return "its reply was invalid", soon
	case llm.KindTooLong:
		return "the conversation exceeds its context limit", "start a new one, or ask for less at once"
	case llm.KindServer, llm.KindCancelled:
		return "its server failed", soon
	}
	return "its server failed", soon
}

// repairCall handles a tool call that the model's server could not parse. The first time the model is asked to
// repeat it, the second time it must answer from its results. The prompt includes the server's message, at most 300
// characters, since it often names the place of the error.
func (m *modelCaller) repairCall(ctx context.Context, e *llm.Error) error {
	m.badCalls++
	message, told := locale.Message("The model's tool call was invalid: requesting it again"),
		"Your last tool call could not be read: write it again, as the tool's schema says."
	if m.badCalls == maxBadCalls {
		m.answerNext()
		message, told = "The model's tool call was invalid again: requesting the answer",
			"Your tool calls can't be read. Answer now, in plain text, from what you have."
	}
	if e.Err != nil {
		told += " The server said: " + text.Shorten(strings.TrimSpace(e.Err.Error()), 300)
	}
	step := m.log.newStep("review", chat.ActionThinking, chat.StatusError, message)
	step.Error = chat.NewStepError(chat.CodeModelFailed, m.explainFor(e), true)
	m.messages.ephemeral = []llm.Message{{Role: llm.RoleUser, Aside: true, Text: told}}
	return m.log.retractAnswer(ctx, step)
}

// leastCounted is the minimum token count by a server that can indicate a cut prompt. For a short prompt the
// estimate (four bytes a token) may be wrong by more than half. A longer prompt counted at less than half was cut.
const leastCounted = 1000

// checkPrompt emits one notice if the model's server seems to have silently dropped a part of the prompt. Servers
// with a small context do so, as Ollama with its usual context. The answer stands, since the dropped part is
// unknown.
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
		"the model server counted far fewer tokens than were sent: its context may be too small",
		"run",
		m.run.ID,
		"model",
		m.model.Name(),
		"sent",
		sent,
		"counted",
		u.In,
	)
	return m.log.emitEvents(
		ctx,
		m.log.newStep("notice", chat.ActionThinking, chat.StatusError, locale.Message(fmt.Sprintf(
			"The model's server read only about %d of %d tokens: its context is set too small, and the answer may "+
				"miss something. With Ollama, OLLAMA_CONTEXT_LENGTH sets it",
			u.In,
			sent,
		))),
	)
}

// repeatsQuestion reports whether a reply is no answer: only numbers of passages, or besides only words of the question
// in the question's order. It compares words, in any language that separates them. A reply with another word is an
// answer, and so is one that turns the question into a statement: “The roof is good” for “Is the roof good?”. More
// than half of the question's words must occur: fewer may be a choice between alternatives.
func repeatsQuestion(reply, asked string) bool {
	place := map[string]int{} // position of each word's first occurrence in the question
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
	return 2*len(said) > len(place) || len(said) == 0 // else it chooses one of the alternatives in the question
}

// lowerWords returns an iterator over the words of a text, in lower case.
func lowerWords(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
