package cite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// partSize is about how long the pieces are that a given text is compared in, in runes: as long as passages are. Longer
// pieces would hold any sentence's words somewhere.
const partSize = 1600

// comparison is what became of the sentences of an answer without footnotes. It is for answers whose sentences need no
// footnotes of their own: work on a given text, talk, sums, lists.
type comparison struct {
	// sentences that state something, those of them that are held, and those in another language than the texts
	stated, supported, foreign int
	// those that resemble a text without being said in its words
	reworded    int
	by          []string // what holds them, each once
	unchecked   int      // lines of code
	Unsupported []string
}

// Holder names what holds a sentence, and nothing if nothing does; words are compared by the judging. foreign means
// that the sentence can't be compared for its language.
type Holder func(said string, by WordMatcher) (held string, foreign bool)

// Compare asks of each sentence that states something what holds it. Sentences that deny what the log says are counted
// before the others: they state something of the run, which no text holds. Where no sentence states anything, lines of
// code, headings and rows of tables are compared instead.
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

// IsFaultless reports whether every sentence that states something is held, or none states anything.
func (c comparison) IsFaultless() bool { return c.supported == c.stated }

// Confidence is that in an answer without quotes. Of a sentence that could not be compared, or is in other words,
// nothing is known: it counts half. At most UncheckedConfidence: without quotes nobody can look up what the answer
// rests on.
func (c comparison) Confidence() float64 {
	if c.stated == 0 {
		return UncheckedConfidence
	}
	return Hundredths(
		UncheckedConfidence * (float64(c.supported) + float64(c.foreign+c.reworded)/2) / float64(c.stated),
	)
}

// Against returns a Holder that looks for a sentence in the texts, judged as passages behind footnotes are. name is
// what readers are told that holds it. Languages of the texts are detected once; a sentence in none of them is told as
// foreign rather than unsupported.
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

// piecesOf cuts a text into pieces of whole sentences.
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

// CompareGiven compares an answer with the text that came with the question, and explains what it found.
func (e *Evidence) CompareGiven(markdown string) (c comparison, explained string) {
	c = e.Compare(markdown, e.Against(theGivenText, []string{e.given}))
	return c, c.Explain(theGivenText)
}

// What holds sentences, as a reader is told it.
const (
	theGivenText    = "the given text"
	ThePassages     = "the passages"
	TheConversation = "the conversation"
	TheCalculation  = "the calculation"
	whatReturned    = "what tools returned"
)

// ByTools names the tools that returned what a sentence says, if they did.
func (e *Evidence) ByTools(said string, by WordMatcher) string {
	if !e.isReturned(said, by) {
		return ""
	}
	return e.Results.DisplayName()
}

// InPassages reports whether a passage that was shown holds a sentence.
func (e *Evidence) InPassages(said string, by WordMatcher) bool {
	return slices.ContainsFunc(e.sources.All(), func(s Source) bool {
		return by(said, MetaWords+aboutSource(s), s.Passage.Text)
	})
}

// Explain says what was compared with what: with what holds the sentences, else with what could have held them. It is
// shown under the answer, so it is a sentence for readers.
func (c comparison) Explain(with string) string {
	if len(c.by) > 0 {
		with = strings.Join(c.by, " and ")
	}
	if c.stated == 0 {
		return "No sentence states anything to compare with " + with + "."
	}
	said := fmt.Sprintf("%d of %s %s held by %s.", c.supported, english.Count(c.stated, "sentence"), english.Choose(
		c.stated == 1, "is", "are",
	), with)
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

// uncheckedCode says how many lines of code were not checked.
func uncheckedCode(lines int) string {
	return fmt.Sprintf("%s of code %s not checked", english.Count(lines, "line"),
		english.Choose(lines == 1, "was", "were"))
}

// inOtherWords says how many sentences only resemble what stands behind them.
func inOtherWords(sentences int) string {
	return fmt.Sprintf(
		"%s in other words than the source: compare %s", english.Choose(
			sentences == 1, "1 sentence is", fmt.Sprintf("%d sentences are", sentences),
		), english.Choose(sentences == 1, "it", "them"),
	)
}
