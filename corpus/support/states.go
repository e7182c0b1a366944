package support

import (
	"cmp"
	"slices"

	"github.com/footnote/footnote/text"
)

// SumMetaWords are words with which answers speak of calculations. They need not stand in one.
const SumMetaWords = MetaWords + " result equal come amount make answer calculate calculation value more " +
	"ergebnis betragen beträgt ergibt mehr résultat égal plus resultado igual más "

// States reports whether a claim says what facts hold, such as a list of documents or the result of a calculation:
// every content word of it stands in the facts, in about or in names, what the facts are called, and so does what a
// number counts. It has to have something of the facts, or of names if nothing else is said. Facts are written by the
// program in few words, so every word counts here, where a passage may be retold. A claim that denies something states
// no fact. lang is the claim's language; empty: that of the facts.
func (j *Judge) States(lang, claim, about, names, facts string) bool {
	held, named := j.readPassage(facts), j.readPassage(names)
	lang = cmp.Or(lang, held.lang)
	known := readerOf(lang).knownTerms(about)
	if slices.Contains(j.readClaim(plainClaim(claim), lang).negated, true) {
		return false
	}
	stated, mentioned, talk := false, false, false
	for _, w := range j.wordsOf(claim, lang) {
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
