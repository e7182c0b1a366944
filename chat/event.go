// Package chat is the domain model of conversations. A session holds runs. A run writes an append-only log of events,
// each with a payload (event, payload), and the log folds into what was asked, done and answered (transcript). The live
// feed wakes those who read a log while it grows (feed, live). Here are also the limits of users, the validation of
// what they send, and the interfaces that the stores of sessions and runs implement. The package does no I/O of its
// own.
//
// Every other package may know this one, and it knows only text and english: it is the vocabulary that the
// agent, the stores and the server share. What comes in is what users ask (RunRequest) and what runs report (Payload);
// what goes out are events in one JSON form, which the page, the API and a restarted run read alike. Start with run.go
// (sessions and runs), payload.go (what an event can say), run.go (what a store promises) and transcript.go (how a
// log is read). The other files have a subject each: questions that wait (waiting), commands to runs under way
// (command), kept questions and their webhooks (standing, webhook), tables over documents (grid), links to answers
// (share), answers as files (evidence), addresses in the viewer (link), and logs of older versions (step_import).
//
// A stored event must never change, nor may the meaning of a field that was stored: old logs are read for as long as
// they exist. New fields are optional; what old steps lack is made where they are decoded.
package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Kind names a kind of event. It is at once the SSE event name, the JSON "type" and the log's column. Stored logs have
// these texts, so they must not change.
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

// Kinds lists every kind once, in the order of a run's life. Tests range over it, so that no kind lacks a codec, a view
// or an example.
var Kinds = []Kind{
	KindRunStarted, KindReasoningStep, KindAnswerDelta, KindAnswerReset, KindCitation, KindAnswer, KindStartOver,
	KindRunDone,
}

// Payload is what an event says. The set is closed: the payload types of this package.
type Payload interface{ Kind() Kind }

// Event is one numbered entry of a run's log. It is immutable once appended, so it may be shared by any number of
// readers. The payload stays as the bytes that were stored and is decoded only by those who need to understand it: a
// store and a stream copy it as it is.
type Event struct {
	RunID string
	Seq   int64     // from 1, without gaps; 0 for a Reset, which has no number
	At    time.Time // UTC, whole microseconds
	Type  Kind
	Body  json.RawMessage // the payload as a JSON object, exactly as stored
}

// ErrDamaged is in the chain of an error that says that what is stored can't be read: other rows may still be. Callers
// that list many rows show the damaged one as such and go on.
var ErrDamaged = errors.New("the stored row is damaged")

// ErrNotStorable is in the chain of an error of Store.Append when a payload has no JSON form: a number that is not
// finite, or raw JSON that is not valid. Trying again can't help.
var ErrNotStorable = errors.New("the payload has no JSON form")

// NewEvent encodes a payload. Seq and At are the store's to set. It fails with ErrNotStorable. The body is encoded here
// once and for all; stores write these bytes, so that a replay has the same.
func NewEvent(runID string, p Payload) (Event, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return Event{}, &Error{
			Code: CodeInternal,
			Message: "A part of the answer can't be stored, because of a mistake in the program. Ask again; the log " +
				"has the details.",
			Err: fmt.Errorf("encode %s: %w: %w", p.Kind(), ErrNotStorable, err),
		}
	}
	return Event{RunID: runID, Type: p.Kind(), Body: body}, nil
}

// AppendJSON appends the event's one JSON form, an object that starts with type, run_id and seq, and returns the
// result. It is a pure function of what is stored, so a replay is byte-equal. The body is an object, so its "{" is
// replaced by the three fields in front. Kinds and run ids need no escaping: kinds are the constants above and ids are
// made by NewID. An empty payload is "{}", two bytes, which has no field to separate by a comma.
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

// MarshalJSON returns the form of AppendJSON.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// Payload decodes the body. It fails only for a kind this version does not know or a body that was tampered with. The
// result is a value of a payload type, never a pointer, so a type switch over those values is complete. Each call
// decodes anew; nothing of it is shared.
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

// decodeStep also makes the result of a step that was stored before steps had one. Logs are never rewritten, so this
// happens at every reading of an old one.
func decodeStep(body json.RawMessage) (Payload, error) {
	var s Step
	err := json.Unmarshal(body, &s)
	importStep(&s)
	return s, err
}

// decodePayload reads a payload of a known kind. Fields that this version does not know are ignored: a newer one may
// have added them, and went back.
func decodePayload[P Payload](body json.RawMessage) (Payload, error) {
	var p P
	err := json.Unmarshal(body, &p)
	return p, err
}
