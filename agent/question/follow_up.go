package question

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// reference is how a question leans on the answer before it.
type reference int

// How a question may lean on the answer before it.
const (
	byItself reference = iota
	pointing           // it points to something said before: “When was it built?”
	AsksWhy            // it asks what or why about the answer alone: “Why?”, “What do you mean by that?”
	Rework             // it wants the answer in another form: “Explain that in simple terms”, “as a list”
)

// mostReferring is how many words a question may have that is about nothing but the last answer. A longer question says
// what it is about; the number is a choice.
const mostReferring = 12

// enclitic is a Spanish or Italian imperative with its object: explícalo, dilo, spiegalo.
var enclitic = regexp.MustCompile(
	`^(?:\p{L}*[áéíóú]\p{L}*[ae]l[oa]s?|(?:di|haz|pon)l[oa]s?|\p{L}{3,}[ai]lo|(?:dil|fal)lo)$`,
)

// bringsText finds text behind a colon or on a further line, which the words before it are about: “Translate this:
// The roof is good”.
var bringsText = regexp.MustCompile(`(?s)[:\n]\s*\S*\p{L}`)

// referenceOf says how a question leans on the answer before it. A language is told by its function words; where
// several fit, any may see a reference.
func referenceOf(q string) reference {
	said := wordsAt(q)
	fits := spokenBy(said)
	best := byItself
	for _, g := range fits {
		best = max(best, g.referenceOf(q, said))
	}
	return best
}

// spokenBy returns the grammars that know most of some words as function words, in their usual order. The result has at
// least one grammar, since all of them fit when none knows a word.
func spokenBy(said []wordAt) []grammar {
	most, fits := 0, []grammar{}
	for _, g := range grammars {
		n := 0
		for _, w := range said {
			// short words of three letters are of any language
			if g.isFunction(w.word) && (g.language != "it" || len(w.word) <= 2) {
				n++
			}
		}
		switch {
		case n > most:
			most, fits = n, []grammar{g}
		case n == most:
			fits = append(fits, g)
		}
	}
	return fits
}

// referenceOf is how words lean on the answer before them by this grammar. Long questions, names and digits stand by
// themselves: they say what they are about. “Why?” leans on the answer more than “When was it built?”: the order of the
// cases is that.
func (g grammar) referenceOf(q string, said []wordAt) reference {
	if len(said) == 0 || len(said) > mostReferring || strings.ContainsAny(q, "0123456789") || g.namesThing(q, said) {
		return byItself
	}
	for len(said) > 1 && slices.Contains(g.conjunctions, said[0].word) {
		said = said[1:]
	}
	back := slices.IndexFunc(said, func(w wordAt) bool { return slices.Contains(g.back, w.word) })
	asks, content := slices.Contains(g.questions, said[0].word), 0
	for _, w := range said {
		if !g.isFunction(w.word) && !slices.Contains(slices.Concat(g.back, g.polite, g.manner), w.word) {
			content++
		}
	}
	switch {
	case content == 0 && slices.ContainsFunc(said, func(w wordAt) bool { return slices.Contains(g.reasons, w.word) }):
		return AsksWhy
	case asks && back >= 0 && content <= 2 && back == len(said)-1 &&
		slices.ContainsFunc(said, func(w wordAt) bool { return slices.Contains(g.you, w.word) }):
		return AsksWhy
	case !asks && g.isOrder(q, said, back, content), !asks && back < 0 && g.isManner(q, said, content):
		return Rework
	case back >= 0:
		return pointing
	}
	return byItself
}

// isOrder reports whether words tell to do something with what was said: a verb, the word that stands for the answer,
// and how. At most four content words may follow, as in “explain that in simple terms for a child”.
func (g grammar) isOrder(q string, said []wordAt, back, content int) bool {
	if hyphen := slices.Contains(
		wordList("le la les ça"), said[0].word[strings.LastIndexByte(said[0].word, '-')+1:],
	); enclitic.MatchString(said[0].word) || g.language == "fr" && hyphen && strings.Contains(said[0].word, "-") {
		return content <= 3 &&
			(len(said) == 1 || g.isFunction(said[1].word) && !slices.Contains(g.conjunctions, said[1].word))
	}
	if back < 1 || content > 4 {
		return false
	}
	verb := -1
	for i, w := range said[:back] {
		isVerb := !g.isFunction(w.word) || commanding.MatchString(w.word) || exploratory.MatchString(w.word)
		switch {
		case slices.Contains(g.polite, w.word), !isVerb && (i == 0 || !slices.Contains(g.questions, w.word)):
		case !isVerb || verb >= 0:
			return false
		default:
			verb = i
		}
	}
	tail := said[back+1:]
	switch {
	case verb < 0, verb != back-1 && !(verb == back-2 && slices.Contains(wordList("me us mir uns"), said[back-1].word)):
		return false // “Tell me more about that”, “Search for it”
	case len(tail) > 0 && slices.Contains(g.determiners, said[back].word) && !g.isFunction(tail[0].word):
		return false // “Explain that boiler”
	}
	return verb == 0 || len(tail) > 0 || !strings.Contains(q, "?") // “Do you recommend it?”
}

// isManner reports whether words say nothing but how: “as a list”, “in bullet points”, “shorter, please”.
func (g grammar) isManner(q string, said []wordAt, content int) bool {
	if strings.Contains(q, "?") || content == 0 || content > 2 {
		return false
	}
	politely := slices.ContainsFunc(said, func(w wordAt) bool { return slices.Contains(g.polite, w.word) })
	return politely && content == 1 || len(said) <= 5 && slices.Contains(g.manner, said[0].word)
}

// namesThing reports whether words name a thing: with a definite article, or with a capital where the language does
// not write all nouns so. A name behind a preposition of manner may be a language: “in German”.
func (g grammar) namesThing(q string, said []wordAt) bool {
	capital := func(w wordAt) bool { return unicode.IsUpper([]rune(q[w.start:])[0]) }
	for i, w := range said {
		if i+1 < len(said) && slices.Contains(g.articles, w.word) && !g.isFunction(said[i+1].word) &&
			(!slices.Contains(g.back, w.word) || slices.ContainsFunc(said[i+1:], capital)) {
			return true
		}
		if i > 0 && g.language != "de" && capital(w) && !slices.Contains(g.manner, said[i-1].word) {
			return true
		}
	}
	return false
}

// isWholeQuestion reports whether a short question says what it is about: it has a question word and names a thing.
func isWholeQuestion(q string) bool {
	said := wordsAt(q)
	return slices.ContainsFunc(grammars, func(g grammar) bool {
		return len(said) > 0 && slices.Contains(g.questions, said[0].word) && g.namesThing(q, said)
	})
}
