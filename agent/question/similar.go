package question

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/text"
)

// intent is what two questions must have in common that the same tools answer. Two with the same key ask for the same
// with the same words, in any order, form and politeness; a number, a name, quoted words, a negation or another way of
// asking tells them apart. A remembered choice of tools is used again only when all of it is equal
// (docs/decisions/agent.md).
type intent struct {
	// the question words; “?” for a question that yes or no answers; empty for what and which, and for no question
	// word
	kind  string
	terms []string // of the content words, sorted, each once
	exact []string // what must be the same in the same order: numbers, names and quoted words
	turns []string // function words that turn what is said: not, before, all
}

// countable is what makes another question of a question word.
var countable = wordList("many much viel viele vielen")

// request is how a question begins that is an order: “Can you …”.
var request = regexp.MustCompile(
	`(?i)^(?:(?:hey|hi|hello|please|bitte)\W+)*(?:(?:can|could|would|will) you|(?:kannst|könntest) ` +
		`du|(?:können|könnten) sie|(?:peux|pourrais)-tu|puedes|puoi)\s+`,
)

// IntentOf reads a question. What it does not understand makes it differ from others: a model that chooses once more
// costs less than tools that do not fit. Words are stemmed, so that forms of a word are one; where a person is asked
// for and a name is in the question they are not, as stems would hide who does what to whom.
func IntentOf(q string) intent {
	g := spokenBy(wordsAt(q))[0]
	ordered := request.ReplaceAllString(q, "")
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

// kindOf is what kind of answer a question wants: its question words, sorted, each once.
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
		!exploratory.MatchString(said[0].word) && !commanding.MatchString(said[0].word) {
		return "?"
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), " ")
}

// Key is one string for all of it, empty for a question that says too little to be compared.
func (a intent) Key() string {
	if len(a.terms) < 2 {
		return ""
	}
	return strings.Join(
		[]string{a.kind, strings.Join(a.terms, " "), strings.Join(a.exact, " "), strings.Join(a.turns, " ")}, "\x01",
	)
}
