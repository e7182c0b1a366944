package llm

import (
	"errors"
	"strings"
	"time"
)

// ErrorKind says what went wrong with a model, so that callers can decide without reading texts.
type ErrorKind string

// The kinds of failure.
const (
	KindUnreachable ErrorKind = "unreachable"      // refused, DNS, TLS: nothing answered
	KindTimeout     ErrorKind = "timeout"          // no first byte, or silence in the middle
	KindIncomplete  ErrorKind = "incomplete"       // the stream ended without proof of its end
	KindRateLimited ErrorKind = "rate_limited"     // 429; RetryAfter may be set
	KindQuota       ErrorKind = "quota"            // paid quota spent: waiting does not help
	KindAuth        ErrorKind = "auth"             // 401, 403
	KindInvalid     ErrorKind = "invalid"          // 400, 404, 422: the request or the model's name
	KindTooLong     ErrorKind = "context_too_long" // the history does not fit
	KindServer      ErrorKind = "server"           // 5xx, or an error in the stream
	KindProtocol    ErrorKind = "protocol"         // an answer that is not the protocol's
	KindBadCall     ErrorKind = "bad_tool_call"    // its server could not read a tool call that the model wrote
	KindEmpty       ErrorKind = "empty"            // a complete reply with nothing in it
	KindCancelled   ErrorKind = "cancelled"        // our own context ended
)

// Error is a failed reply. Message is for people and holds no secret; Err is the cause, for the log. What stands in
// Message may be shown to anybody; Err may hold what the server said and goes to the log only.
type Error struct {
	Kind       ErrorKind
	Status     int    // HTTP status, 0 if none
	Code       string // the provider's own code, or httpllm.CodeLeftAlone
	Message    string
	RetryAfter time.Duration // 0 if the server did not say
	Usage      *Usage        // of a whole reply that had nothing usable; nil when the provider did not say
	Shown      bool          // a visible part was yielded before: a retry would show it twice
	Err        error
}

// Error returns the message and the cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return strings.TrimSuffix(e.Message, ".") + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later and nothing of the reply was shown yet. A spent quota, a
// refused key and a request that was refused stay what they are; a tool call that the server could not read is the
// caller's to ask again for, with other words.
func (e *Error) Retryable() bool {
	if e.Shown {
		return false
	}
	switch e.Kind {
	case KindUnreachable, KindTimeout, KindIncomplete, KindRateLimited, KindServer, KindEmpty:
		return true
	default:
		return false
	}
}

// KindOf returns the kind of the first Error in the chain, or KindServer. An error that is none of this package is
// taken for a failure of the server.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return KindServer
}
