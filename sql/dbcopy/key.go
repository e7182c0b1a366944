package dbcopy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// FormatKey encodes the key of a row as JSON.
func FormatKey(key Row) (string, error) {
	text, err := json.Marshal([]any(key))
	return string(text), err
}

// ParseKey decodes a key of FormatKey. A number is tried before a text, and only columns of bytes are
// base64-decoded.
func ParseKey(t Table, text string) (Row, error) {
	var parts []json.RawMessage
	if err := json.Unmarshal([]byte(text), &parts); err != nil {
		return nil, fmt.Errorf("key of %s: %w", t.Name, err)
	}
	if len(parts) != t.Keys {
		return nil, fmt.Errorf("key of %s: %d parts, want %d", t.Name, len(parts), t.Keys)
	}
	var err error
	key := make(Row, len(parts))
	for i, part := range parts {
		var number int64
		var word string
		if err := json.Unmarshal(part, &number); err == nil {
			key[i] = number
			continue
		}
		if err := json.Unmarshal(part, &word); err != nil {
			return nil, fmt.Errorf("key of %s: %w", t.Name, err)
		}
		key[i] = word
		if t.Columns[i].Kind == Bytes { // in the encoding of encoding/json
			if key[i], err = base64.StdEncoding.DecodeString(word); err != nil {
				return nil, fmt.Errorf("key of %s: %w", t.Name, err)
			}
		}
	}
	return key, nil
}
