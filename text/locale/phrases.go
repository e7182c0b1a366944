package locale

import (
	"context"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
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
