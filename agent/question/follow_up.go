package question

import (
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/text/lazy"
)

// reference classifies how a question depends on the context of the last answer.
type reference int

// Kinds of references to the last answer.
const (
	byItself reference = iota
	pointing           // refers to the context: “When was it built?”
	AsksWhy            // asks only about the answer: “Why?”, “What do you mean by that?”
	Rework             // asks for another form of the answer: “Explain that in simple terms”, “as a list”
)

// mostReferring is the maximum number of words of a question about the last answer alone. A longer question has its
// own subject. The limit is not measured.
const mostReferring = 12

// enclitic matches a Spanish or Italian imperative with its object: explícalo, dilo, spiegalo.
var enclitic = lazy.Regexp(
	`^(?:\p{L}*[áéíóú]\p{L}*[ae]l[oa]s?|(?:di|haz|pon)l[oa]s?|\p{L}{3,}[ai]lo|(?:dil|fal)lo)$`,
)

// bringsText matches a text after a colon or on a further line, the object of the words before it: “Translate this:
// The roof is good”.
var bringsText = lazy.Regexp(`(?s)[:\n]\s*\S*\p{L}`)

// referenceOf classifies the reference of a question to the last answer. Function words identify the language; if
// several match, the strongest reference counts.
func referenceOf(q string) reference {
	said := wordsAt(q)
	fits := spokenBy(said)
	best := byItself
	for _, g := range fits {
		best = max(best, g.referenceOf(q, said))
	}
	return best
}

