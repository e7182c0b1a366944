package agent

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"footnote/chat"
	"footnote/english"
)

// evidence is what the sentences of an answer may rest on, and compares them with it: the passages behind footnotes, what tools returned that
// show none, and the text that came with the question. One goroutine uses it at a time.
type evidence struct {
	sources  *sources
	cite     *citer
	question string   // as it was asked
	given    string   // the text that the whole answer comes from; empty: it comes from documents
	added    []string // paragraphs of the text that came with the question besides the documents
	listing  bool     // the question is about the library's list, so that its words prove nothing
	returned returned

	claimed   []claim // of the answer that was looked at last
	claimedOf string
}

func newEvidence(s *sources, c *citer, req chat.RunRequest) *evidence {
	e := &evidence{sources: s, cite: c, question: req.Message, given: req.ContextText}
	for p := range strings.SplitSeq(req.AddedContext, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			e.added = append(e.added, p)
		}
	}
	return e
}

// unchecked is the confidence in an answer of which nothing could be compared with passages.
const unchecked = 0.8

// evaluate compares each sentence with the passages behind its footnotes, and those that carry none with the footnotes that follow in their
// paragraph. Confidence is the share of borne out sentences among those that state something, lowered by quotes that are not word for word.
func (e *evidence) evaluate(markdown string) (confidence float64, explained string, unsupported []string) {
	unsupported = []string{}
	cited, backed, without, covered := 0, 0, 0, 0
	said := map[string]bool{} // what is backed once may be said again
	for _, c := range e.claimsOf(markdown) {
		switch {
		case len(c.numbers) > 0:
			if cited++; e.backed(c) || c.leads() {
				backed++
				said[c.text] = true
				continue
			}
		case !states(c.text):
			continue
		default:
			if without++; said[c.text] || e.covered(c) {
				covered++
				continue
			}
		}
		unsupported = append(unsupported, c.text)
	}
	if cited == 0 || len(e.cite.list) == 0 {
		return 0.1, "No sentence carries a footnote.", unsupported
	}
	exact := 0
	for _, c := range e.cite.list {
		if c.Check == chat.CheckVerified {
			exact++
		}
	}
	confidence = float64(backed+covered) / float64(cited+without) * (0.8 + 0.2*float64(exact)/float64(len(e.cite.list)))
	explained = fmt.Sprintf("%d of %s with footnotes %s backed by %s; ", backed, english.Count(cited, "sentence"), either(cited == 1, "is", "are"), either(cited == 1, "its passages", "their passages"))
	if bare := without - covered; bare > 0 {
		explained += fmt.Sprintf("%s without a source %s in no passage; ", english.Count(bare, "sentence"), either(bare == 1, "stands", "stand"))
	}
	explained += fmt.Sprintf("%d of %s %s word for word in the documents.", exact, english.Count(len(e.cite.list), "quote"), either(len(e.cite.list) == 1, "stands", "stand"))
	return rounded(confidence), explained, unsupported
}

// rounded is a confidence in hundredths.
func rounded(confidence float64) float64 { return math.Round(confidence*100) / 100 }

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// anyBacked reports whether a claim with footnotes is backed, or there is none to check.
func (e *evidence) anyBacked(text string) bool {
	cited := false
	for _, c := range e.claimsOf(text) {
		if len(c.numbers) > 0 && e.partlyBacked(c) || len(c.around) > 0 && e.holds(c.text, c.around) {
			return true
		}
		cited = cited || len(c.numbers) > 0
	}
	return !cited
}

// inAddedContext reports whether a paragraph of the added context bears a sentence out.
func (e *evidence) inAddedContext(said string) bool {
	return slices.ContainsFunc(e.added, func(p string) bool { return e.cite.judge.Backed(said, talkOfContext, p) })
}

// talkOfContext are words with which answers speak of the added context. They need not stand in it.
const talkOfContext = talkAbout + " given provided context "

// restsOnContext reports whether the added context bears out every statement of an answer without footnotes.
func (e *evidence) restsOnContext(answer string) bool {
	if len(e.added) == 0 {
		return false
	}
	stated := 0
	for _, c := range e.claimsOf(answer) {
		if len(c.numbers) > 0 {
			return false
		}
		if !states(c.text) {
			continue
		}
		if stated++; !e.inAddedContext(c.text) {
			return false
		}
	}
	return stated > 0
}
