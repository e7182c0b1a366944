package runlog

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// Teller puts a run into the messages of another protocol. What it returns depends on the log alone, so that a reader
// who comes back gets the same messages under the same numbers.
//
// It is made for one stream and called by it alone, so it may keep state between calls.
type Teller interface {
	// Tell returns what the run's next event adds; it is in t already.
	Tell(t *Trace, p chat.Payload) []any
	// End returns the last messages. failure is why there is no answer; nil if there is one, or the run was stopped.
	End(t *Trace, failure error) []any
}

// Retell streams a run to its end as a teller puts it, each message as a server-sent event without a name. The last one
// of an event of the log has its number: a reader who has seen it gets what follows after. A number beyond the end
// means the beginning. Who has seen all gets 204. close is data that ends the stream, if it is not empty. None of this
// touches the run. It fails before anything is sent, or, only for the log, after a failure was told.
func (r *Reader) Retell(c httpio.Context, run chat.Run, after int64, teller Teller, close string) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	page, err := r.Feed.Read(ctx, scope, run.ID, after)
	if err != nil {
		return err
	}
	if page.Over && after == page.Last {
		return c.NoContent(http.StatusNoContent)
	}
	if after > page.Last {
		after = 0
	}
	page.Entries = nil // a waiting reader holds nothing of the log
	out, leave, err := r.Streams.Open(c)
	if out == nil {
		return err // or the reader has left
	}
	defer leave()
	t := NewTrace(run)
	t.Status, t.Tokens = chat.RunRunning, chat.Tokens{} // until its log says more
	err = r.Listen(ctx, scope, run.ID, func(ev chat.Event) error {
		if err := t.Add(ev); err != nil {
			return err
		}
		p, err := ev.Payload()
		if err != nil {
			return err
		}
		told := teller.Tell(t, p)
		if _, over := p.(chat.RunDone); over {
			t.sumSteps()
			told = append(told, teller.End(t, t.Failure())...)
		}
		if ev.Seq <= after {
			return nil
		}
		return r.sendMessages(out, ev.Seq, told)
	}, func() error { return out.Comment("still here") })
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		if r.Streams.IsDraining() {
			_ = out.Retry(httpio.RetryAfterDrain) // best effort: the failure follows
		}
		return errors.Join(err, r.sendMessages(out, 0, teller.End(t, err)))
	}
	if close == "" {
		return nil
	}
	return out.Send(httpio.AppendFrame(nil, 0, "", []byte(close)))
}

// sendMessages sends messages as JSON, the last one under a number.
func (r *Reader) sendMessages(out *httpio.EventStream, seq int64, messages []any) error {
	if len(messages) == 0 {
		return nil
	}
	buffer := r.frames.Get()
	defer r.frames.Put(buffer)
	for i, m := range messages {
		data, err := json.Marshal(m)
		if err != nil {
			return err
		}
		id := int64(0)
		if i == len(messages)-1 {
			id = seq
		}
		buffer.B = httpio.AppendFrame(buffer.B, id, "", data)
	}
	return out.Send(buffer.B)
}
