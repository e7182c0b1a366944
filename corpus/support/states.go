package support

import "regexp"

// statedShare is the share of a claim's weight that facts must hold. It is more than passages need: facts are values
// without sentences around them, so that most of what a sentence says beside them is the speaker's own.
const statedShare = 0.7

// States reports whether a claim says what facts hold, such as a list of documents or the result of a calculation:
// all of its numbers and most of its other words, and what a number counts: “6 dragons” says more than a result of 6.
// Words of about and of names, what the facts are called, count neither way. A claim of which nothing else is left is
// stated if it has a word of names.
func (j *Judge) States(claim, about, names, facts string) bool {
	held, known, named := j.passage(facts), readerOf("en").known(about), j.passage(names)
	total, stated, mentioned := 0.0, 0.0, false
	for _, w := range j.wordsOf(claim, held.lang) {
		switch {
		case held.has(w):
			total, stated = total+w.weight, stated+w.weight
		case named.has(w):
			mentioned = true
		case known.hasAny(w.terms):
		case w.weight == numberWeight:
			return false
		default:
			total += w.weight
		}
	}
	for _, counted := range countedThing.FindAllStringSubmatch(unmarked(claim), -1) {
		for _, w := range j.wordsOf(counted[1], held.lang) {
			if !held.has(w) && !named.has(w) && !known.hasAny(w.terms) {
				return false
			}
		}
	}
	if total == 0 {
		return mentioned
	}
	return stated >= statedShare*total
}

// countedThing is a number with the word right behind it.
var countedThing = regexp.MustCompile(`\d\s+(\p{L}[\p{L}\p{M}]*)`)
