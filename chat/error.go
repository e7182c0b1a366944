package chat

import (
	"errors"
	"strings"

	"github.com/footnote/footnote/text/locale"
)

// Code identifies the kind of an Error. Codes are stable: they are in the API, in run_done events and in the log.
// Only server/httpio/error.go maps them to HTTP statuses. A new code needs a row there. Older clients must be able
// to handle a new code by its status.
//
//api:open
type Code string

// The codes of an Error, with their API descriptions. ModelFailed and Timeout end runs and steps.
const (
	CodeInvalid      Code = "invalid"      // The request is invalid.
	CodeUnauthorized Code = "unauthorized" // The API key is missing, invalid or revoked.
	// The request comes from a page of another site, or the host name is unknown.
	CodeForbidden Code = "forbidden"
	CodeNotFound  Code = "not_found" // The object does not exist, or belongs to another user.
	CodeConflict  Code = "conflict"  // The current state does not allow the operation.
	// The conversation has reached its maximum of questions: leave session_id out to continue in a new one.
	CodeTurnLimit   Code = "turn_limit"
	CodeTooLarge    Code = "too_large"   // The request exceeds a size limit.
	CodeUnsupported Code = "unsupported" // The media type of the body is not supported.
	CodeGuardrail   Code = "guardrail"   // A guardrail blocked the question or the answer.
	CodeUndrawable  Code = "undrawable"  // The page can't be rendered: it is too complex or damaged.
	CodeKeyReused   Code = "key_reused"  // The Idempotency-Key was used with a different body.
	// Too many requests, or a limit of the user is exceeded: retry after Retry-After.
	CodeTooMany  Code = "too_many"
	CodeDiskFull Code = "disk_full" // The disk or the user's storage quota is full.
	// The server or a store it needs is unavailable: retry after Retry-After.
	CodeUnavailable Code = "unavailable"
	CodeModelFailed Code = "model_failed" // The model server failed.
	CodeTimeout     Code = "timeout"      // The request timed out.
	CodeInternal    Code = "internal"     // An internal error of the server.
)

// Error is a failure whose Message may be shown to the user: one sentence with the next action. Hint is an optional
// sentence for the operator. Only Hint may name settings and paths: it is in the log and the terminal, never in a
// response. Err is the optional cause: logged, never shown. Errors of one Code may have different messages; programs
// check the Code.
type Error struct {
	Code    Code
	Message locale.Message
	Hint    string
	Err     error
}

// Error returns the message, the hint and the cause. It is for logs only: MessageOf is for users.
func (e *Error) Error() string {
	if e.Err != nil {
		return strings.TrimSuffix(e.Advice(), ".") + ": " + e.Err.Error()
	}
	return e.Advice()
}

// Advice returns the message and the hint, for the operator.
func (e *Error) Advice() string {
	return strings.TrimSuffix(e.Message.String()+" "+e.Hint, " ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the first Code in the chain of a non-nil err, or CodeInternal for an unknown error. The chain is
// searched from the outside in, so the code of a wrapping Error takes precedence.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// MessageOf returns the message of the first Error in the chain, or a generic one. The text of any other error may
// contain paths, addresses or SQL, so it is not used.
func MessageOf(err error) locale.Message {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return "Internal server error. Try again, or see the log for details."
}

// WhereToLook replaces the hint in messages to the local user, who is the operator.
const WhereToLook = "“footnote doctor” and the server's log say more."

// MessageFor is MessageOf for a user. It refers the local user to the hint, which is in no response. Other users
// can't change a setting and may not learn of it.
func MessageFor(user string, err error) locale.Message {
	if e, ok := errors.AsType[*Error](err); ok && e.Hint != "" && user == LocalUser {
		return locale.Say("{1} {2}", e.Message, WhereToLook)
	}
	return MessageOf(err)
}
