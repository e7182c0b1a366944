package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"footnote/chat"
	"footnote/server/httpio"
)

// runReader reads runs: whole, to their end, or as a stream that follows them. It is safe for concurrent use.
type runReader struct {
	store   chat.Store
	feed    *chat.Feed
	streams *httpio.Streams
	log     *slog.Logger
	frames  httpio.FramePool
}

// trace is a run with its whole log folded into one picture: the body of GET /agent/runs/{id}.
type trace struct {
	RunID     string          `json:"run_id"`
	SessionID string          `json:"session_id"`
	ParentID  string          `json:"parent_id,omitempty"`
	Status    chat.RunStatus  `json:"status"`
	Question  string          `json:"question"`
	Model     string          `json:"model"`
	Mode      chat.Mode       `json:"mode"`
	Toolset   string          `json:"toolset"`
	Budget    chat.Budget     `json:"budget"`
	Steps     []chat.Step     `json:"steps"`  // the last state of each, in the order they began
	Text      string          `json:"text"`   // the answer so far
	Answer    *chat.Answer    `json:"answer"` // null until there is one
	Citations []chat.Citation `json:"citations"`
	Tokens    chat.Tokens     `json:"tokens"`         // of all steps and the answer
	Cost      *float64        `json:"cost,omitempty"` // of Tokens, when the model has a price
	LatencyMS int64           `json:"latency_ms"`     // from the question to the end, or to the last event
	Error     *chat.StepError `json:"error,omitempty"`
	LastSeq   int64           `json:"last_seq"`
	CreatedAt time.Time       `json:"created_at"`
	EndedAt   *time.Time      `json:"ended_at,omitempty"`
	Events    string          `json:"events"` // where to follow it
	log       chat.Transcript // what the fields above show
	style     citationStyle   // that its question named
}

func newTrace(run chat.Run) *trace {
	t := &trace{
		RunID: run.ID, SessionID: run.SessionID, ParentID: run.ParentID, Status: run.Status, Question: run.Request.Message,
		Toolset: run.Request.Toolset, Mode: chat.ModeFullBook, Steps: []chat.Step{}, Citations: []chat.Citation{}, Tokens: run.Tokens,
		CreatedAt: run.CreatedAt, Events: "/agent/runs/" + run.ID + "/events", style: citationStyle(run.Request.CitationStyle),
	}
	if run.Request.ContextText != "" {
		t.Mode = chat.ModeContextConstrained
	}
	if !run.EndedAt.IsZero() {
		t.EndedAt = &run.EndedAt
	}
	return t
}

// add folds one event in. Events come in order.
func (t *trace) add(ev chat.Event) error {
	p, err := t.log.Apply(ev)
	if err != nil {
		return err
	}
	t.LastSeq, t.Steps, t.Text, t.Citations = t.log.LastSeq, httpio.NotNil(t.log.Steps), t.log.Text(), httpio.NotNil(t.log.Citations)
	switch p := p.(type) {
	case chat.RunStarted:
		t.Model, t.Mode, t.Toolset, t.Budget = p.Model, p.Mode, p.Toolset, p.Budget
	case chat.Answer:
		t.Answer, t.Tokens, t.Cost = t.log.Answer, p.Tokens, p.Cost
	case chat.RunDone:
		t.Status, t.Error = p.Status, p.Error
		if t.EndedAt == nil {
			t.EndedAt = &ev.At
		}
	}
	return nil
}

// total says what the run came to. Its answer knows, or its end; for a run without them the steps are added up.
func (t *trace) total() {
	t.LatencyMS = latency(t)
	if t.Answer != nil {
		return
	}
	if done := t.log.Done; done != nil && done.Tokens != nil {
		t.Tokens, t.Cost = *done.Tokens, done.Cost
		return
	}
	tokens, cost := t.log.StepTokens()
	t.Cost = cost
	if tokens.In+tokens.Out > 0 {
		t.Tokens = tokens
	}
}

// stepsUsed returns how many turns of the model the run had, 0 while it is under way.
func (t *trace) stepsUsed() int {
	switch {
	case t.Answer != nil:
		return t.Answer.StepsUsed
	case t.log.Done != nil:
		return t.log.Done.StepsUsed
	}
	return 0
}

// retrievalCalls counts the tool calls that searched or read, without those that were not made. The end of a run knows how many were charged.
func (t *trace) retrievalCalls() int {
	if done := t.log.Done; done != nil && done.RetrievalCalls > 0 {
		return done.RetrievalCalls
	}
	n := 0
	for _, step := range t.Steps {
		if step.ToolName != "" && isRetrieval(step.ActionType) && step.Status != chat.StatusSkipped && step.Status != chat.StatusPending {
			n++
		}
	}
	return n
}

func isRetrieval(a chat.Action) bool {
	return a == chat.ActionSearching || a == chat.ActionReading || a == chat.ActionExploring
}

// trace reads a run and its log as far as it goes now.
func (r *runReader) trace(ctx context.Context, scope chat.Scope, runID string) (*trace, error) {
	run, err := r.store.Run(ctx, scope, runID)
	if err != nil {
		return nil, err
	}
	t := newTrace(run)
	for {
		page, err := r.feed.Read(ctx, scope, runID, t.LastSeq)
		if err != nil {
			return nil, err
		}
		for _, entry := range page.Entries {
			if err := t.add(entry.Event); err != nil {
				return nil, err
			}
		}
		if page.Over || len(page.Entries) == 0 {
			t.total()
			return t, nil
		}
	}
}

// await follows a run to its end and returns its trace. The run goes on when the client leaves.
func (r *runReader) await(ctx context.Context, scope chat.Scope, run chat.Run) (*trace, error) {
	t := newTrace(run)
	err := r.listen(ctx, scope, run.ID, t.add, nil)
	t.total()
	return t, err
}

// listen calls add for each event of a run, in order, until the run is over, and idle, if there is one, while nothing happens.
func (r *runReader) listen(ctx context.Context, scope chat.Scope, runID string, add func(chat.Event) error, idle func() error) error {
	wake, stop := r.feed.Watch(runID)
	defer stop()
	heartbeat := time.NewTicker(r.streams.Heartbeat)
	defer heartbeat.Stop()
	read := r.feed.Read
	for after := int64(0); ; read = r.feed.More {
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
		case <-r.streams.Draining:
			return &chat.Error{Code: chat.CodeUnavailable, Message: "The server is restarting. The question is stored: follow its run, or ask again in a few seconds."}
		}
	}
}

// output is a step's whole output: the stored one when the event holds only its beginning.
func (r *runReader) output(ctx context.Context, scope chat.Scope, runID, callID string) (json.RawMessage, error) {
	full, err := r.store.StepOutput(ctx, scope, runID, callID)
	if err == nil || chat.CodeOf(err) != chat.CodeNotFound {
		return full, err
	}
	t, err := r.trace(ctx, scope, runID)
	if err != nil {
		return nil, err
	}
	step, ok := t.log.Step(callID)
	if !ok || len(step.ToolOutput) == 0 {
		return nil, httpio.NotFound("This step has no output, or not yet. Look at the run for the steps it has.")
	}
	return step.ToolOutput, nil
}
