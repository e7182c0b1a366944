// Package chat is the domain model of conversations. A session holds runs. A run writes an append-only log of events
// with a payload each (event, payload). The log is folded into a transcript of question, steps and answer
// (transcript). The live feed streams a growing log to its readers (feed, live). The package also has user limits,
// request validation, and the interfaces of the session and run stores. It does no I/O.
//
// Every other package may import this one; it imports only text, english and locale. The agent, the stores and the
// server share its vocabulary. Input is user requests (RunRequest) and reports of runs (Payload). Output is events in
// one JSON form, read by the page, the API and a restarted run. Start with run.go (sessions, runs and the store's
// guarantees), payload.go (the payloads) and transcript.go (the fold of a log). The other files have one subject
// each: the queue (waiting), commands to running runs (command), kept questions and webhooks (standing, webhook),
// tables over documents (grid), links to answers (share), answers as files (evidence), viewer addresses (link), and
// logs of older versions (step_import).
//
// A stored event must never change, nor may the meaning of a stored field: old logs stay readable. New fields are
// optional. Fields that old steps lack are derived when they are decoded.
package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Kind names a kind of event. It is the SSE event name, the JSON "type" and the value of the log's column. Stored
// logs have these texts, so they must not change.
type Kind string

// The kinds of event. RunDone is always a run's last. Reset is neither numbered nor stored.
const (
	KindRunStarted    Kind = "run_started"
	KindReasoningStep Kind = "reasoning_step"
	KindAnswerDelta   Kind = "answer_delta"
	KindAnswerReset   Kind = "answer_reset"
	KindCitation      Kind = "citation"
	KindAnswer        Kind = "answer"
	KindStartOver     Kind = "reset"
	KindRunDone       Kind = "run_done"
)

// Kinds lists every kind once, in the order of a run's life. Tests iterate over it, so that every kind has a codec,
// a view and an example.
var Kinds = []Kind{
	KindRunStarted, KindReasoningStep, KindAnswerDelta, KindAnswerReset, KindCitation, KindAnswer, KindStartOver,
	KindRunDone,
}

// Payload is the content of an event. The set is closed: the payload types of this package.
type Payload interface{ Kind() Kind }

// Event is one numbered entry of a run's log. It is immutable once appended, so readers may share it. The payload
// stays encoded as stored and is decoded on demand: a store and a stream copy the bytes.
type Event struct {
	RunID string
	Seq   int64     // from 1, without gaps; 0 for a Reset
	At    time.Time // UTC, whole microseconds
	Type  Kind
	Body  json.RawMessage // the payload as a JSON object, exactly as stored
}

// ErrDamaged is wrapped by errors for a stored row that can't be decoded. Other rows may still be readable. Callers
// that list rows mark the damaged one and continue.
var ErrDamaged = errors.New("the stored row is damaged")

// ErrNotStorable is wrapped by errors of Store.Append for a payload that can't be encoded as JSON: a number that is
// not finite, or invalid raw JSON. A retry can't succeed.
var ErrNotStorable = errors.New("the payload can't be encoded as JSON")

// NewEvent encodes a payload. The store sets Seq and At. It fails with ErrNotStorable. Stores write these bytes, so
// that a replay is byte-equal.
func NewEvent(runID string, p Payload) (Event, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return Event{}, &Error{
			Code:    CodeInternal,
			Message: "Internal error: part of the answer could not be saved. Ask again, or see the log for details.",
			Err:     fmt.Errorf("encode %s: %w: %w", p.Kind(), ErrNotStorable, err),
		}
	}
	return Event{RunID: runID, Type: p.Kind(), Body: body}, nil
}

// AppendJSON appends the event's JSON encoding, an object that starts with type, run_id and seq, and returns the
// buffer. It depends on the stored data only, so a replay is byte-equal. The three fields replace the body's "{".
// Kinds and run ids need no escaping: kinds are the constants above, and ids are made by NewID. An empty payload is
// "{}", two bytes, and needs no comma.
func (e Event) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, e.Type...)
	dst = append(dst, `","run_id":"`...)
	dst = append(dst, e.RunID...)
	dst = append(dst, `","seq":`...)
	dst = strconv.AppendInt(dst, e.Seq, 10)
	if len(e.Body) > 2 {
		dst = append(dst, ',')
		return append(dst, e.Body[1:]...)
	}
	return append(dst, '}')
}

// MarshalJSON returns the encoding of AppendJSON.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// Payload decodes the body. It fails only for an unknown kind or an invalid body. The result is a value of a payload
// type, never a pointer, so a type switch over those values is complete. Each call decodes again and shares no
// memory.
func (e Event) Payload() (Payload, error) {
	var p Payload
	var err error
	switch e.Type {
	case KindRunStarted:
		p, err = decodePayload[RunStarted](e.Body)
	case KindReasoningStep:
		p, err = decodeStep(e.Body)
	case KindAnswerDelta:
		p, err = decodePayload[AnswerDelta](e.Body)
	case KindAnswerReset:
		p, err = decodePayload[AnswerReset](e.Body)
	case KindCitation:
		p, err = decodePayload[Citation](e.Body)
	case KindAnswer:
		p, err = decodePayload[Answer](e.Body)
	case KindStartOver:
		p, err = decodePayload[Reset](e.Body)
	case KindRunDone:
		p, err = decodePayload[RunDone](e.Body)
	default:
		return nil, fmt.Errorf("decode event %d of run %s: %w: unknown kind %q", e.Seq, e.RunID, ErrDamaged, e.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("decode event %d of run %s: %w: %w", e.Seq, e.RunID, ErrDamaged, err)
	}
	return p, nil
}

// decodeStep also derives the result of a step from a version that stored none. Logs are never rewritten, so this
// happens at every read of an old log.
func decodeStep(body json.RawMessage) (Payload, error) {
	var s Step
	err := json.Unmarshal(body, &s)
	importStep(&s)
	return s, err
}

// decodePayload decodes a payload of a known kind. Unknown fields are ignored: a newer version, since rolled back,
// may have written them.
func decodePayload[P Payload](body json.RawMessage) (Payload, error) {
	var p P
	err := json.Unmarshal(body, &p)
	return p, err
}
