package v1

import (
	"net/http"

	"github.com/footnote/footnote/chat"
)

// Failed is an error in OpenAI's schema.
type Failed struct {
	Error Error `json:"error"`
}

// Error is the error object of OpenAI's API.
type Error struct {
	Message string    `json:"message"` // a sentence for people
	Type    string    `json:"type" api:"values=invalid_request_error|authentication_error|permission_error|rate_limit_error|server_error"`
	Param   *string   `json:"param"` // Always null: the message names the field.
	Code    chat.Code `json:"code"`
}

// NewFailed returns the error body for a failure; its type depends on the status.
func NewFailed(status int, code chat.Code, message string) Failed {
	kind := "invalid_request_error"
	switch {
	case status == http.StatusUnauthorized:
		kind = "authentication_error"
	case status == http.StatusForbidden:
		kind = "permission_error"
	case status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	return Failed{Error{Message: message, Type: kind, Code: code}}
}
