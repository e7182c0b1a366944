// Package runlog reads runs for the handlers. A Reader returns a run's current state (a Trace), waits for its end, or
// streams its log. A Trace has the answer, the format of its footnotes (citation) and its reliability (judged).
//
// Input is the log of a run, event by event, from the store or live. Output is a Trace or a stream. follow.go
// streams the log to clients of our events, and branch.go selects the shown runs of a conversation.
//
// It must never change a run: connecting or disconnecting neither ends it nor adds to its log. Its output depends on
// the log only, so that a run looks the same to every authorised reader at any time.
package runlog

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// Reader reads runs: their current state, at their end, or as a stream. It is safe for concurrent use.
type Reader struct {
	Store   chat.Store
	Feed    *chat.Feed
	Streams *httpio.Streams
	Log     *slog.Logger
	frames  httpio.FramePool
}

// Trace is the state folded from a run's whole log: the body of GET /agent/runs/{id}.
//
// It is not safe for concurrent use.
type Trace struct {
	RunID     string          `json:"run_id"`
	SessionID string          `json:"session_id"`
	ParentID  string          `json:"parent_id,omitempty"` // The preceding run on its branch.
	Status    chat.RunStatus  `json:"status"`
	Question  string          `json:"question"`
	Model     string          `json:"model"`
	Mode      chat.Mode       `json:"mode"`
	Toolset   string          `json:"toolset"`
	Budget    chat.Budget     `json:"budget"` // The run's budget.
	Steps     []chat.Step     `json:"steps"`  // The last state of each step, in the order they began.
	Text      string          `json:"text"`   // The answer so far.
	Answer    *chat.Answer    `json:"answer"` // The complete answer; null before.
	Citations []chat.Citation `json:"citations"`
	Tokens    chat.Tokens     `json:"tokens"` // The model's tokens, of all steps and the answer.
	// The cost of all tokens, in the currency of the prices; left out when the model has no price.
	Cost *float64 `json:"cost,omitempty"`
	// The run's duration so far, in milliseconds.
	LatencyMS int64           `json:"latency_ms"`
	Error     *chat.StepError `json:"error,omitempty"`
	LastSeq   int64           `json:"last_seq"` // The sequence number of the last event included.
	CreatedAt time.Time       `json:"created_at"`
	EndedAt   *time.Time      `json:"ended_at,omitempty"` // When it ended.
	// The URL of the run's event stream as JSON.
	Events string          `json:"events"`
	Log    chat.Transcript `json:"-"` // the source of the fields above
	Style  CitationStyle   `json:"-"` // the question's style
}

// NewTrace returns the trace of a run before its first event.
//
// Its status and tokens are those of the run's row, until events replace them.
func NewTrace(run chat.Run) *Trace {
	t := &Trace{
		RunID: run.ID, SessionID: run.SessionID, ParentID: run.ParentID, Status: run.Status,
		Question: run.Request.Message,
		Toolset:  run.Request.Toolset, Mode: chat.ModeFullBook, Steps: []chat.Step{}, Citations: []chat.Citation{},
		Tokens:    run.Tokens,
		CreatedAt: run.CreatedAt, Events: "/agent/runs/" + run.ID + "/events",
		Style: CitationStyle(run.Request.CitationStyle),
	}
	if run.Request.ContextText != "" {
		t.Mode = chat.ModeContextConstrained
	}
	if !run.EndedAt.IsZero() {
		t.EndedAt = &run.EndedAt
	}
	return t
}

// Add applies an event. Events must be in order.
//
// It fails for an event that can't be decoded. An event applied before is ignored, and a gap is not detected.
func (t *Trace) Add(ev chat.Event) error {
	p, err := t.Log.Apply(ev)
	if err != nil {
		return err
	}
	t.LastSeq, t.Steps, t.Text, t.Citations = t.Log.LastSeq, httpio.NotNil(t.Log.Steps), t.Log.Text(), httpio.NotNil(
		t.Log.Citations,
	)
	switch p := p.(type) {
	case chat.RunStarted:
		t.Model, t.Mode, t.Toolset, t.Budget = p.Model, p.Mode, p.Toolset, p.Budget
	case chat.Answer:
		t.Answer, t.Tokens, t.Cost = t.Log.Answer, p.Tokens, p.Cost
	case chat.RunDone:
		t.Status, t.Error = p.Status, p.Error
		if t.EndedAt == nil {
			t.EndedAt = &ev.At
		}
		t.sumSteps()
	}
	return nil
}

// sumSteps sets latency, tokens and cost: from the answer or the run's end, else as the sum of the steps.
func (t *Trace) sumSteps() {
	t.LatencyMS = runLatency(t)
	if t.Answer != nil {
		return
	}
	if done := t.Log.Done; done != nil && done.Tokens != nil {
		t.Tokens, t.Cost = *done.Tokens, done.Cost
		return
	}
	spent := t.Log.Spent()
	t.Cost = spent.Cost
	if spent.Tokens != (chat.Tokens{}) {
		t.Tokens = spent.Tokens
	}
}

// StepsUsed returns the run's number of model turns, 0 while it is under way.
func (t *Trace) StepsUsed() int {
	switch {
	case t.Answer != nil:
		return t.Answer.StepsUsed
	case t.Log.Done != nil:
		return t.Log.Done.StepsUsed
	}
	return 0
}