// spokenBy returns the grammars with the most function words among the tokens, in their usual order. It returns at
// least one grammar, since all match if none knows a word.
func spokenBy(said []wordAt) []grammar {
	most, fits := 0, []grammar{}
	for _, g := range grammars {
		n := 0
		for _, w := range said {
			// three-letter words occur in any language
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

// referenceOf classifies the reference of the tokens by this grammar. Long questions, and those with names or
// digits, have their own subject. The order of the cases is that of strength: “Why?” depends more on the answer than
// “When was it built?”.
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

// isOrder reports whether tokens are an order about the last answer: a verb, the pronoun for the answer, and a
// manner. At most four content words are allowed, as in “explain that in simple terms for a child”.
func (g grammar) isOrder(q string, said []wordAt, back, content int) bool {
	if hyphen := slices.Contains(
		wordList("le la les ça"), said[0].word[strings.LastIndexByte(said[0].word, '-')+1:],
	); enclitic().MatchString(said[0].word) || g.language == "fr" && hyphen && strings.Contains(said[0].word, "-") {
		return content <= 3 &&
			(len(said) == 1 || g.isFunction(said[1].word) && !slices.Contains(g.conjunctions, said[1].word))
	}
	if back < 1 || content > 4 {
		return false
	}
	verb := -1
	for i, w := range said[:back] {
		isVerb := !g.isFunction(w.word) || commanding().MatchString(w.word) || exploratory().MatchString(w.word)
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

// isManner reports whether tokens only specify a form: “as a list”, “in bullet points”, “shorter, please”.
func (g grammar) isManner(q string, said []wordAt, content int) bool {
	if strings.Contains(q, "?") || content == 0 || content > 2 {
		return false
	}
	politely := slices.ContainsFunc(said, func(w wordAt) bool { return slices.Contains(g.polite, w.word) })
	return politely && content == 1 || len(said) <= 5 && slices.Contains(g.manner, said[0].word)
}

// namesThing reports whether tokens name a thing: with a definite article, or with a capital in a language that does
// not capitalise all nouns. A name after a preposition of manner may be a language: “in German”.
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

// isWholeQuestion reports whether a short question has its own subject: a question word and a named thing.
func isWholeQuestion(q string) bool {
	said := wordsAt(q)
	return slices.ContainsFunc(grammars, func(g grammar) bool {
		return len(said) > 0 && slices.Contains(g.questions, said[0].word) && g.namesThing(q, said)
	})
}

// seeks matches verbs of orders that documents answer, whatever text follows: “Find this in the lease: …”.
var seeks = lazy.Regexp(`^(?:find|search|look|show|list|give|tell|name|open|read|check|count|answer|compare)$`)

// makes matches verbs of requests with the form of the result and no subject: “Make this friendlier”.
var makes = lazy.Regexp(`^(?:make|put|say|mache?|fais|haz|fai)$`)

// textBegin matches the start of a text: a colon or a new line. A colon inside a token, as in a time or JSON, does
// not match.
var textBegin = lazy.Regexp(`:\s|\n`)

// ownText splits a message into an order and the text after its first colon or line. ok is false without both.
func ownText(q string) (order, body string, ok bool) {
	at := textBegin().FindStringIndex(q)
	if at == nil {
		return "", "", false
	}
	order, body = q[:at[0]], strings.TrimSpace(q[at[1]:])
	return order, body, strings.ContainsFunc(order, unicode.IsLetter) && strings.ContainsFunc(body, unicode.IsLetter)
}

// OrdersOwnText reports whether a message orders another form of the text that it contains. The order has a verb, a
// pronoun for the text and a manner (“Make this friendlier: …”), or a verb and a form (“Translate into German: …”).
// It parses the grammar of the order.
func OrdersOwnText(q string) bool {
	order, body, ok := ownText(q)
	if !ok || strings.HasSuffix(body, "?") {
		return false
	}
	said := wordsAt(order)
	sentence := strings.ContainsAny(body[len(body)-1:], ".!") && len(strings.Fields(body)) > 3
	return slices.ContainsFunc(spokenBy(said), func(g grammar) bool {
		words := slices.DeleteFunc(slices.Clone(said), func(w wordAt) bool {
			return slices.Contains(slices.Concat(g.polite, g.you, []string{"can", "could"}), w.word)
		})
		if len(words) < 2 || seeks().MatchString(words[0].word) {
			return false
		}
		back := slices.ContainsFunc(words, func(w wordAt) bool { return slices.Contains(g.back, w.word) })
		if !back { // “Translate into German”
			return len(words) == 3 && !g.isFunction(words[0].word) && !exploratory().MatchString(words[0].word) &&
				slices.Contains(g.manner, words[1].word) && !g.isFunction(words[2].word)
		}
		how := sentence || !slices.Contains(g.back, words[len(words)-1].word)
		return how && (makes().MatchString(words[0].word) && slices.Contains(g.back, words[1].word) ||
			g.referenceOf(order, said) == Rework)
	})
}

// bringsWords reports whether a message contains a text after a colon or on a further line, and does not start as a
// question.
func bringsWords(q string) bool {
	order, _, ok := ownText(q)
	said := wordsAt(order)
	return ok && len(said) > 0 && !slices.ContainsFunc(grammars, func(g grammar) bool {
		return slices.Contains(g.questions, said[0].word)
	})
}

// isAddressed reports whether a message addresses the assistant and names at most one thing: “Can you sing?”.
func isAddressed(q string) bool {
	said := wordsAt(q)
	if len(said) == 0 || len(said) > mostReferring || strings.ContainsAny(q, "0123456789") {
		return false
	}
	return slices.ContainsFunc(spokenBy(said), func(g grammar) bool {
		you, content := false, 0
		for _, w := range said {
			you = you || slices.Contains(g.you, w.word)
			if !g.isFunction(w.word) && !slices.Contains(slices.Concat(g.polite, g.you, g.self), w.word) {
				content++
			}
		}
		return you && content <= 1 && !g.namesThing(q, said)
	})
}

var digits = lazy.Regexp(`\d+`)

// listNumber matches the number of a list item.
var listNumber = lazy.Regexp(`(?m)^\s*\d{1,3}[.)]\s`)

// NeedsNone reports whether a model's reply to an undecided message can be its answer without documents. The reply
// must contain no new number, and if the text in the message is a question, a question too. claims are the factual
// claims of the reply. For a message without a text, each must be in the first person.
func NeedsNone(message, reply string, claims []string) bool {
	for _, n := range digits().FindAllString(listNumber().ReplaceAllString(reply, ""), -1) {
		if !slices.Contains(digits().FindAllString(message, -1), n) {
			return false
		}
	}
	if _, body, ok := ownText(message); ok {
		return !strings.HasSuffix(body, "?") || strings.ContainsRune(reply, '?')
	}
	return !slices.ContainsFunc(claims, func(said string) bool {
		return !slices.ContainsFunc(wordsAt(said), func(w wordAt) bool {
			return slices.ContainsFunc(grammars, func(g grammar) bool { return slices.Contains(g.self, w.word) })
		})
	})
}
