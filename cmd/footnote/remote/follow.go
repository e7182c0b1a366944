package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/sse"
)

// The retries of a broken stream: the maximum of consecutive attempts without an event, with exponential backoff,
// 13 seconds in all. The last pause is 4 seconds.
const (
	followTries = 8
	firstPause  = 200 * time.Millisecond
	longPause   = 4 * time.Second
)

// Run streams the events of the run that answers a question. A broken stream is resumed after the last event,
// possibly at another replica.
//
// It is used once, by one goroutine. The request has an idempotency key, so that a server that accepted the
// question before the connection broke does not start a second run.
type Run struct {
	server *Server
	body   []byte           // the question
	once   string           // idempotency key of all attempts
	met    bool             // the address was reachable once
	run    string           // its id, empty until the first event
	last   int64            // number of the last event
	resume func(begun bool) // called before each reconnect; begun: the first event was received
}

// Ask prepares a question in the format of POST /chat. The request is sent by Events. resume must not be nil.
func (r *Server) Ask(question []byte, resume func(begun bool)) *Run {
	return &Run{server: r, body: question, once: rand.Text(), resume: resume}
}

// Events yields each event of the run once, in order, up to the last one. An error ends it. An event is JSON, valid
// until the next iteration. Leaving the loop early closes the stream; the run continues.
func (f *Run) Events(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		pace := backoff.NewExponentialBackOff()
		pace.InitialInterval, pace.MaxInterval, pace.Multiplier = firstPause, longPause, 2
		for tries := followTries; ; tries-- {
			before := f.last
			over, err := f.readStream(ctx, func(raw []byte) bool { return yield(raw, nil) })
			if over {
				return
			}
			if f.last > before {
				tries = followTries
				pace.Reset()
			}
			if ctx.Err() != nil || tries <= 1 || f.isPermanent(err) {
				yield(nil, err)
				return
			}
			f.resume(f.run != "")
			select {
			case <-ctx.Done():
			case <-time.After(pace.NextBackOff()):
			}
		}
	}
}

// maxEvent is the maximum size of an event, in bytes.
const maxEvent = 8 << 20

// ErrBroken means that a stream ended before its run.
var ErrBroken = &chat.Error{
	Code: chat.CodeUnavailable, Message: "The stream ended before the run; open the page, or ask again",
}

// readStream yields the events of one stream. over means that the last event was received, or that the loop ended.
// Events with a number that was received before are deduplicated.
func (f *Run) readStream(ctx context.Context, yield func([]byte) bool) (over bool, err error) {
	resp, err := f.openStream(ctx)
	if op, network := errors.AsType[*net.OpError](err); !network || op.Op != "dial" {
		f.met = true
	}
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	for events := sse.NewReader(resp.Body, maxEvent); ; {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			return false, ErrBroken
		}
		if err != nil {
			return false, fmt.Errorf("%w: %w", ErrBroken, err)
		}
		id, _ := strconv.ParseInt(event.ID, 10, 64) // our ids are numbers; 0: not in the run's log
		var head struct {
			Type  chat.Kind `json:"type"`
			RunID string    `json:"run_id"`
			Last  int64     `json:"last"`
		}
		if err := json.Unmarshal(event.Data, &head); err != nil {
			return false, fmt.Errorf("the server sent an invalid event: %w", err)
		}
		switch {
		case id == 0 && head.Type == chat.KindStartOver:
			// The end of the log was lost: the events written in its place have the same numbers.
			f.last = min(f.last, head.Last)
		case id > f.last:
			f.last, f.run = id, head.RunID
			if !yield(event.Data) || head.Type == chat.KindRunDone {
				return true, nil
			}
		}
	}
}

// openStream sends the question, or resumes its run. Until the first event, a retry sends the question again with
// the same key.
func (f *Run) openStream(ctx context.Context) (*http.Response, error) {
	if f.run == "" {
		return f.server.Do(ctx, http.MethodPost, "/chat", map[string]string{
			"Content-Type": "application/json", "Accept": "text/event-stream", "Idempotency-Key": f.once,
		}, bytes.NewReader(f.body))
	}
	return f.server.Do(ctx, http.MethodGet, "/agent/runs/"+url.PathEscape(f.run)+"/events", map[string]string{
		"Accept": "text/event-stream", "Last-Event-ID": strconv.FormatInt(f.last, 10),
	}, nil)
}

// isPermanent reports whether a retry is useless: the server refused the request, or its address was never
// reachable.
func (f *Run) isPermanent(err error) bool {
	return chat.CodeOf(err) != chat.CodeUnavailable || !f.met
}

// Decode decodes an event of the stream into one of chat's payloads. An event of an unknown type is an error.
func Decode(raw []byte) (chat.Payload, error) {
	var head struct {
		Type chat.Kind `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("the server sent an invalid event: %w", err)
	}
	return chat.Event{Type: head.Type, Body: raw}.Payload()
}
