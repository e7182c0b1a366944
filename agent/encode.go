package agent

import (
	"encoding/json"
	"strings"
)

// encode writes JSON without the escapes for HTML, which cost tokens and nobody needs here.
func encode(v any) (json.RawMessage, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n")), nil
}
