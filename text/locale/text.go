package locale

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/text/feature/plural"

	"github.com/footnote/footnote/text/english"
)

// Text is a translatable sentence or word of the page. Placeholders like {name} are filled when it is rendered. The
// zero Text is empty.
type Text struct{ english string }

// T returns the text with the given English words.
func T(english string) Text { return Text{english} }

// IsZero reports whether the text is empty.
func (t Text) IsZero() bool { return t.english == "" }

// English returns the English source text.
func (t Text) English() string { return t.english }

// In returns the translation to the context's language. Placeholders stay: the page's script fills them.
func (t Text) In(ctx context.Context) string { return Of(ctx).word(t.english) }

// Say returns the translation with its placeholders filled. Values are in the order of the English placeholders,
// regardless of their order in the translation. A value is a string, a Text, or a number, which is formatted for
// the language.
func (t Text) Say(ctx context.Context, values ...any) string {
	l := Of(ctx)
	return l.fill(l.word(t.english), holes(t.english), values)
}

// word returns the translation of a text, with the English words as the fallback.
func (l *Language) word(english string) string {
	if l.alter != nil {
		return l.alter(english)
	}
	if t, ok := l.words()[english]; ok {
		return t.one
	}
	return english
}

// form returns the translation of a counted text in the plural form for n.
func (l *Language) form(english string, n int) string {
	forms := l.words()[english].forms
	if forms == nil {
		return l.word(english)
	}
	if words := forms[plural.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0)]; words != "" {
		return words
	}
	return forms[plural.Other]
}

// Counted is a text with singular and plural: "{n} page", "{n} pages".
type Counted struct{ one, other string }

// N returns a counted text with the English singular and plural. Both have the placeholder {n}. The plural is the
// catalogue key.
func N(one, other string) Counted { return Counted{one, other} }

// Count returns the translation in the language's plural form for n. values fill the placeholders other than {n}.
func (c Counted) Count(ctx context.Context, n int, values ...any) string {
	l, words := Of(ctx), c.other
	if n == 1 && l.catalogue == "" {
		words = c.one
	}
	words = strings.ReplaceAll(l.form(words, n), "{n}", l.Digits(n))
	if len(values) == 0 {
		return words
	}
	return l.fill(words, slices.DeleteFunc(holes(c.other), func(hole string) bool { return hole == "{n}" }), values)
}

// fill replaces placeholders with values; open lists the placeholders in the order of the English words.
func (l *Language) fill(words string, open []string, values []any) string {
	if len(values) == 0 {
		return words
	}
	pairs := make([]string, 0, 2*len(values))
	for _, hole := range open {
		if len(pairs) == 2*len(values) {
			break
		}
		pairs = append(pairs, hole, l.value(values[len(pairs)/2]))
	}
	return strings.NewReplacer(pairs...).Replace(words)
}

// value formats the value of a placeholder.
func (l *Language) value(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return l.Digits(v)
	case []any: // a Message
		return l.render(v)
	case Text:
		return l.word(v.english)
	}
	return "" // a test finds it: nothing else is ever passed
}

// holes returns the placeholders of a text, in order.
func holes(text string) []string {
	var found []string
	for {
		from := strings.IndexByte(text, '{')
		if from < 0 {
			return found
		}
		length := strings.IndexByte(text[from:], '}')
		if length < 0 {
			return found
		}
		found = append(found, text[from:from+length+1])
		text = text[from+length+1:]
	}
}

// Digits formats a whole number with the language's separators: "1,840", "1.840", "1 840".
func (l *Language) Digits(n int) string {
	if l.catalogue == "" || -1000 < n && n < 1000 {
		return english.Digits(n)
	}
	return l.numbers.Sprint(n)
}

// Digits formats a whole number in the context's language.
func Digits(ctx context.Context, n int) string { return Of(ctx).Digits(n) }
