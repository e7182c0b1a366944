package run

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
)

// Why a run's context may end.
var (
	errCancelled = errors.New("cancelled by the user")
	errRevoked   = errors.New("the user has no valid key any more")
	errStopping  = errors.New("the server stops")
	errLeaving   = errors.New("the server stops, another one goes on")
	errLost      = errors.New("another server works on this run")
)

// Why a model's turn may end before the model has.
var (
	errAnswerNow = errors.New("answer now")
	errLate      = errors.New("the time for searching is over")
)

// Control steers a run under way from outside. It is safe for concurrent use. Each context has one meaning and ends for
// one reason: ctx stops the run, now forces its answer, leaving stops it here so that another server can go on.
type Control struct {
	user      string
	ctx       context.Context // of the run
	now       context.Context // ends with errAnswerNow when the user wants the answer now, and with the run
	leaving   context.Context // ends with errLeaving when nothing more is to begin here; ctx does not end it
	approvals approvals

	end, endNow, endLeaving context.CancelCauseFunc
}

// NewControl makes the control of a user's run, and the context to execute the run in. The caller calls Close when the
// run is over.
func NewControl(ctx context.Context, user string) (context.Context, *Control) {
	c := &Control{user: user, approvals: approvals{waiting: map[string]*approval{}, early: map[string]verdict{}}}
	c.ctx, c.end = context.WithCancelCause(ctx)
	c.now, c.endNow = context.WithCancelCause(c.ctx)
	c.leaving, c.endLeaving = context.WithCancelCause(context.WithoutCancel(ctx))
	return c.ctx, c
}

// Close frees what the contexts hold.
func (c *Control) Close() {
	c.end(nil)
	c.endNow(nil)
	c.endLeaving(nil)
}

// User returns whose run it is.
func (c *Control) User() string { return c.user }

// Cancel ends the run as its user wants.
func (c *Control) Cancel() { c.end(errCancelled) }

// Revoke ends the run because its user has lost the last valid key.
func (c *Control) Revoke() { c.end(errRevoked) }

// Interrupt ends the run because the server stops and no other one goes on.
func (c *Control) Interrupt() { c.end(errStopping) }

// Lose ends the run here, without a word in its log, because another server works on it. Whoever has the lease writes
// the log from here on.
func (c *Control) Lose() { c.end(errLost) }

// Leave begins nothing any more: calls under way may end, then another server goes on. It returns at once; LeaveAtOnce
// follows when calls under way take too long to end.
func (c *Control) Leave() { c.endLeaving(errLeaving) }

// LeaveAtOnce cuts off the calls under way that Leave lets end.
func (c *Control) LeaveAtOnce() { c.end(errLeaving) }

// AnswerNow makes the run answer from what it has.
func (c *Control) AnswerNow() { c.endNow(errAnswerNow) }

// Decide settles a call that waits for a person, or will wait in a moment: input replaces the model's unless it is
// nil. It reports whether that is news: the first decision stands.
func (c *Control) Decide(callID string, approved bool, input json.RawMessage) bool {
	return c.approvals.settleCall(callID, verdict{denied: !approved, input: input})
}

// Undecided returns the tool of a call that waits for a person. known is false for a call that does not wait, or not
// yet: one of a run that was taken over waits again in a moment.
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

// phase is what the model's next turn is for. A spent budget (budget.stop) makes it the answer in every phase.
// reviewReply and askAgain may lead from an answer back to gathering; each way back is limited, so a run ends.
type phase string

const (
	gathering            phase = ""           // the model may call tools
	answering            phase = "answering"  // the model answers: it has what it needs, or can't call tools
	answeringPreselected phase = "from rules" // the model answers from what the program chose to gather
	answeringTalk        phase = "talk"       // rules see nothing to search for; the model may call tools all the same
)

// modelRole is the part that the model of a run plays. The offline model is made of rules (agent/llm/offline). A run
// has it
// when the request names it (useRequested), or when it takes over as Config.Fallback because the language model failed
// or said nothing that holds (switchToFallback). Both are one role: advice, reviews and repairs are for language
// models.
type modelRole string

const (
	languageModel  modelRole = ""         // it writes freely: it is given advice, and its answers are reviewed
	ruleBasedModel modelRole = "fallback" // it quotes: asked for as "offline", or in the place of a model that failed
)

// isChosen reports whether rules chose what the model answers from.
func (p phase) isChosen() bool { return p == answeringPreselected || p == answeringTalk }

// mayCallTools reports whether the next turn may call tools.
func (m *modelCaller) mayCallTools() bool {
	return (m.phase == gathering || m.phase == answeringTalk) && m.budget.stop == "" && !m.isSmall()
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
func (m *modelCaller) switchToFallback() {
	m.model, m.role = m.cfg.Fallback, ruleBasedModel
	m.offerCheck()
}

// remedy is something that a run does at most once to get on. Its value is what the model is told, for those that tell
// it something.
type remedy string

// Remedies besides those that tell the model what is wrong with its answer.
const (
	reformulation remedy = "reformulation" // it was searched in other words
	translation   remedy = "translation"   // what is searched for was translated, or could not be
	pipelineRun   remedy = "pipeline"      // the fixed pipeline took over
	foundChecked  remedy = "check"         // the small model judged the passages that it is to answer from
	needJudged    remedy = "need"          // the judge was asked whether the message needs documents
	foundJudged   remedy = "judgement"     // what was found was judged, to search for what is missing
)

// remedies are those that a run has used.
type remedies map[remedy]bool
