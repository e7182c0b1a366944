package support

import (
	"cmp"

	"footnote/corpus/text"
)

// SumMetaWords are words with which answers speak of calculations. They need not stand in one.
const SumMetaWords = MetaWords + " result equal come amount make answer calculate calculation value "

// States reports whether a claim says what facts hold, such as a list of documents or the result of a calculation:
// every content word of it stands in the facts, in about or in names, what the facts are called, and so does what a
// number counts. It has to have something of the facts, or of names if nothing else is said. Facts are written by the
// program in few words, so every word counts here, where a passage may be retold.
func (j *Judge) States(claim, about, names, facts string) bool {
	held, known, named := j.readPassage(facts), readerOf("en").knownTerms(about), j.readPassage(names)
	stated, mentioned, talk := false, false, false
	for _, w := range j.wordsOf(claim, held.lang) {
		switch {
		case held.hasClaimed(w):
			stated = true
		case named.hasClaimed(w):
			mentioned = true
		case !known.hasAny(w.terms):
			return false
		default:
			talk = true
		}
	}
	return stated || mentioned && !talk
}

// CountKnown returns how many content words a claim has besides numbers and those of about, and how many of these stand
// in other texts. ok is false if the claim is in another language than they are, so that words can't be compared.
func (j *Judge) CountKnown(claim, about, texts string) (words, known int, ok bool) {
	lang, spoken := text.Detect(texts), text.Detect(claim)
	if lang != "" && spoken != "" && lang != spoken {
		return 0, 0, false
	}
	r := readerOf(cmp.Or(spoken, lang))
	there, talk := r.readSentence(texts).terms, r.knownTerms(about)
	for _, t := range r.readSentence(plainClaim(claim)).tokens {
		if t.relation || t.count || talk.hasAny(t.terms) {
			continue
		}
		if words++; there.hasAny(t.terms) {
			known++
		}
	}
	return words, known, true
}
