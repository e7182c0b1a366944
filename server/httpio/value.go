package httpio

import (
	"encoding/json"
	"reflect"
	"time"
)

// Moment is a time in RFC 3339, or a date, which is parsed as its start in UTC. Empty and null are the zero time.
type Moment struct{ time.Time }

// UnmarshalJSON decodes the time. The decoder adds the field's name to its error.
func (m *Moment) UnmarshalJSON(data []byte) error {
	wrong := &json.UnmarshalTypeError{Value: "value", Type: reflect.TypeFor[Moment]()}
	var text string
	if json.Unmarshal(data, &text) != nil {
		return wrong
	}
	if text == "" {
		m.Time = time.Time{}
		return nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			m.Time = t
			return nil
		}
	}
	return wrong
}

// NotNil returns a list that encodes as [] and never as null.
func NotNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
