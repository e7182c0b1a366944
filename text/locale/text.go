package locale

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/text/feature/plural"

	"github.com/footnote/footnote/text/english"
)

// Text is a sentence or a word of the page. Its holes, like {name}, are filled when it is said. The zero Text says
// nothing.
type Text struct{ english string }

// T defines a text by its English words.
func T(english string) Text { return Text{english} }

// IsZero reports whether there is nothing to say.
func (t Text) IsZero() bool { return t.english == "" }

// English is the text as it is defined.
func (t Text) English() string { return t.english }

// In says the text in the context's language. Its holes stay: the page's script fills them.
func (t Text) In(ctx context.Context) string { return Of(ctx).word(t.english) }

// Say says the text with its holes filled: the first hole of the English words with the first value, and so on,
// wherever they stand in the other language. A value is a string, a number, which gets the language's digits, or a
// Text.
func (t Text) Say(ctx context.Context, values ...any) string {
	l := Of(ctx)
	return l.fill(l.word(t.english), holes(t.english), values)
}

// word is a text's translation; English words where there is none.
func (l *Language) word(english string) string {
	if l.alter != nil {
		return l.alter(english)
	}
	if t, ok := l.words()[english]; ok {
		return t.one
	}
	return english
}

// form is the translation of what counts, in the plural form for a number.
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

// Counted is a text that counts something: "{n} page", "{n} pages".
type Counted struct{ one, other string }

// N defines a text that counts by its English words for one and for more. Both have the hole {n}. The catalogues have
// it under the words for more.
func N(one, other string) Counted { return Counted{one, other} }

// Count says how many there are, in the plural form that the language has for the number. values fill the holes but
// {n}.
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

// English are the words for more than one, under which the catalogues have it.
func (c Counted) English() string { return c.other }

// fill puts values in the place of holes, which are in the order of the English words.
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

// value is what fills a hole.
func (l *Language) value(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return l.Digits(v)
	case Text:
		return l.word(v.english)
	}
	return "" // a test finds it: nothing else is ever passed
}

// holes are the holes of a text, in their order.
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

// Digits writes a whole number: "1,840", "1.840", "1 840".
func (l *Language) Digits(n int) string {
	if l.catalogue == "" || -1000 < n && n < 1000 {
		return english.Digits(n)
	}
	return l.numbers.Sprint(n)
}

// Digits writes a whole number in the context's language.
func Digits(ctx context.Context, n int) string { return Of(ctx).Digits(n) }
