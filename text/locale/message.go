package locale

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/text/english"
)

// Message is an English sentence that is stored or sent before the reader's language is known. A sentence without
// values is the string itself, so that a Message can be a constant and an old stored sentence is one. A sentence with
// values is a JSON array of its form and the values; see Say. The form is the key of its translations. Stores keep
// a Message as it is; responses of the API have its English text, String.
type Message string

// Say returns a message with a constant form and a value for each placeholder of it, in order. Values that are a
// Message are translated, too; others are formatted by fmt.Sprint.
func Say(form string, values ...any) Message {
	if len(values) == 0 {
		return Message(form)
	}
	parts := []any{form}
	for _, v := range values {
		if m, ok := v.(Message); ok {
			parts = append(parts, m.parts())
		} else {
			parts = append(parts, fmt.Sprint(v))
		}
	}
	return encode(parts)
}

// Count returns a number with a noun: "1 step", "4 steps". The form is the English plural.
func Count(n int, noun string) Message {
	_, plural, _ := strings.Cut(english.Count(0, noun), " ")
	return encode([]any{"{n} " + plural, n, noun})
}

// encode returns the message of a form and its values.
func encode(parts []any) Message {
	raw, err := json.Marshal(parts)
	if err != nil {
		panic(err) // strings, numbers and lists of them have a JSON form
	}
	return Message(raw)
}

// hasValues reports whether the message was made by Say.
func (m Message) hasValues() bool { return strings.HasPrefix(string(m), `["`) }

// parts returns the form and the values.
func (m Message) parts() []any {
	var parts []any
	if m.hasValues() && json.Unmarshal([]byte(m), &parts) == nil {
		return parts
	}
	return []any{string(m)}
}

// In returns the message in the context's language; a sentence without a translation stays English.
func (m Message) In(ctx context.Context) string { return Of(ctx).render(m.parts()) }

// String returns the message in English.
func (m Message) String() string {
	if !m.hasValues() {
		return string(m)
	}
	return English.render(m.parts())
}

// English returns the English text as a message, for a field of the API that is also stored.
func (m Message) English() Message { return Message(m.String()) }

// render returns the sentence of a form and its values.
func (l *Language) render(parts []any) string {
	form, _ := parts[0].(string)
	values, open := parts[1:], holes(form)
	if len(open) == 1 && open[0] == "{n}" && len(values) == 2 {
		n, _ := values[0].(float64)
		if noun, _ := values[1].(string); l == English {
			return english.Count(int(n), noun)
		}
		return strings.ReplaceAll(l.form(form, int(n)), "{n}", l.Digits(int(n)))
	}
	return l.fill(l.word(form), open, values)
}

// Forms are the messages with values among the English sentences of an event, as JSON arrays.
type Forms []json.RawMessage

// Say returns the message in English and adds it to the forms if it has values.
func (f *Forms) Say(m Message) string {
	if m.hasValues() {
		*f = append(slices.Clip(*f), json.RawMessage(m)) // copies of a step share the array
	}
	return m.String()
}

// Of returns the message whose English text is given. A text that is none of the forms is a message without values.
func (f Forms) Of(text string) Message {
	for _, form := range f {
		if m := Message(form); m.String() == text {
			return m
		}
	}
	return Message(text)
}
