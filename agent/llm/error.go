package llm

import (
	"errors"
	"strings"
	"time"

	"github.com/footnote/footnote/text/locale"
)

// ErrorKind is the kind of a model's failure, on which callers decide without parsing messages.
type ErrorKind string

// The kinds of failure.
const (
	KindUnreachable ErrorKind = "unreachable"      // connection refused, DNS or TLS: no response
	KindTimeout     ErrorKind = "timeout"          // no first byte, or silence in the middle of the stream
	KindIncomplete  ErrorKind = "incomplete"       // the stream ended without a proof of its end
	KindRateLimited ErrorKind = "rate_limited"     // 429; RetryAfter may be set
	KindQuota       ErrorKind = "quota"            // paid quota exhausted: a retry does not help
	KindAuth        ErrorKind = "auth"             // 401, 403
	KindInvalid     ErrorKind = "invalid"          // 400, 404, 422: the request or the model's name
	KindTooLong     ErrorKind = "context_too_long" // the history exceeds the context
	KindServer      ErrorKind = "server"           // 5xx, or an error in the stream
	KindProtocol    ErrorKind = "protocol"         // a response that violates the protocol
	KindBadCall     ErrorKind = "bad_tool_call"    // the server could not parse the model's tool call
	KindEmpty       ErrorKind = "empty"            // a complete but empty reply
	KindCancelled   ErrorKind = "cancelled"        // the caller's context was cancelled
)

// Error is a failed reply. Message is for users, contains no secret and nothing of the server's text. Err is the
// cause, which may contain the server's text and is only logged.
type Error struct {
	Kind       ErrorKind
	Status     int    // HTTP status, 0 if none
	Code       string // the provider's error code, or httpllm.CodeLeftAlone
	Message    locale.Message
	RetryAfter time.Duration // 0 if the server did not set it
	Usage      *Usage        // of a complete reply without usable parts; nil if the provider did not report it
	Shown      bool          // a visible part was already yielded: a retry would repeat it
	Err        error
}

// Error returns the message and the cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return strings.TrimSuffix(e.Message.String(), ".") + ": " + e.Err.Error()
	}
	return e.Message.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether a retry of the same request may succeed and nothing of the reply was shown yet. An
// exhausted quota, a refused key and a refused request are permanent. A tool call that the server could not parse is
// not retryable, since the caller has to change the request.
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

// KindOf returns the kind of the first Error in the chain. The default is KindServer.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return KindServer
}
