// Package cite ties answers to documents. Sources number the passages that a run was shown; the Writer streams an
// answer and hands the model's markers to the Citer, which gives each footnote the words that bear its claim out;
// Evidence compares every sentence with the passages behind its footnotes, with what tools returned and with the text
// that came with the question. It knows no tool and calls no model.
//
// What comes in are passages (Sources, filled by tools), the model's text (Writer) and what tools returned
// (ToolResults); what goes out are footnotes with words of the stored text (Citation), the answer's text as deltas, and
// a judgement of each sentence (Evidence). sources.go, quote_span.go and citer.go make footnotes; writer.go streams;
// markdown.go, claims.go, quotation.go and heading.go say what the sentences of an answer are; support.go,
// factual_claim.go, compare.go, tool_results.go, done.go, code.go and doubt.go say what holds them; placed_footnotes.go
// and follow_ups.go complete an answer. Whether words hold a claim is corpus/support's to say.
//
// A footnote's quote is always a slice of a stored text, never the model's words. A sentence that can't be judged is
// counted as such and not as supported.
package cite

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
)

// Evidence is what the sentences of an answer may rest on, and compares them with it: the passages behind footnotes,
// what tools returned that show none, and the text that came with the question. One goroutine uses it at a time. What
// it compares with grows while the run goes on, so an answer is judged by all that was known when it was given.
type Evidence struct {
	sources  *Sources
	citer    *Citer
	question string   // as it was asked
	given    string   // the text that the whole answer comes from; empty: it comes from documents
	Added    []string // paragraphs of the text that came with the question besides the documents
	InReach  int      // how many documents searches look into
	Listing  bool     // the question is about the library's list, so that its words prove nothing
	Results  ToolResults
	// the model behind the answer writes nothing but quotes and words of the program's own, which state nothing of
	// documents: what has no footnote and is held by nothing is no claim
	QuotesOnly bool
	// sentences of the answer that the model which judged it found in none of the texts it was shown, and those that it
	// was asked about and found there
	Doubted, Confirmed []string

	passages  passageIndex
	claimed   []Claim // of the answer that was looked at last
	claimedOf string
	quotes    []string // of its footnotes
	unchecked int      // lines of its code whose words can't be judged and stand in no text
}

// NewEvidence makes that of one run, of which nothing is known yet but its request.
func NewEvidence(s *Sources, c *Citer, req chat.RunRequest) *Evidence {
	e := &Evidence{sources: s, citer: c, question: req.Message, given: req.ContextText}
	for p := range strings.SplitSeq(req.AddedContext, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			e.Added = append(e.Added, p)
		}
	}
	return e
}

// UncheckedConfidence is the confidence in an answer of which nothing could be compared with passages. It is a choice
// and no measurement.
const UncheckedConfidence = 0.8

