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

// Phrases are sentences that other parts of the program say in English, as the API, the log and stored events have
// them. They are told by their form: "{n} passages in {documents}" is what "12 passages in 3 documents" was made of.
type Phrases struct {
	exact map[string]bool
	forms []phraseForm // the one with the most words first
}

// phraseForm is a sentence's words between its holes.
type phraseForm struct {
	words  string   // the English words, under which the catalogues have it
	parts  []string // what stands before, between and behind its holes: one more than there are holes
	holes  []string
	weight int      // bytes of it that are no holes
	void   []string // holes right behind others, which hold what stands in both
}

//go:embed phrases.txt
var phraseList string

// known are the phrases of the program, made when the first page in another language than English is drawn.
var known = sync.OnceValue(func() *Phrases { return newPhrases(strings.Split(strings.TrimSpace(phraseList), "\n")) })

// Known says an English sentence of another part of the program in the context's language, as it is if it is none that
// is known.
func Known(ctx context.Context, sentence string) string {
	l := Of(ctx)
	if l == English || sentence == "" {
		return sentence
	}
	said, _ := known().say(l, sentence, anyForm, maxDepth)
	return said
}

// KnownClosely is Known for words that may be a model's: only a form with much of the program's own words counts.
func KnownClosely(ctx context.Context, sentence string) string {
	l := Of(ctx)
	if l == English || sentence == "" {
		return sentence
	}
	said, _ := known().say(l, sentence, closeForm, maxDepth)
	return said
}

// Bounds of what is recognised, so that no sentence takes long.
const (
	anyForm     = 0     // bytes of words that a form has at least
	closeForm   = 30    // likewise
	maxDepth    = 3     // phrases inside phrases
	maxSentence = 1_000 // bytes; a longer one stays as it is
)

// newPhrases makes phrases of their forms, one in a line. What counts has a form for one and, behind a tab, one for
// more.
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

// add adds a form under the words that the catalogues have it by.
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

// match returns what stands in the form's holes in a sentence. What {n} holds is a number.
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

// isNumber reports whether a text is a whole number as package english writes it: "1,840".
func isNumber(text string) bool { return strings.Trim(text, "0123456789,") == "" }

// say says an English sentence in a language, if it is exactly one of these or has a form with at least so many bytes
// of words. is tells whether it is.
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

// refill says a form with what its holes held. A hole like {=1} holds a phrase; if it does not, this is no such
// sentence.
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
		case strings.Count(value, " ") > 1 && p.exact[value]: // a sentence in a sentence, no name
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
	if !slices.Contains(f.holes, "{n}") { // some forms for one write it out
		pairs = append(pairs, "{n}", "1")
	}
	return strings.NewReplacer(pairs...).Replace(l.form(f.words, number)), true
}

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
