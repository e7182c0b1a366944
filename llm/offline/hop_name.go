package offline

import (
	"slices"
	"strings"
	"unicode"

	"footnote/corpus/text"
)

// named is a name in a sentence, with the words beside it.
type named struct {
	name     string
	from, to int // fields of the sentence
	beside   bool
}

var (
	dated = lazily(
		`(?i)^(?:january|february|march|april|may|june|july|august|september|october|november|december|mondays?|` +
			`tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?)$`,
	)
	copula = lazily(`(?i)^(?:is|was|are|were|:)$`)
	parts  = lazily(`(?i)^(?:and|while|whereas|but)$`)
)

func bare(field string) string {
	return strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '&' })
}

// namesIn returns the names of a sentence that a question does not have. proper has the words that were read with a
// capital inside a sentence: a first word that is not among them is no name.
func namesIn(sentence, question, head string, proper map[string]bool) []named {
	fields := strings.Fields(sentence)
	stop := text.Stops("en")
	begins := func(i int) bool { return i == 0 || strings.ContainsAny(fields[i-1][len(fields[i-1])-1:], ".!?:") }
	isHead := func(i int) bool { return i >= 0 && i < len(fields) && sameWord(bare(fields[i]), head) }
	part := func(i int) bool {
		word := bare(fields[i])
		if !capital(word) || dated().MatchString(word) || stop(strings.ToLower(word)) {
			return false
		}
		return !begins(i) || proper[word] || i+1 < len(fields) && capital(bare(fields[i+1])) && !endsName(fields[i])
	}
	var out []named
	for i := 0; i < len(fields); i++ {
		if !part(i) {
			continue
		}
		n := named{from: i, to: i + 1}
		for n.to < len(fields) && !endsName(fields[n.to-1]) &&
			(part(n.to) || fields[n.to] == "&" || isFigure(fields[n.to])) {
			n.to++
		}
		i = n.to - 1
		if isHead(n.from) && n.to-n.from > 1 { // "Captain Ingrid Solheim"
			n.from, n.beside = n.from+1, true
		}
		var words []string
		for _, f := range fields[n.from:n.to] {
			words = append(words, strings.TrimSuffix(strings.TrimSuffix(bare(f), "’s"), "'s"))
		}
		n.name = strings.Join(words, " ")
		if !slices.ContainsFunc(words, func(w string) bool { return !mentions(question, w) }) {
			continue
		}
		n.beside = n.beside || headBeside(fields, n, isHead)
		if n.to < len(fields) && isHead(n.to) && !endsName(fields[n.to-1]) {
			n.name += " " + bare(fields[n.to])
		}
		out = append(out, n)
	}
	return out
}

// headBeside reports whether a name is said to be the thing: "the Lantern team", "the captain is Ruth Amsel", "the
// Trust (the landlord)".
func headBeside(fields []string, n named, isHead func(int) bool) bool {
	skip := func(i, by int) int {
		for i >= 0 && i < len(fields) &&
			(determiner().MatchString(bare(fields[i])) || copula().MatchString(bare(fields[i]))) {
			i += by
		}
		return i
	}
	return isHead(skip(n.to, 1)) || isHead(skip(n.from-1, -1))
}

func endsName(field string) bool { return strings.ContainsAny(field[len(field)-1:], ",;:.!?)") }

func isFigure(field string) bool {
	return hasDigit().MatchString(field) && !strings.ContainsFunc(bare(field), unicode.IsLetter)
}

func sameWord(a, b string) bool {
	return strings.EqualFold(a, b) || a != "" && slices.Equal(text.Terms(a, "en"), text.Terms(b, "en"))
}

// theName chooses the name that a sentence gives to the thing. Of several, it is the only one beside what the thing
// is called, or the one in the part of the sentence that speaks of it; where two are named alike there is none.
func theName(
	sentence, question string, h hop, words []word, proper map[string]bool, analyser *text.Analyser,
) (named, bool) {
	all := namesIn(sentence, question, h.head, proper)
	if len(all) == 0 {
		return named{}, false
	}
	beside := slices.DeleteFunc(slices.Clone(all), func(n named) bool { return !n.beside })
	if len(beside) == 1 || len(all) == 1 {
		chosen := append(beside, all...)[0]
		return chosen, true
	}
	if len(beside) > 1 {
		all = beside
	}
	fields := strings.Fields(sentence)
	best, most, tie := named{}, 0.0, false
	for i, from := 0, 0; i < len(fields); i++ {
		last := i == len(fields)-1
		if !last && !parts().MatchString(fields[i+1]) && !strings.HasSuffix(fields[i], ";") {
			continue
		}
		part, start := fields[from:i+1], from
		inside := slices.DeleteFunc(slices.Clone(all), func(n named) bool { return n.from < from || n.from > i })
		from = i + 1
		if len(inside) == 0 {
			continue
		}
		held, terms := 0.0, termSet(analyser, strings.Join(part, " "))
		for _, w := range words {
			if !w.light {
				held += w.need * w.in(terms)
			}
		}
		switch {
		case held == 0 && onlyNames(part, start, inside), len(inside) > 1 && held >= most && held > 0:
			// "by Maurel and by Thorn"
			tie = true
		case held > most:
			best, most = inside[0], held
		case held == most:
			tie = true
		}
	}
	return best, most > 0 && !tie
}

// onlyNames reports whether a part of a sentence says nothing but names.
func onlyNames(part []string, start int, inside []named) bool {
	stop := text.Stops("en")
	for i, f := range part {
		in := slices.ContainsFunc(inside, func(n named) bool { return n.from <= start+i && start+i < n.to })
		if word := bare(f); !in && word != "" && !stop(strings.ToLower(word)) {
			return false
		}
	}
	return true
}