// Evaluate compares each sentence with the passages behind its footnotes, and those that carry none with the footnotes
// that follow in their paragraph. Confidence is the share of borne out sentences among those that state something,
// lowered by quotes that are not word for word. A sentence that resembles its passages without being in their words may
// contradict them: it counts half, and is not listed as unsupported. confidence = (backed + covered + reworded/2) ÷
// (sentences with footnotes + statements without), times 0.8 + 0.2 × the share of quotes that stand word for word in a
// document. Without any footnote it is 0.1. A sentence that was backed once is covered when it is said again without
// its footnote, as in a summary at the end.
func (e *Evidence) Evaluate(markdown string) (confidence float64, explained string, unsupported []string) {
	unsupported = []string{}
	cited, backed, without, covered := 0, 0, 0, 0
	reworded, bareReworded := 0, 0 // in other words than the passages; of these, without a footnote of their own
	said := map[string]bool{}      // what is backed once may be said again
	for _, c := range e.ClaimsOf(markdown) {
		switch {
		case c.isQuote:
			cited, backed = cited+1, backed+1
			said[c.Text] = true
			continue
		case e.QuotesOnly && len(c.Numbers) == 0:
			continue
		case e.isDenied(c.Text) && !e.quotesPerson(c):
			without++
		case len(c.Numbers) == 0 && e.confirmsLog(c.Text):
			continue
		case len(c.Numbers) > 0:
			if cited++; !e.isDoubted(c.Text) && (e.IsSupported(c) || c.leadsToList()) {
				backed++
				said[c.Text] = true
				continue
			}
			if !IsFactualClaim(c.Text) && e.isMetaText(c.Text, c.Numbers) { // "Yes [1]."
				cited--
				continue
			}
			if !e.isDoubted(c.Text) && (c.wordy || e.supportsClaim(c, e.citer.Judge.Resembles)) {
				reworded++
				continue
			}
		case !IsFactualClaim(c.Text):
			continue
		default:
			if without++; said[c.Text] || !e.isDoubted(c.Text) && e.IsCovered(c) {
				covered++
				continue
			}
			if !e.isDoubted(c.Text) && (c.wordy || e.coversClaim(c, e.citer.Judge.Resembles)) {
				reworded++
				bareReworded++
				continue
			}
		}
		unsupported = append(unsupported, c.Text)
	}
	if cited == 0 || len(e.citer.Citations) == 0 {
		return 0.1, "No sentence carries a footnote.", unsupported
	}
	exact := 0
	for _, c := range e.citer.Citations {
		if c.Check == chat.CheckVerified {
			exact++
		}
	}
	confidence = (float64(backed+covered) + float64(reworded)/2) / float64(cited+without) * (0.8 +
		0.2*float64(exact)/float64(len(e.citer.Citations)))
	explained = fmt.Sprintf(
		"%d of %s with footnotes %s backed by %s; ", backed, english.Count(cited, "sentence"),
		english.Choose(cited == 1, "is", "are"), english.Choose(cited == 1, "its passages", "their passages"),
	)
	if reworded > 0 {
		explained += inOtherWords(reworded) + "; "
	}
	if bare := without - covered - bareReworded; bare > 0 {
		explained += fmt.Sprintf(
			"%s without a source %s in no passage; ", english.Count(bare, "sentence"),
			english.Choose(bare == 1, "stands", "stand"),
		)
	}
	if e.unchecked > 0 {
		explained += uncheckedCode(e.unchecked) + "; "
	}
	explained += fmt.Sprintf(
		"%d of %s %s word for word in the documents.", exact, english.Count(len(e.citer.Citations), "quote"),
		english.Choose(len(e.citer.Citations) == 1, "stands", "stand"),
	)
	return Hundredths(confidence), explained, unsupported
}

// Hundredths is a confidence in hundredths. More digits would say more than the words that were compared can tell.
func Hundredths(confidence float64) float64 { return math.Round(confidence*100) / 100 }

// AnyResembles reports whether a claim with footnotes may be a paraphrase of its passages, or there is none to check.
// It is asked before an answer is sent back to the model: one that resembles nothing was made without the passages.
func (e *Evidence) AnyResembles(text string) bool {
	cited := false
	for _, c := range e.ClaimsOf(text) {
		if c.isQuote || len(c.Numbers) > 0 && e.PartlyResembles(c) ||
			len(c.Nearby) > 0 && e.holdsText(c.Text, c.Nearby, e.citer.Judge.Resembles) {
			return true
		}
		cited = cited || len(c.Numbers) > 0
	}
	return !cited
}

// isAdded reports whether a paragraph of the added context bears a sentence out.
func (e *Evidence) isAdded(said string, by WordMatcher) bool {
	return slices.ContainsFunc(e.Added, func(p string) bool { return by(said, ContextMetaWords, p) })
}

// ContextMetaWords are words with which answers speak of the added context. They need not stand in it.
const ContextMetaWords = MetaWords + " given provided context "

// CompareAdded compares an answer with the paragraphs of the added context.
func (e *Evidence) CompareAdded(markdown string) comparison {
	return e.Compare(markdown, func(said string, by WordMatcher) (string, bool) {
		if e.isAdded(said, by) {
			return theGivenText, false
		}
		return "", false
	})
}

// RestsOnContext reports whether every statement of an answer without footnotes resembles the added context. Then the
// answer needs no footnotes, as the text that it comes from has no passages.
func (e *Evidence) RestsOnContext(answer string) bool {
	if len(e.Added) == 0 {
		return false
	}
	stated := 0
	for _, c := range e.ClaimsOf(answer) {
		if len(c.Numbers) > 0 {
			return false
		}
		if !IsFactualClaim(c.Text) {
			continue
		}
		if stated++; e.isDoubted(c.Text) || !e.isAdded(c.Text, e.citer.Judge.Resembles) {
			return false
		}
	}
	return stated > 0
}
