package httpio

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
)

// legibleValues validates that names and values of form fields or parameters are UTF-8.
func legibleValues(values url.Values, message string) error {
	for name, list := range values {
		if !utf8.ValidString(name) {
			return Invalid(message)
		}
		for _, value := range list {
			if !utf8.ValidString(value) {
				return Invalid(message)
			}
		}
	}
	return nil
}

// legibleQuery refuses a query that can't be parsed: its invalid parameters would be silently dropped.
func legibleQuery(raw string) error {
	if raw == "" {
		return nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "Invalid query string. Encode a percent sign as %25 and a semicolon as %3B.",
			Err:     err,
		}
	}
	return legibleValues(
		values, "The query string must be valid UTF-8.",
	)
}

// withoutNUL refuses form fields with NUL characters.
func withoutNUL(form url.Values) error {
	for name, list := range form {
		for _, value := range append(list, name) {
			if strings.ContainsRune(value, 0) {
				return Invalid(nulIn(name))
			}
		}
	}
	return nil
}
