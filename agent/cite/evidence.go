// Package cite ties answers to documents. Sources numbers the passages that a run retrieved. Writer streams an
// answer and passes the model's markers to Citer, which gives each footnote the words that support its claim.
// Evidence compares every sentence with the passages behind its footnotes, tool results and the text that came with
// the question. The package knows no tool and calls no model.
//
// The input is passages (Sources, filled by tools), the model's text (Writer) and tool results (ToolResults). The
// output is footnotes with words of the stored text (Citation), the answer's text as deltas, and an evaluation of
// each sentence (Evidence).
//
// sources.go, quote_span.go and citer.go make footnotes, and writer.go streams. markdown.go, claims.go, quotation.go
// and heading.go parse the sentences of an answer. support.go, factual_claim.go, compare.go, tool_results.go,
// done.go, code.go and doubt.go check their evidence. placed_footnotes.go and follow_ups.go complete an answer.
// corpus/support decides whether words support a claim.
//
// A footnote's quote is always a slice of a stored text, never the model's words. A sentence that can't be checked
// is counted separately and not as supported.
package cite

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
)

// Evidence holds the evidence for an answer's sentences, and compares them with it: the passages behind footnotes,
// results of tools without passages, and the text that came with the question. It is not safe for concurrent use.
// The evidence grows during the run, so an answer is compared with the evidence at that time.
type Evidence struct {
	sources  *Sources
	citer    *Citer
	question string   // as it was asked
	given    string   // the text that the whole answer comes from; empty: documents
	Added    []string // paragraphs of the text that came with the question, beside the documents
	InReach  int      // number of documents that searches cover
	Listing  bool     // the question is about the library's list, so its words are no evidence
	Results  ToolResults
	// the model behind the answer writes only quotes and fixed phrases of the program, which make no claims about
	// documents: text without a footnote or evidence is ignored
	QuotesOnly bool
	// sentences of the answer that the judging model found in none of the texts in its prompt, and those that it
	// checked and found
	Doubted, Confirmed []string

	passages  passageIndex
	claimed   []Claim // cached claims of the last parsed answer
	claimedOf string
	quotes    []string // quotes of its footnotes
	unchecked int      // lines of its code that are in no text and can't be checked by words
}

// NewEvidence returns the evidence of a new run, which is only the text in its request.
func NewEvidence(s *Sources, c *Citer, req chat.RunRequest) *Evidence {
	e := &Evidence{sources: s, citer: c, question: req.Message, given: req.ContextText}
	for p := range strings.SplitSeq(req.AddedContext, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			e.Added = append(e.Added, p)
		}
	}
	return e
}

// UncheckedConfidence is the confidence in an answer that could not be compared with passages at all. The value is
// not based on a measurement.
const UncheckedConfidence = 0.8

// Evaluate compares each sentence with the passages behind its footnotes. A sentence without footnotes is compared
// with those behind the next footnotes in its paragraph. Confidence is the share of supported sentences among the
// factual ones, lowered by quotes that are not verbatim. A sentence that only resembles its passages may contradict
// them: it counts half, and is not listed as unsupported. A backed sentence that is repeated without its footnote,
// as in a summary at the end, is covered.
//
//	confidence = (backed + covered + reworded/2) ÷ (sentences with footnotes + factual sentences without)
//	             × (0.8 + 0.2 × the share of quotes that are verbatim in a document)
//
// Without any footnote it is 0.1.
func (e *Evidence) Evaluate(markdown string) (confidence float64, explained string, unsupported []string) {
	unsupported = []string{}
	cited, backed, without, covered := 0, 0, 0, 0
	reworded, bareReworded := 0, 0 // paraphrases of passages; the second without a footnote of their own
	said := map[string]bool{}      // backed sentences may be repeated without a footnote
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
		return 0.1, "No sentence has a footnote.", unsupported
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
		"%d of %s with footnotes %s supported by %s; ", backed, english.Count(cited, "sentence"),
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

// Hundredths rounds a confidence to hundredths, since the comparison of words is no more precise.
func Hundredths(confidence float64) float64 { return math.Round(confidence*100) / 100 }

// AnyResembles reports whether a claim with footnotes may be a paraphrase of its passages. It is true for an answer
// without such a claim. It is checked before an answer is retried: one without any resemblance was written without
// the passages.
func (e *Evidence) AnyResembles(text string) bool {
	cited := false
	for _, c := range e.ClaimsOf(text) {
		if c.isQuote || len(c.Numbers) > 0 && e.PartlyResembles(c) ||
			len(c.Nearby) > 0 && e.supportsText(c.Text, c.Nearby, e.citer.Judge.Resembles) {
			return true
		}
		cited = cited || len(c.Numbers) > 0
	}
	return !cited
}

// isAdded reports whether a paragraph of the added context supports a sentence.
func (e *Evidence) isAdded(said string, by WordMatcher) bool {
	return slices.ContainsFunc(e.Added, func(p string) bool { return by(said, ContextMetaWords, p) })
}

// ContextMetaWords are words that refer to the added context. They need not occur in it.
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

// UsesOnlyContext reports whether every factual sentence of an answer without footnotes resembles the added context.
// Such an answer needs no footnotes, since its source has no passages.
func (e *Evidence) UsesOnlyContext(answer string) bool {
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
