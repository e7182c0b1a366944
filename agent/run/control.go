package run

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
)

// Causes of a run's cancelled context.
var (
	errCancelled = errors.New("canceled by the user")
	errRevoked   = errors.New("the user has no valid key")
	errStopping  = errors.New("the server is shutting down")
	errLeaving   = errors.New("the server is shutting down; another server continues")
	errLost      = errors.New("another server executes this run")
)

// Causes for cutting a model's turn short.
var (
	errAnswerNow = errors.New("answer now")
	errLate      = errors.New("the time limit of the search expired")
)

// Control steers a run from outside. It is safe for concurrent use. Each context has one meaning: ctx cancels the
// run, now forces its answer, and leaving stops it on this server so that another server can resume it.
type Control struct {
	user      string
	ctx       context.Context // of the run
	now       context.Context // cancelled with errAnswerNow when the user wants the answer now, and with the run
	leaving   context.Context // cancelled with errLeaving when no new work may start here; independent of ctx
	approvals approvals

	end, endNow, endLeaving context.CancelCauseFunc
}

// NewControl returns the control of a user's run, and the context to execute the run in. The caller must call Close
// when the run is over.
func NewControl(ctx context.Context, user string) (context.Context, *Control) {
	c := &Control{user: user, approvals: approvals{waiting: map[string]*approval{}, early: map[string]verdict{}}}
	c.ctx, c.end = context.WithCancelCause(ctx)
	c.now, c.endNow = context.WithCancelCause(c.ctx)
	c.leaving, c.endLeaving = context.WithCancelCause(context.WithoutCancel(ctx))
	return c.ctx, c
}

// Close releases the resources of the contexts.
func (c *Control) Close() {
	c.end(nil)
	c.endNow(nil)
	c.endLeaving(nil)
}

// User returns the user that owns the run.
func (c *Control) User() string { return c.user }

// Cancel cancels the run at the user's request.
func (c *Control) Cancel() { c.end(errCancelled) }

// Revoke cancels the run because the user's last valid key was revoked.
func (c *Control) Revoke() { c.end(errRevoked) }

// Interrupt cancels the run because the server stops and no other server resumes it.
func (c *Control) Interrupt() { c.end(errStopping) }

// StopWithoutEvent stops the run on this server, without an event in its log, because another server executes it. Only
// the holder of the lease writes the log.
func (c *Control) StopWithoutEvent() { c.end(errLost) }

// HandOver starts a graceful handover: no new calls start, running ones may finish, then another server resumes the
// run. It returns at once. HandOverNow follows if running calls take too long.
func (c *Control) HandOver() { c.endLeaving(errLeaving) }

// HandOverNow cancels the running calls that Leave lets finish.
func (c *Control) HandOverNow() { c.end(errLeaving) }

// AnswerNow forces the run to answer from its results so far.
func (c *Control) AnswerNow() { c.endNow(errAnswerNow) }

// Decide settles a call that waits for approval, or will wait in a moment. A non-nil input replaces the model's. It
// reports whether this is the first decision; later ones have no effect.
func (c *Control) Decide(callID string, approved bool, input json.RawMessage) bool {
	return c.approvals.settleCall(callID, verdict{denied: !approved, input: input})
}

// Undecided returns the tool of a call that waits for approval. known is false for a call that does not wait, or not
// yet. A call of a taken-over run waits again in a moment. It fails with CodeConflict if the run was cancelled or
// the call decided.
func (c *Control) Undecided(callID string) (t *tools.Tool, known bool, err error) {
	t, known, settled := c.approvals.findCall(callID)
	switch {
	case c.ctx.Err() != nil:
		return nil, known, &chat.Error{Code: chat.CodeConflict, Message: "This answer was stopped."}
	case settled:
		return nil, true, ErrDecided
	}
	return t, known, nil
}

// phase is the purpose of the model's next turn. A spent budget (budget.stop) makes it the answer in every phase.
// reviewReply and retryReply may return from an answer to gathering. Each such retry is limited, so a run ends.
type phase string

const (
	gathering            phase = ""           // the model may call tools
	answering            phase = "answering"  // the model answers: it has enough, or can't call tools
	answeringPreselected phase = "from rules" // the model answers from calls that rules chose
	answeringTalk        phase = "talk"       // rules found nothing to search for; the model may still call tools
)

// modelRole is the role of a run's model. The offline model is made of rules (agent/llm/offline). A run uses it if
// the request names it (useRequested), or as Config.Fallback if the language model failed or wrote nothing that
// holds (switchToFallback). Both cases are one role: advice, reviews and repairs apply only to language models.
type modelRole string

const (
	languageModel  modelRole = ""         // writes freely: gets advice, and its answers are reviewed
	ruleBasedModel modelRole = "fallback" // quotes: requested as "offline", or the fallback for a failed model
)

// isChosen reports whether rules chose the evidence for the answer.
func (p phase) isChosen() bool { return p == answeringPreselected || p == answeringTalk }

// mayCallTools reports whether the next turn may call tools.
func (m *modelCaller) mayCallTools() bool {
	return (m.phase == gathering || m.phase == answeringTalk) && m.budget.stop == "" && !m.isSmall()
}

// answerNext makes the next turn the answer, unless rules already set the phase.
func (s *state) answerNext() {
	if s.phase == gathering {
		s.phase = answering
	}
}

// isRuleBased reports whether the run's model is the rule-based one, as requested or as fallback.
func (m *modelCaller) isRuleBased() bool { return m.role == ruleBasedModel }

// switchToFallback switches the rest of the run to Config.Fallback, which is the offline model wherever it is set.
func (m *modelCaller) switchToFallback() {
	m.model, m.role = m.cfg.Fallback, ruleBasedModel
	m.offerCheck()
}

// remedy is a corrective step that a run takes at most once. Its value is the prompt for the model, if it has one.
type remedy string

// Remedies without a prompt for the model.
const (
	reformulation remedy = "reformulation" // a search was repeated in other words
	translation   remedy = "translation"   // the query was translated, or could not be
	pipelineRun   remedy = "pipeline"      // the fixed pipeline replaced the model's choice of tools
	foundChecked  remedy = "check"         // the small model checked the passages for its answer
	needJudged    remedy = "need"          // the judge decided whether the message needs documents
	foundJudged   remedy = "judgement"     // the results were judged, to search for missing ones
)

// remedies is the set of remedies that a run has used.
type remedies map[remedy]bool
