package question

import (
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// intent is the normalised meaning of a question, for the cache of tool decisions. Questions with equal intent use
// the same words in any order, form and politeness. They differ by a number, a name, quoted words, a negation or
// another question word. A cached choice of tools is reused only if the whole intent is equal
// (docs/decisions/agent.md).
type intent struct {
	// the question words; “?” for a yes/no question; empty for what and which, and without a question word
	kind  string
	terms []string // stemmed content words, sorted, deduplicated
	exact []string // numbers, names and quoted words, which must be equal and in the same order
	turns []string // function words that change the meaning: not, before, all
}

// countable lists words after “how” that make it another question word.
var countable = wordList("many much viel viele vielen")

// request matches the polite beginning of an order: “Can you …”.
var request = lazy.Regexp(
	`(?i)^(?:(?:hey|hi|hello|please|bitte)\W+)*(?:(?:can|could|would|will) you|(?:kannst|könntest) ` +
		`du|(?:können|könnten) sie|(?:peux|pourrais)-tu|puedes|puoi)\s+`,
)

// IntentOf parses and normalises a question. Unknown words make questions differ, since another choice by a model
// costs less than unsuitable tools. Words are stemmed, except in a question for a person that contains a name: stems
// would hide who does what to whom.
func IntentOf(q string) intent {
	g := spokenBy(wordsAt(q))[0]
	ordered := request().ReplaceAllString(q, "")
	said := wordsAt(ordered)
	var out intent
	capital := func(w wordAt) bool { return unicode.IsUpper([]rune(ordered[w.start:])[0]) }
	named := false
	for i, w := range said {
		switch {
		case strings.ContainsAny(w.word, "0123456789"):
			out.exact = append(out.exact, w.word)
		case i > 0 && capital(w) && !g.isFunction(w.word) && !strings.ContainsAny(w.gap, ".?!:"):
			out.exact = append(out.exact, w.word)
			named = true
		}
		if slices.Contains(g.turns, w.word) {
			out.turns = append(out.turns, w.word)
		}
	}
	slices.Sort(out.turns)
	for _, phrase := range text.Phrases(q) {
		out.exact = append(out.exact, strings.ToLower(phrase))
	}
	out.kind = g.kindOf(ordered, said)
	for _, w := range text.QueryWords(ordered, []string{g.language}) {
		lower := strings.ToLower(w.Text)
		switch {
		case slices.Contains(g.polite, lower), g.isFunction(lower):
		case named &&
			slices.ContainsFunc(g.persons, func(p string) bool { return slices.Contains(strings.Fields(out.kind), p) }):
			// “Who is Ann's manager?”, “Who does Ann manage?”: one stem, two roles
			out.terms = append(out.terms, lower)
		default:
			out.terms = append(out.terms, w.Terms[len(w.Terms)-1])
		}
	}
	slices.Sort(out.terms)
	out.terms = slices.Compact(out.terms)
	return out
}

// kindOf returns the kind of answer that a question asks for: its question words, sorted, deduplicated.
func (g grammar) kindOf(q string, said []wordAt) string {
	var kinds []string
	asks := false
	for i, w := range said {
		if !slices.Contains(g.questions, w.word) {
			continue
		}
		asks = true
		switch {
		case i+1 < len(said) && slices.Contains(countable, said[i+1].word):
			kinds = append(kinds, w.word+" many")
		case !slices.Contains(g.things, w.word):
			kinds = append(kinds, w.word)
		}
	}
	if !asks && strings.HasSuffix(strings.TrimSpace(q), "?") && len(said) > 0 && g.isFunction(said[0].word) &&
		!exploratory().MatchString(said[0].word) && !commanding().MatchString(said[0].word) {
		return "?"
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), " ")
}

// Key encodes the intent as a cache key; empty for a question with fewer than two content words.
func (a intent) Key() string {
	if len(a.terms) < 2 {
		return ""
	}
	return strings.Join(
		[]string{a.kind, strings.Join(a.terms, " "), strings.Join(a.exact, " "), strings.Join(a.turns, " ")}, "\x01",
	)
}