// RetrievalCalls returns the number of tool calls that searched or read, without those not made. The end of a run
// has the number charged.
func (t *Trace) RetrievalCalls() int {
	if done := t.Log.Done; done != nil && done.RetrievalCalls > 0 {
		return done.RetrievalCalls
	}
	n := 0
	for _, step := range t.Steps {
		if step.Capability.Retrieves() && step.Status != chat.StatusSkipped && step.Status != chat.StatusPending {
			n++
		}
	}
	return n
}

// Run returns the run in a request's address.
func (r *Reader) Run(c httpio.Context) (chat.Run, error) {
	return r.Store.Run(c.Request().Context(), httpio.Scope(c), c.Param("id"))
}

// Trace returns a run with its log up to now.
//
// It fails with chat.CodeNotFound for a run that is missing or another user's, and chat.ErrDamaged for a damaged
// log.
func (r *Reader) Trace(ctx context.Context, scope chat.Scope, runID string) (*Trace, error) {
	run, err := r.Store.Run(ctx, scope, runID)
	if err != nil {
		return nil, err
	}
	return r.Walk(ctx, scope, run, nil)
}

// Walk is Trace for a run already read. It calls see, if not nil, with each event's payload after adding it to the
// trace.
func (r *Reader) Walk(
	ctx context.Context, scope chat.Scope, run chat.Run, see func(*Trace, chat.Payload) error,
) (*Trace, error) {
	t := NewTrace(run)
	for {
		page, err := r.Feed.Read(ctx, scope, run.ID, t.LastSeq)
		if err != nil {
			return nil, err
		}
		for _, entry := range page.Entries {
			if err := t.applyEvent(entry.Event, see); err != nil {
				return nil, err
			}
		}
		if page.Over || len(page.Entries) == 0 {
			t.sumSteps()
			return t, nil
		}
	}
}

// applyEvent adds an event and calls the function see, if not nil, with its payload.
func (t *Trace) applyEvent(ev chat.Event, see func(*Trace, chat.Payload) error) error {
	if err := t.Add(ev); err != nil || see == nil {
		return err
	}
	p, err := ev.Payload()
	if err != nil {
		return err
	}
	return see(t, p)
}

// Await follows a run to its end and returns its trace. The run continues if the client disconnects.
//
// It fails with ctx's error if ctx ends first, and with chat.CodeUnavailable if the server drains. A failed run is
// no error here: see FailureOf.
func (r *Reader) Await(ctx context.Context, scope chat.Scope, run chat.Run) (*Trace, error) {
	return r.Watch(ctx, scope, run, nil, nil)
}

// Watch is Walk to the run's end. It calls idle, if not nil, at each heartbeat without events. It returns the trace
// even if it fails.
func (r *Reader) Watch(
	ctx context.Context, scope chat.Scope, run chat.Run, see func(*Trace, chat.Payload) error, idle func() error,
) (*Trace, error) {
	t := NewTrace(run)
	err := r.Listen(ctx, scope, run.ID, func(ev chat.Event) error { return t.applyEvent(ev, see) }, idle)
	t.sumSteps()
	return t, err
}

// Listen calls add for each event of a run, in order, until the run is over, and idle, if not nil, at each heartbeat
// without events.
//
// The watch starts before the first read, so that no event is missed. The interval of idle is Streams.Heartbeat. An
// error of add or idle ends it and is returned unchanged.
func (r *Reader) Listen(
	ctx context.Context, scope chat.Scope, runID string, add func(chat.Event) error, idle func() error,
) error {
	wake, stop := r.Feed.Watch(runID)
	defer stop()
	heartbeat := time.NewTicker(r.Streams.Heartbeat)
	defer heartbeat.Stop()
	read := r.Feed.Read
	// The first read queries the store. Later ones may use the cache, since the watch signals each append.
	for after := int64(0); ; read = r.Feed.ReadWatched {
		news := wake()
		page, err := read(ctx, scope, runID, after)
		if err != nil {
			return err
		}
		for _, entry := range page.Entries {
			if err := add(entry.Event); err != nil {
				return err
			}
			after = entry.Seq
		}
		if page.Over {
			return nil
		}
		if len(page.Entries) > 0 {
			continue
		}
		select {
		case <-news:
		case <-heartbeat.C:
			if idle == nil {
				continue
			}
			if err := idle(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-r.Streams.Draining:
			return &chat.Error{
				Code: chat.CodeUnavailable,
				Message: "The server is restarting. Your question is saved. Follow its run, or ask again in a few " +
					"seconds.",
			}
		}
	}
}

// Output returns a step's complete output: the stored one if the event is truncated.
//
// It fails with chat.CodeNotFound for a step without output so far.
func (r *Reader) Output(ctx context.Context, scope chat.Scope, runID, callID string) (json.RawMessage, error) {
	full, err := r.Store.StepOutput(ctx, scope, runID, callID)
	if err == nil || chat.CodeOf(err) != chat.CodeNotFound {
		return full, err
	}
	t, err := r.Trace(ctx, scope, runID)
	if err != nil {
		return nil, err
	}
	step, ok := t.Log.Step(callID)
	if !ok || len(step.ToolOutput) == 0 {
		return nil, httpio.NotFound("Step not found, or it has no output yet. See the run for its steps.")
	}
	return step.ToolOutput, nil
}
