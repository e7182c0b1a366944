package httpio

import (
	"encoding/json"
	"time"
)

// Moment is a time in RFC 3339, or a date, which is parsed as its start in UTC. Empty and null are the zero time.
type Moment struct{ time.Time }

// UnmarshalJSON decodes the time. The decoder adds the field's name to its error.
func (m *Moment) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if text == "" {
		m.Time = time.Time{}
		return nil
	}
	var err error
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if m.Time, err = time.Parse(form, text); err == nil {
			return nil
		}
	}
	return err
}

// NotNil returns a list that encodes as [] and never as null.
func NotNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Each converts a list. The result encodes as [] if there is none.
func Each[A, B any](list []A, convert func(A) B) []B {
	out := make([]B, 0, len(list))
	for _, v := range list {
		out = append(out, convert(v))
	}
	return out
}

// Known returns a time as a field that is null, or left out, while it is zero.
func Known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
