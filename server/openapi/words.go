package openapi

import "footnote/chat"

// codeWords says what each code means.
var codeWords = map[chat.Code]string{
	chat.CodeInvalid:      "The request can't be used as it is (invalid).",
	chat.CodeUnauthorized: "No key, a wrong one or a revoked one (unauthorized).",
	chat.CodeForbidden:    "Another site's page asked, or the server is not known under that name (forbidden).",
	chat.CodeNotFound:     "It is not there, or not yours: the two look the same (not_found).",
	chat.CodeConflict:     "Its state does not allow it (conflict).",
	chat.CodeTurnLimit: "The conversation has as many questions as it may have: leave session_id out to go on in " +
		"a new one (turn_limit).",
	chat.CodeTooLarge:    "Over a limit on size (too_large).",
	chat.CodeUnsupported: "A kind of body that is not understood (unsupported).",
	chat.CodeGuardrail:   "A guardrail refused the question or the answer (guardrail).",
	chat.CodeUndrawable:  "No picture can be made of the page: it is too complex, or damaged (undrawable).",
	chat.CodeKeyReused:   "The Idempotency-Key came before with another body (key_reused).",
	chat.CodeTooMany:     "Too much at once, or a limit of the user is reached: wait as Retry-After says (too_many).",
	chat.CodeDiskFull:    "Nothing more can be stored, by anybody or by this user (disk_full).",
	chat.CodeUnavailable: "The server or a store it needs can't serve now: try again as Retry-After says " +
		"(unavailable).",
	chat.CodeModelFailed: "The model's server failed (model_failed).",
	chat.CodeTimeout:     "A time limit passed (timeout).",
	chat.CodeInternal:    "Something went wrong on the server (internal).",
}

func listValues[T ~string](values ...T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
