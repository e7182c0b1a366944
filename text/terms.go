package text

import (
	"strings"
	"unicode/utf8"
)

// Analyser makes terms of texts in one language. It remembers the stems of the words it met, which makes it fast on the
// passages of one document. It is not safe for concurrent use. Texts of a document repeat their words, and stemming is
// the most expensive step.
type Analyser struct {
	lang  language
	stems map[string]string
}

// maxStems bounds an Analyser's memory to a few megabytes. When they are full, all are forgotten: counting which were
// used would cost more than stemming again.
const maxStems = 1 << 15

// NewAnalyser returns an analyser for a language (ISO 639-1). Words of a language without a stemmer are only folded.
func NewAnalyser(lang string) *Analyser {
	l, _ := languageOf(lang)
	return &Analyser{lang: l, stems: make(map[string]string)}
}

// Terms returns the terms of s in order: words in lower case, folded and stemmed, and the bigrams of runs of scripts
// that are written without spaces. A term has letters, marks, numbers, "_" and "." only, never a space, and at most
// about 100 bytes. Positions in the result are what phrases are searched by, for which reason stop words stay.
func (a *Analyser) Terms(s string) []string {
	out := make([]string, 0, len(s)/6+1)
	a.eachTerm(s, func(term string, _, _ int) { out = append(out, term) })
	return out
}

// Line returns the terms of s separated by spaces. That is the form in which indexes take it, and in which terms can't
// be mistaken for each other.
func (a *Analyser) Line(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	a.eachTerm(s, func(term string, _, _ int) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(term)
	})
	return b.String()
}

// Span is a term with its place in the text, in runes.
type Span struct {
	Term       string
	Start, End int
}

// Spans returns the terms of s with their places, in order. The spans of bigrams overlap. A snippet's marks are drawn
// there.
func (a *Analyser) Spans(s string) []Span {
	out := make([]Span, 0, len(s)/6+1)
	runes, bytes := 0, 0 // runes in s[:bytes]
	a.eachTerm(s, func(term string, start, end int) {
		if start >= bytes {
			runes += utf8.RuneCountInString(s[bytes:start])
		} else {
			runes -= utf8.RuneCountInString(s[start:bytes])
		}
		bytes = start
		out = append(out, Span{term, runes, runes + utf8.RuneCountInString(s[start:end])})
	})
	return out
}

// eachTerm calls add with every term and its byte range.
func (a *Analyser) eachTerm(s string, add func(term string, start, end int)) {
	scanTokens(s, func(t token) bool {
		raw := s[t.start:t.end]
		switch {
		case t.grams:
			eachGram(raw, func(g string, from, to int) {
				if g != "" {
					add(g, t.start+from, t.start+to)
				}
			})
		case t.beside && isElision(raw):
		default:
			if term := a.cachedTerm(cutToken(raw)); term != "" {
				add(term, t.start, t.end)
			}
		}
		return true
	})
}

// cachedTerm is the term of a word, from memory if it was met before.
func (a *Analyser) cachedTerm(raw string) string {
	if t, ok := a.stems[raw]; ok {
		return t
	}
	if len(a.stems) >= maxStems {
		clear(a.stems)
	}
	t := a.lang.termOf(cleanToken(raw))
	a.stems[strings.Clone(raw)] = t // not a part of s, which may be large
	return t
}

// isElision reports whether a piece beside an apostrophe is an elision or an ending: l', qu', 's, 't, 'll.
func isElision(piece string) bool { return len(piece) <= 2 }

// eachGram calls add with each pair of neighbouring runes of a run and its byte range, or with a run of one rune as it
// is.
func eachGram(run string, add func(g string, from, to int)) {
	_, first := utf8.DecodeRuneInString(run)
	if first >= len(run) {
		add(plainGram(run), 0, len(run))
		return
	}
	for i, size := 0, first; i+size < len(run); {
		_, next := utf8.DecodeRuneInString(run[i+size:])
		add(plainGram(run[i:i+size+next]), i, i+size+next)
		i, size = i+size, next
	}
}

// Terms returns the terms of s in the language, as Analyser.Terms does. For more than one text an Analyser is faster.
func Terms(s, lang string) []string { return NewAnalyser(lang).Terms(s) }
