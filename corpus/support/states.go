package support

import (
	"cmp"
	"slices"

	"github.com/footnote/footnote/text"
)

// SumMetaWords are words that answers use about calculations. They need no match.
const SumMetaWords = MetaWords + " result equal come amount make answer calculate calculation value more " +
	"ergebnis betragen beträgt ergibt mehr résultat égal plus resultado igual más "

// States reports whether a claim states only facts, such as a list of documents or the result of a calculation.
// Every content word must occur in the facts, in about or in names, the labels of the facts. So must the noun that
// a number counts. It must have a word of the facts, or of names if it has no other words. Facts are generated in
// few words, so every word counts, while a passage may be paraphrased. A negated claim states no fact. lang is the
// claim's language; empty: that of the facts.
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

// CountKnown returns the number of content words of a claim and how many of them occur in the texts. It ignores
// numbers and words of about. ok is false if claim and texts have different languages, whose words can't be
// compared.
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
