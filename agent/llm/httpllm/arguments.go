package httpllm

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const maxPreview = 800 // runes of malformed arguments that are shown

// Arguments returns arguments as a JSON object, or an empty one and what is wrong. A string that holds an object is
// unwrapped once. No arguments are an empty object: tools without parameters are called so. What is returned is a copy,
// since readers use their buffers again.
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

// previewText is the beginning of malformed arguments, at most maxPreview runes, for the model and the log.
func previewText(b []byte) string {
	text := strings.ToValidUTF8(string(b), "")
	if utf8.RuneCountInString(text) <= maxPreview {
		return text
	}
	return string([]rune(text)[:maxPreview]) + "…"
}

// IsObject reports whether b is a whole JSON object.
func IsObject(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 1 && b[0] == '{' && b[len(b)-1] == '}' && json.Valid(b)
}
