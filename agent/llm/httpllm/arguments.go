package httpllm

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const maxPreview = 800 // runes of malformed arguments in a message

// Arguments validates arguments as a JSON object. For invalid ones it returns an empty object and the validation
// error. A string that contains an object is unwrapped once. Empty arguments become an empty object, for tools
// without parameters. The result is a copy, since readers reuse their buffers.
func Arguments(raw []byte) (object json.RawMessage, malformed string) {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 {
		return json.RawMessage("{}"), ""
	}
	if IsObject(trimmed) {
		return bytes.Clone(trimmed), ""
	}
	var inner string
	if json.Unmarshal(trimmed, &inner) == nil && IsObject([]byte(inner)) {
		return json.RawMessage(strings.TrimSpace(inner)), ""
	}
	var value any
	why := "the arguments must be a JSON object"
	if err := json.Unmarshal(trimmed, &value); err != nil {
		why = "the arguments are not valid JSON (" + err.Error() + ")"
	}
	return json.RawMessage("{}"), why + ": " + previewText(trimmed)
}

// previewText returns the beginning of malformed arguments, at most maxPreview runes, for the model and the log.
func previewText(b []byte) string {
	text := strings.ToValidUTF8(string(b), "")
	if utf8.RuneCountInString(text) <= maxPreview {
		return text
	}
	return string([]rune(text)[:maxPreview]) + "…"
}

// IsObject reports whether b is a complete JSON object.
func IsObject(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 1 && b[0] == '{' && b[len(b)-1] == '}' && json.Valid(b)
}
