package cite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// partSize is the approximate size, in runes, of the pieces of a given text for comparisons. It is the size of
// passages: longer pieces would contain the words of any sentence somewhere.
const partSize = 1600

// comparison is the result of comparing the sentences of an answer without footnotes. It is for answers that need
// none: work on a given text, small talk, sums, lists.
type comparison struct {
	// numbers of factual sentences, supported ones, and ones in another language than the texts
	stated, supported, foreign int
	// sentences that only resemble a text
	reworded    int
	by          []string // names of the evidence, deduplicated
	unchecked   int      // lines of code
	Unsupported []string
}

// Holder returns the name of the evidence for a sentence, or an empty string. by compares the words. foreign means
// that the sentence can't be compared because of its language.
type Holder func(said string, by WordMatcher) (held string, foreign bool)

// Compare looks for evidence for each factual sentence with holds. Sentences about the run that its log contradicts
// count as unsupported, even if they are not factual. An answer without a factual sentence is compared by its lines
// of code, headings and table rows.
func (e *Evidence) Compare(markdown string, holds Holder) comparison {
	c := comparison{Unsupported: []string{}}
	factual := e.factualStatements(markdown)
	for _, s := range e.ClaimsOf(markdown) {
		if !e.QuotesOnly && !IsFactualClaim(s.Text) && e.isDenied(s.Text) {
			c.stated++
			c.Unsupported = append(c.Unsupported, s.Text)
		}
	}
	if c.unchecked = e.unchecked; len(factual) == 0 { // then all of its lines are compared
		factual, c.unchecked = allLines(markdown), 0
	}
	for _, s := range factual {
		c.stated++
		switch by, foreign := holds(s.Text, e.matcherFor(s.Text)); {
		case e.QuotesOnly && by == "":
			c.stated--
		case e.isDoubted(s.Text) || !e.QuotesOnly && e.isDenied(s.Text):
			c.Unsupported = append(c.Unsupported, s.Text)
		case foreign:
			c.foreign++
		case by != "":
			c.supported++
			c.by = text.AppendNew(c.by, by)
		default:
			if by, _ := holds(s.Text, e.citer.Judge.Resembles); by != "" || s.wordy {
				c.reworded++
				if by != "" {
					c.by = text.AppendNew(c.by, by)
				}
				continue
			}
			c.Unsupported = append(c.Unsupported, s.Text)
		}
	}
	return c
}

// IsFaultless reports whether every factual sentence is supported. It is true for an answer without any.
func (c comparison) IsFaultless() bool { return c.supported == c.stated }

// Confidence returns the confidence in an answer without quotes. A sentence that could not be compared, or is a
// paraphrase, counts half. The maximum is UncheckedConfidence, since without quotes users can't look up the
// evidence.
func (c comparison) Confidence() float64 {
	if c.stated == 0 {
		return UncheckedConfidence
	}
	return Hundredths(
		UncheckedConfidence * (float64(c.supported) + float64(c.foreign+c.reworded)/2) / float64(c.stated),
	)
}

// Against returns a Holder that looks for a sentence in the texts, by the rules for passages behind footnotes. name
// is the user-facing name of the evidence. The languages of the texts are detected once. A sentence in none of them
// is foreign rather than unsupported.
func (e *Evidence) Against(name string, texts []string) Holder {
	parts, languages := []string{}, map[string]bool{}
	for _, t := range texts {
		parts = append(parts, piecesOf(t)...)
		if lang := text.Detect(t); lang != "" {
			languages[lang] = true
		}
	}
	return func(said string, by WordMatcher) (held string, foreign bool) {
		if lang := text.Detect(said); lang != "" && len(languages) > 0 && !languages[lang] {
			return "", true
		}
		if slices.ContainsFunc(parts, func(p string) bool { return by(said, MetaWords, p) }) {
			return name, false
		}
		return "", false
	}
}

// piecesOf splits a text into pieces of whole sentences.
func piecesOf(s string) []string {
	var out []string
	runes, begin, end := []rune(s), 0, 0
	for _, sentence := range text.Sentences(s) {
		if end > begin && sentence[1]-begin > partSize {
			out = append(out, string(runes[begin:end]))
			begin = sentence[0]
		}
		end = sentence[1]
	}
	if end > begin {
		out = append(out, string(runes[begin:end]))
	}
	return out
}

// CompareGiven compares an answer with the text that came with the question, and explains the result.
func (e *Evidence) CompareGiven(markdown string) (c comparison, explained string) {
	c = e.Compare(markdown, e.Against(theGivenText, []string{e.given}))
	return c, c.Explain(theGivenText)
}

// User-facing names of the evidence for sentences.
const (
	theGivenText    = "the given text"
	ThePassages     = "the passages"
	TheConversation = "the conversation"
	TheCalculation  = "the calculation"
	whatReturned    = "what tools returned"
)

// ByTools returns the name of the tools whose results support a sentence, or an empty string.
func (e *Evidence) ByTools(said string, by WordMatcher) string {
	if !e.isReturned(said, by) {
		return ""
	}
	return e.Results.DisplayName()
}

// InPassages reports whether a retrieved passage supports a sentence.
func (e *Evidence) InPassages(said string, by WordMatcher) bool {
	return slices.ContainsFunc(e.sources.All(), func(s Source) bool {
		return by(said, MetaWords+aboutSource(s), s.Passage.Text)
	})
}

// Explain returns a user-facing summary of the comparison, which is shown under the answer. It names the evidence
// found, else with, the evidence that was searched.
func (c comparison) Explain(with string) string {
	if len(c.by) > 0 {
		with = strings.Join(c.by, " and ")
	}
	if c.stated == 0 {
		return "No sentence has a factual claim to compare with " + with + "."
	}
	said := fmt.Sprintf(
		"%d of %s %s supported by %s.", c.supported, english.Count(c.stated, "sentence"),
		english.Choose(c.stated == 1, "is", "are"), with,
	)
	if c.reworded > 0 {
		said += " " + inOtherWords(c.reworded) + "."
	}
	if c.unchecked > 0 {
		said += " " + uncheckedCode(c.unchecked) + "."
	}
	if c.foreign > 0 {
		said += fmt.Sprintf(" %s in another language, so it could not be compared.", english.Choose(
			c.foreign == 1, "1 sentence is", fmt.Sprintf("%d sentences are", c.foreign),
		))
	}
	return strings.Replace(said, "are in another language, so it", "are in another language, so they", 1)
}

// uncheckedCode returns a note on the number of unchecked lines of code.
func uncheckedCode(lines int) string {
	return fmt.Sprintf("%s of code %s not checked", english.Count(lines, "line"),
		english.Choose(lines == 1, "was", "were"))
}

// inOtherWords returns a note on the number of sentences that only resemble their evidence.
func inOtherWords(sentences int) string {
	return fmt.Sprintf(
		"%s paraphrased: compare %s with the source", english.Choose(
			sentences == 1, "1 sentence is", fmt.Sprintf("%d sentences are", sentences),
		), english.Choose(sentences == 1, "it", "them"),
	)
}
