package httpio

import (
	"bytes"
	"net/url"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
)

// Bytes that are not UTF-8 and unpaired surrogates are invalid text. The decoders silently replace them with U+FFFD;
// here the sender gets an error.
const (
	notUTF8  = "The body holds bytes that are not UTF-8. Encode its text as UTF-8 and send it again."
	halfPair = `The body holds half of a character: \ud800 to \udfff stand in pairs in JSON. Send both halves, or ` +
		`the character itself.`
)

// LegibleJSON validates the text of a JSON body: UTF-8 without unpaired surrogates.
func LegibleJSON(body []byte) error {
	if !utf8.Valid(body) {
		return Invalid(notUTF8)
	}
	if !bytes.Contains(body, []byte(`\u`)) {
		return nil
	}
	for at := bytes.IndexByte(body, '\\'); at >= 0; at = bytes.IndexByte(body, '\\') {
		body = body[at:]
		first, ok := escapedRune(body)
		if !ok || !utf16.IsSurrogate(first) {
			body = body[min(2, len(body)):]
			continue
		}
		second, _ := escapedRune(body[6:])
		if utf16.DecodeRune(first, second) == utf8.RuneError {
			return Invalid(halfPair)
		}
		body = body[12:]
	}
	return nil
}

// escapedRune parses the \uXXXX at the start of text.
func escapedRune(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

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
			Code: chat.CodeInvalid,
			Message: "The address can't be read after its question mark. Write a percent sign there as %25 and a " +
				"semicolon as %3B.",
			Err: err,
		}
	}
	return legibleValues(
		values, "The address holds bytes that are not UTF-8 after its question mark. Encode its text as UTF-8.",
	)
}
