package server

import (
	"net/http"

	"footnote/chat"
)

// v1Failed is an error in OpenAI's shape.
type v1Failed struct {
	Error v1Error `json:"error"`
}

type v1Error struct {
	Message string    `json:"message"` // a sentence for people
	Type    string    `json:"type"`
	Param   *string   `json:"param"` // always null: the message names the field
	Code    chat.Code `json:"code"`
}

func newV1Failure(status int, code chat.Code, message string) v1Failed {
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
	return v1Failed{v1Error{Message: message, Type: kind, Code: code}}
}
