package runlog

import (
	"errors"
	"net/http"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/sse"
)

// Follower is the encoding of a run's log for one kind of reader.
type Follower struct {
	// Frame encodes an entry for the reader. A chat.Reset is an entry with Seq 0: the reader starts over, and all
	// entries follow from the first.
	Frame Framing
	// RepeatLast sends the last entry again to a reader that has all entries, where others get 204.
	RepeatLast bool
}

// Framing appends an entry encoded for one kind of reader.
type Framing func(dst []byte, entry *chat.Entry) ([]byte, error)

// ProgramFrame encodes the event as JSON with its number and kind.
func ProgramFrame(dst []byte, entry *chat.Entry) ([]byte, error) {
	return sse.Append(dst, entry.Seq, string(entry.Type), entry.JSON), nil
}

// Follow streams a run's log after a position until the run is over, the reader disconnects or the server drains.
// None of these affects the run. It fails only before anything is sent.
//
// A reader that has all events gets 204, after which browsers' EventSource does not reconnect (HTML standard,
// section 9.2). A position beyond the log's end gets a reset and then all events. Without events, a comment is sent
// at each heartbeat, so that proxies keep the connection and a disconnected reader is noticed. The stream counts
// against the limits of httpio.Streams, with chat.CodeTooMany over them.
func (r *Reader) Follow(c httpio.Context, runID string, after int64, f Follower) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	wake, stop := r.Feed.Watch(runID) // before the first read, so that no event is missed
	defer stop()
	news := wake()
	page, err := r.Feed.Read(ctx, scope, runID, after)
	if err != nil {
		return err
	}
	var reset *chat.Entry
	if after > page.Last {
		if reset, err = resetEntry(runID, page.Last); err != nil {
			return err
		}
		after = 0
		if page, err = r.Feed.Read(ctx, scope, runID, after); err != nil {
			return err
		}
	}
	if page.Over && len(page.Entries) == 0 {
		if !f.RepeatLast || page.Last == 0 {
			return c.NoContent(http.StatusNoContent) // EventSource stops reconnecting
		}
		if page, err = r.Feed.Read(ctx, scope, runID, page.Last-1); err != nil {
			return err
		}
	}
	out, leave, err := r.Streams.Open(c)
	if out == nil {
		return err
	}
	defer leave()
	if reset != nil {
		if err := r.sendEntries(out, []*chat.Entry{reset}, f); err != nil {
			return nil
		}
	}
	// An event resets the heartbeat.
	heartbeat := time.NewTimer(r.Streams.Heartbeat)
	defer heartbeat.Stop()
	for {
		if err := r.sendEntries(out, page.Entries, f); err != nil || page.Over {
			return streamEnd(err)
		}
		if n := len(page.Entries); n > 0 {
			after = page.Entries[n-1].Seq
			page.Entries = nil // a waiting reader keeps no entries in memory
			heartbeat.Reset(r.Streams.Heartbeat)
		} else {
			select {
			case <-news:
			case <-heartbeat.C:
				heartbeat.Reset(r.Streams.Heartbeat)
				if err := out.Comment("still here"); err != nil {
					return nil
				}
				continue
			case <-ctx.Done():
				return nil
			case <-r.Streams.Draining:
				_ = out.Retry(httpio.RetryAfterDrain) // best effort: a reader without it reconnects by default
				return nil
			}
		}
		news = wake()
		if page, err = r.Feed.ReadWatched(ctx, scope, runID, after); err != nil {
			return err // the stream is open: this is only logged, and the reader reconnects
		}
		if after > page.Last && len(page.Entries) == 0 { // the log has lost its end, and other events may follow
			if reset, err = resetEntry(runID, page.Last); err != nil {
				return err
			}
			after = 0
			if page, err = r.Feed.Read(ctx, scope, runID, after); err != nil {
				return err
			}
			page.Entries = append([]*chat.Entry{reset}, page.Entries...)
		}
	}
}

// streamEnd ignores a disconnected reader; internal failures are logged.
func streamEnd(err error) error {
	if ours, ok := errors.AsType[frameError](err); ok {
		return ours
	}
	return nil
}

// frameError is a failure to encode an event, as opposed to one to send it.
type frameError struct{ error }

// Unwrap returns the cause.
func (e frameError) Unwrap() error { return e.error }

// sendEntries sends entries in as few writes as their size allows.
func (r *Reader) sendEntries(out *httpio.EventStream, entries []*chat.Entry, f Follower) error {
	if len(entries) == 0 {
		return nil
	}
	buffer := r.frames.Get()
	defer r.frames.Put(buffer)
	for i, entry := range entries {
		var err error
		if buffer.B, err = f.Frame(buffer.B, entry); err != nil {
			return frameError{err}
		}
		if len(buffer.B) < httpio.FrameFlush && i < len(entries)-1 {
			continue
		}
		if len(buffer.B) == 0 {
			continue
		}
		if err := out.Send(buffer.B); err != nil {
			return err
		}
		buffer.B = buffer.B[:0]
	}
	return nil
}

// resetEntry returns an entry that makes a reader start over, since the log is shorter than its position after a
// crash of the store.
func resetEntry(runID string, last int64) (*chat.Entry, error) {
	ev, err := chat.NewEvent(runID, chat.Reset{Last: last})
	if err != nil {
		return nil, err
	}
	return &chat.Entry{Event: ev, JSON: ev.AppendJSON(nil)}, nil
}
