package support

import (
	"cmp"
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// Adds is the information that a heading adds to the texts below it.
type Adds int

// The kinds of information that a heading adds.
const (
	AddsNothing Adds = iota // it names a topic
	AddsWords               // it has enough words of its own that it may state something
	AddsClaim               // it has the form of a statement
)

// Both figures were tuned on the headings of agent/cite's tests: names of topics have no more than two words that
// the text around them lacks, and a statement has at least a subject and a predicate.
const (
	minWordy  = 3 // own words of a heading that may state something
	minStated = 2 // content words of a stating heading
)

// openings are, by language, words that begin a subordinate clause or a question, whose verb does not make a
// heading a statement. They are a closed class.
var openings = map[string]map[string]bool{
	"en": wordSet("that which who whom whose where when what how why if whether"),
	"de": wordSet("dass was wer wen wem wo wann wie warum wieso ob welche welcher welches wenn"),
	"fr": wordSet("que qui quoi où quand comment pourquoi quel quelle quels quelles si dont"),
	"es": wordSet("que qué quién quiénes cuál cuáles dónde cuándo cómo donde cuando como quien si"),
}

// enumeration matches the number of a heading, alone or after a noun: "1.2", "Step 1:", "第1章".
var enumeration = lazy.Regexp(
	`^\s*(?:\d+(?:\.\d+)*[.):：]?(?:\s|$)|\p{L}+\s*\d+(?:\.\d+)*\p{Han}?\s*(?:[.:：–—-]|$|\s*$))`,
)

// HeadingAdds returns what a heading adds to the texts around it, such as the question and its own section. A
// statement has final punctuation, a number or negation of its own, an auxiliary in a main clause, or more
// consecutive content words than the name of a topic. Without a grammar for the language it only counts words.
func (j *Judge) HeadingAdds(heading, around string) Adds {
	said := enumeration().ReplaceAllString(plainClaim(heading), "")
	lang := text.Detect(said + "\n" + around)
	r := readerOf(lang)
	read, known := r.readSentence(said), r.readSentence(around)
	words, own, run, longest, isNumber, grams := 0, 0, 0, 0, false, 0
	for i, t := range read.tokens {
		if t.relation {
			continue
		}
		words++
		if before := i - 1; before < 0 || t.segment != read.tokens[before].segment ||
			t.part != read.tokens[before].part ||
			t.chunk != read.tokens[before].chunk && t.prep != "" {
			run = 0
		}
		if known.terms.hasAny(t.terms) {
			continue
		}
		if t.gram {
			grams++
			continue
		}
		own++
		isNumber = isNumber || t.count
		run++
		longest = max(longest, run)
	}
	// an article or a word of the texts shows what the consecutive words refer to
	isBound := words > own+grams || r.beginsWithArticle(said)
	differs := slices.Contains(read.negated, true) && (own+grams > 0 || !slices.Contains(known.negated, true))
	switch {
	case words > 0 && (differs || r.assertsSomething(said)), words >= minStated && (isNumber || endsLikeSentence(said)),
		longest >= minWordy && isBound:
		return AddsClaim
	case own+grams/2 >= minWordy:
		return AddsWords
	}
	return AddsNothing
}

// endsLikeSentence reports whether a text ends with the punctuation of a statement.
func endsLikeSentence(s string) bool {
	return strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "。")
}

// beginsWithArticle reports whether the first word of a text is an article or another silent word.
func (r *reader) beginsWithArticle(s string) bool {
	first, _, _ := strings.Cut(s, " ")
	return r.lookUp(first, false).role == silent
}

// assertsSomething reports whether a main clause of a text has an auxiliary after its first word: "is", "can",
// "there is".
func (r *reader) assertsSomething(s string) bool {
	for i, word := range wordsIn(s) {
		l := r.lookUp(word, false)
		switch helps := l.role == auxiliary || l.relation.grammar == modal || l.relation.grammar == passive; {
		case openings[cmp.Or(r.lang, "en")][l.lower]:
			return false
		case helps && i > 0, l.relation.grammar == existential && i == 0:
			return true
		}
	}
	return false
}

// wordsIn returns the words of a text unchanged.
func wordsIn(s string) []string {
	a := judging.Get("")
	defer judging.Put("", a)
	runes := []rune(s)
	var out []string
	for _, span := range a.Spans(s) {
		out = append(out, string(runes[span.Start:span.End]))
	}
	return out
}
