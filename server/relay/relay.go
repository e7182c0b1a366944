// Package relay serves clients of other protocols: OpenAI's chat completions and responses, Vercel's AI SDK, and
// AG-UI, the Agent-User Interaction protocol. A question becomes a run, and the run's events become the protocol's
// answer.
//
// A story folds the events of a run into moments: text begins, grows and ends, a step has a thought, a call has a
// new state, the run ends. Each protocol has an encoder of these moments. A client can't retract text, so the story
// holds text back until it is known to be the answer. Text with footnotes that turns out to be a thought stays as a
// text of its own.
//
// It must never change a run: a run continues if its reader disconnects, and a stream depends on the log only. Fields
// of a client that have no effect here, such as tools of its own, are accepted, unless ignoring them would change the
// meaning of the answer.
//
// To add a protocol, write an encoder beside ai_stream.go and a handler beside ai.go.
package relay

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// Handlers serves the routes below /v1 and /ui/chat, and /ag-ui.
type Handlers struct {
	Store     chat.Store
	Runs      Canceller
	Logs      *runlog.Reader
	Questions *ask.Questions
	Bodies    httpio.Bodies // of OpenAI's clients
	Threads   httpio.Bodies // of the AI SDK and AG-UI
}

// Canceller cancels runs.
type Canceller interface {
	Cancel(ctx context.Context, scope chat.Scope, runID string) error
}

// unnumbered is the position of a reader whose events have no numbers of the log.
const unnumbered = -1

// stream streams a run to its end. The last message of a log event has the event's number as its id, and messages
// up to after are omitted, unless that is unnumbered. It fails before anything is sent; later failures are sent in
// the stream and only logged.
func (h *Handlers) stream(c httpio.Context, run chat.Run, to encoder, after int64) error {
	out, leave, err := h.Logs.Streams.Open(c)
	if out == nil {
		return err // or the reader has disconnected; the run continues
	}
	defer leave()
	ctx, s := c.Request().Context(), newEventTranslator(c, to)
	t, err := h.Logs.Watch(ctx, httpio.Scope(c), fromStart(run), func(t *runlog.Trace, p chat.Payload) error {
		s.muted = t.LastSeq <= after
		if err := s.handleEvent(t, p); err != nil {
			return err
		}
		if after == unnumbered {
			return s.flush(out, 0)
		}
		return s.flush(out, t.LastSeq)
	}, func() error { return out.Comment("still here") })
	if err == nil || ctx.Err() != nil {
		return nil
	}
	if after != unnumbered && h.Logs.Streams.IsDraining() {
		_ = out.Retry(httpio.RetryAfterDrain) // best effort: the failure follows
	}
	s.muted = false
	s.finish(t, err)
	return errors.Join(err, s.flush(out, 0))
}

// fromStart returns a run without the fields that its log sets, so that a stream is the same live and later.
func fromStart(run chat.Run) chat.Run {
	run.Status, run.Tokens, run.EndedAt = chat.RunRunning, chat.Tokens{}, time.Time{}
	return run
}

// resume streams a run after an event of its log. A number beyond the end restarts the stream; a reader that has all
// gets 204.
func (h *Handlers) resume(c httpio.Context, run chat.Run, to encoder, after int64) error {
	page, err := h.Logs.Feed.Read(c.Request().Context(), httpio.Scope(c), run.ID, after)
	switch {
	case err != nil:
		return err
	case page.Over && after == page.Last:
		return c.NoContent(http.StatusNoContent)
	case after > page.Last:
		after = 0
	}
	return h.stream(c, run, to, after)
}

// awaitAnswer waits for a run's answer. A run without one is an error.
func (h *Handlers) awaitAnswer(c httpio.Context, run chat.Run) (*runlog.Trace, error) {
	t, err := h.Logs.Await(c.Request().Context(), httpio.Scope(c), run)
	if err == nil {
		err = t.Failure()
	}
	return t, err
}
