package chat

import (
	"errors"
	"strings"
)

// Code says what kind of failure an Error is. Codes are stable: they are in the API, in run_done events and in the log.
// server/httpio/error.go alone maps them to HTTP statuses. A new code needs a row there, and clients that know only the
// old ones must be able to treat it as its status says.
//
//api:open
type Code string

// The codes an Error can carry, with what the API says of each. ModelFailed and Timeout end runs and steps.
const (
	CodeInvalid      Code = "invalid"      // The request can't be used as it is.
	CodeUnauthorized Code = "unauthorized" // No key, a wrong one or a revoked one.
	CodeForbidden    Code = "forbidden"    // Another site's page asked, or the server is not known under that name.
	CodeNotFound     Code = "not_found"    // It is not there, or not yours: the two look the same.
	CodeConflict     Code = "conflict"     // Its state does not allow it.
	// The conversation has as many questions as it may have: leave session_id out to go on in a new one.
	CodeTurnLimit   Code = "turn_limit"
	CodeTooLarge    Code = "too_large"   // Over a limit on size.
	CodeUnsupported Code = "unsupported" // A kind of body that is not understood.
	CodeGuardrail   Code = "guardrail"   // A guardrail refused the question or the answer.
	CodeUndrawable  Code = "undrawable"  // No picture can be made of the page: it is too complex, or damaged.
	CodeKeyReused   Code = "key_reused"  // The Idempotency-Key came before with another body.
	// Too much at once, or a limit of the user is reached: wait as Retry-After says.
	CodeTooMany  Code = "too_many"
	CodeDiskFull Code = "disk_full" // Nothing more can be stored, by anybody or by this user.
	// The server or a store it needs can't serve now: try again as Retry-After says.
	CodeUnavailable Code = "unavailable"
	CodeModelFailed Code = "model_failed" // The model's server failed.
	CodeTimeout     Code = "timeout"      // A time limit passed.
	CodeInternal    Code = "internal"     // Something went wrong on the server.
)

// Error is a failure whose Message may be shown to the user: one sentence that says what to do next. Hint, if set, is a
// further sentence for whoever runs the server. It alone may name settings and paths: the log and the terminal have it,
// no answer does. Err, if set, is the cause: logged, never shown. The page translates Message by its English text, so a
// new sentence needs `make generate`. Two errors of one Code may have different sentences; programs go by the Code.
type Error struct {
	Code    Code
	Message string
	Hint    string
	Err     error
}

// Error returns the message, the hint and, for the log, the cause. It is for logs alone: what a user may see is
// MessageOf.
func (e *Error) Error() string {
	if e.Err != nil {
		return strings.TrimSuffix(e.Advice(), ".") + ": " + e.Err.Error()
	}
	return e.Advice()
}

// Advice returns the message and the hint, for whoever runs the server.
func (e *Error) Advice() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " " + e.Hint
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the first Code in the chain of a non-nil err, or CodeInternal: unknown means ours. A code that a
// wrapping Error gives outranks that of its cause, since the chain is searched from the outside in.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// MessageOf returns the sentence of the first Error in the chain, or one that gives nothing internal away. An error
// that is no *Error may hold paths, addresses or statements of SQL, so nothing of its text is used.
func MessageOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return "Something went wrong on the server. Try again; the log has the details."
}

// WhereToLook follows what is told to the local user, who runs the server, in the place of a hint.
const WhereToLook = "“footnote doctor” and the server's log say more."

// MessageFor is MessageOf for a user: the local user is told where the hint is, which itself stands in no answer.
// Others than the local user can do nothing about a setting and may not learn of it.
func MessageFor(user string, err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Hint != "" && user == LocalUser {
		return e.Message + " " + WhereToLook
	}
	return MessageOf(err)
}
