package locale

import (
	"context"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"

	"github.com/footnote/footnote/text/english"
)

// Phrases translates English sentences that other parts of the program produce in the API, the log and stored
// events. A sentence is recognised by its form: "12 passages in 3 documents" matches the form "{n} passages in
// {documents}".
type Phrases struct {
	exact map[string]bool
	forms []phraseForm // longest literal text first
}

// phraseForm is a sentence pattern: literal text and placeholders (holes).
type phraseForm struct {
	words  string   // the English words, the key in the catalogues
	parts  []string // literals before, between and after the holes: one more than there are holes
	holes  []string
	weight int      // bytes of literal text
	void   []string // holes directly after other holes, which capture the text of both
}

//go:embed phrases.txt
var phraseList string

// known returns the program's phrases, parsed on first use with a language other than English.
var known = sync.OnceValue(func() *Phrases { return newPhrases(strings.Split(strings.TrimSpace(phraseList), "\n")) })

// Known translates an English sentence of another part of the program to the context's language. An unknown
// sentence is returned unchanged.
func Known(ctx context.Context, sentence string) string {
	l := Of(ctx)
	if l == English || sentence == "" {
		return sentence
	}
	said, _ := known().say(l, sentence, anyForm, maxDepth)
	return said
}

// KnownClosely is Known for text that may come from a model: it matches only forms with at least closeForm bytes of
// literal text.
func KnownClosely(ctx context.Context, sentence string) string {
	l := Of(ctx)
	if l == English || sentence == "" {
		return sentence
	}
	said, _ := known().say(l, sentence, closeForm, maxDepth)
	return said
}

// Limits of recognition, which bound its time.
const (
	anyForm     = 0     // minimum literal bytes of a form
	closeForm   = 30    // likewise
	maxDepth    = 3     // nesting depth of phrases
	maxSentence = 1_000 // bytes; a longer sentence is returned unchanged
)

// newPhrases parses forms, one in a line. A counted form has the singular and, after a tab, the plural.
func newPhrases(lines []string) *Phrases {
	p := &Phrases{exact: map[string]bool{}}
	for _, line := range lines {
		one, more, counts := strings.Cut(line, "\t")
		if !counts {
			more = one
		}
		p.add(more, more)
		if counts {
			p.add(one, more)
		}
	}
	slices.SortStableFunc(p.forms, func(a, b phraseForm) int { return b.weight - a.weight })
	return p
}

// add adds a form with its catalogue key words.
func (p *Phrases) add(form, words string) {
	f := phraseForm{words: words}
	for {
		from := strings.IndexByte(form, '{')
		if from < 0 {
			break
		}
		to := from + strings.IndexByte(form[from:], '}') + 1
		if hole := form[from:to]; from == 0 && len(f.holes) > 0 {
			f.void = append(f.void, hole)
		} else {
			f.parts, f.holes = append(f.parts, form[:from]), append(f.holes, hole)
		}
		form = form[to:]
	}
	if len(f.holes) == 0 && form == words {
		p.exact[form] = true
		return
	}
	f.parts = append(f.parts, form)
	f.weight = len(strings.Join(f.parts, ""))
	p.forms = append(p.forms, f)
}

// match returns the values of the form's holes in a sentence. {n} matches only a number.
func (f phraseForm) match(sentence string) ([]string, bool) {
	rest, begins := strings.CutPrefix(sentence, f.parts[0])
	if !begins {
		return nil, false
	}
	values := make([]string, 0, len(f.holes))
	for i := range f.holes {
		after, at := f.parts[i+1], -1
		switch {
		case i+2 < len(f.parts):
			at = strings.Index(rest, after)
		case strings.HasSuffix(rest, after): // the last part ends the sentence
			at = len(rest) - len(after)
		}
		if at <= 0 || f.holes[i] == "{n}" && !isNumber(rest[:at]) {
			return nil, false
		}
		values, rest = append(values, rest[:at]), rest[at+len(after):]
	}
	return values, rest == ""
}

// isNumber reports whether a text is a whole number as formatted by package english: "1,840".
func isNumber(text string) bool { return strings.Trim(text, "0123456789,") == "" }

// say translates an English sentence. is reports whether it is a known sentence or matches a form with at least
// least bytes of literal text.
func (p *Phrases) say(l *Language, sentence string, least, depth int) (said string, is bool) {
	if len(sentence) > maxSentence || depth == 0 {
		return sentence, false
	}
	if p.exact[sentence] {
		return l.word(sentence), true
	}
	for _, f := range p.forms {
		if f.weight < least {
			break // the ones with fewer words follow
		}
		if values, fits := f.match(sentence); fits {
			if said, is := p.refill(l, f, values, depth); is {
				return said, true
			}
		}
	}
	return sentence, false
}

// refill translates a form and inserts the values of its holes. The value of a hole like {=1} must itself be a
// known phrase; otherwise is is false.
func (p *Phrases) refill(l *Language, f phraseForm, values []string, depth int) (said string, is bool) {
	pairs := make([]string, 0, 2*len(values)+2)
	number := 1
	for i, hole := range f.holes {
		value := values[i]
		switch {
		case strings.HasPrefix(hole, "{="):
			if value, is = p.say(l, value, anyForm, depth-1); !is {
				return "", false
			}
		case strings.Count(value, " ") > 1 && p.exact[value]: // a nested sentence, not a name
			value = l.word(value)
		case hole == "{n}":
			number, _ = strconv.Atoi(strings.ReplaceAll(value, ",", ""))
			value = l.Digits(number)
		}
		pairs = append(pairs, hole, value)
	}
	for _, hole := range f.void {
		pairs = append(pairs, hole, "")
	}
	if !slices.Contains(f.holes, "{n}") { // some singular forms spell the number out
		pairs = append(pairs, "{n}", "1")
	}
	return strings.NewReplacer(pairs...).Replace(l.form(f.words, number)), true
}

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

// English returns the English plural, which is the catalogue key.
func (c Counted) English() string { return c.other }

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
