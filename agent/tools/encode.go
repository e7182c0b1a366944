package tools

import (
	"encoding/json"
	"strings"
)

// Encode encodes a value as JSON without HTML escapes, which cost tokens. It trims the line feed of json.Encoder.
func Encode(v any) (json.RawMessage, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n")), nil
}
