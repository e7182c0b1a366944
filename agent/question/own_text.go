package question

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// seeks are verbs of orders that documents answer, whatever text follows: “Find this in the lease: …”.
var seeks = regexp.MustCompile(`^(?:find|search|look|show|list|give|tell|name|open|read|check|count|answer|compare)$`)

// makes are verbs of requests that name the form of the result and carry no subject: “Make this friendlier”.
var makes = regexp.MustCompile(`^(?:make|put|say|mache?|fais|haz|fai)$`)

// textBegin is what introduces a text: a colon or a new line. A colon inside a word, as in a time or JSON, does not.
var textBegin = regexp.MustCompile(`:\s|\n`)

// ownText divides a message into an order and the text behind its first colon or line. ok is false without both.
func ownText(q string) (order, body string, ok bool) {
	at := textBegin.FindStringIndex(q)
	if at == nil {
		return "", "", false
	}
	order, body = q[:at[0]], strings.TrimSpace(q[at[1]:])
	return order, body, strings.ContainsFunc(order, unicode.IsLetter) && strings.ContainsFunc(body, unicode.IsLetter)
}

// OrdersOwnText reports whether a message orders another form of the text that it brings: with a verb, a word that
// stands for the text, and how (“Make this friendlier: …”), or with a verb and a form (“Translate into German: …”). It
// tells them by the grammar of the order.
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
		if len(words) < 2 || seeks.MatchString(words[0].word) {
			return false
		}
		back := slices.ContainsFunc(words, func(w wordAt) bool { return slices.Contains(g.back, w.word) })
		if !back { // “Translate into German”
			return len(words) == 3 && !g.isFunction(words[0].word) && !exploratory.MatchString(words[0].word) &&
				slices.Contains(g.manner, words[1].word) && !g.isFunction(words[2].word)
		}
		how := sentence || !slices.Contains(g.back, words[len(words)-1].word)
		return how && (makes.MatchString(words[0].word) && slices.Contains(g.back, words[1].word) ||
			g.referenceOf(order, said) == Rework)
	})
}

// bringsWords reports whether a message brings words of its own behind a colon or on a further line, and does not begin
// as a question.
func bringsWords(q string) bool {
	order, _, ok := ownText(q)
	said := wordsAt(order)
	return ok && len(said) > 0 && !slices.ContainsFunc(grammars, func(g grammar) bool {
		return slices.Contains(g.questions, said[0].word)
	})
}

// isAddressed reports whether a message speaks to who answers and names at most one thing: “Can you sing?”.
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

var digits = regexp.MustCompile(`\d+`)

// listNumber begins an item of a list.
var listNumber = regexp.MustCompile(`(?m)^\s*\d{1,3}[.)]\s`)

// NeedsNone reports whether a model's reply to an undecided message can be what was asked for without any document. A
// text that was brought as a question stays one, and no number is new. claims are the statements of the reply: beside a
// text of its own, who answers speaks only of itself and to who asks.
func NeedsNone(message, reply string, claims []string) bool {
	for _, n := range digits.FindAllString(listNumber.ReplaceAllString(reply, ""), -1) {
		if !slices.Contains(digits.FindAllString(message, -1), n) {
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
