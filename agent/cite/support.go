package cite

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/support"
	"github.com/footnote/footnote/text"
)

// Fewer content words than these can't be judged by themselves: they go with what stands beside them. They are choices;
// what they do is held by the tests of this package, and docs/quality.md has what the check finds.
const (
	minPart = 2 // of a piece with footnotes
	minTail = 3 // of what stands behind the last footnote
	minLead = 4 // of the line before a list
)

// MetaWords are words with which answers speak of documents. They need no passage.
const MetaWords = support.MetaWords

// SumMetaWords are those with which answers speak of calculations.
const SumMetaWords = support.SumMetaWords

// Numeral finds the numbers in a text.
var Numeral = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// ClaimsOf are the claims of an answer that state something, remembered: an answer is looked at more than once. The
// citations belong to what is remembered, since a quote decides what is one claim.
func (e *Evidence) ClaimsOf(markdown string) []Claim {
	var quotes []string
	for _, c := range e.citer.Citations {
		quotes = append(quotes, c.Quote)
	}
	if e.claimed == nil || e.claimedOf != markdown || !slices.Equal(e.quotes, quotes) {
		e.claimed, e.unchecked = e.statingClaims(
			splitClaims(e.withoutReferences(markdown), e.citer.Citations, e.Results.titles),
		)
		e.claimedOf, e.quotes = markdown, quotes
	}
	return e.claimed
}

// CountCited returns how many sentences of an answer have a footnote.
func (e *Evidence) CountCited(markdown string) int {
	n := 0
	for _, c := range e.ClaimsOf(markdown) {
		if len(c.Numbers) > 0 {
			n++
		}
	}
	return n
}

// IsSupported reports whether the passages behind a sentence's footnotes hold its words: each part's own ones. A part
// that only speaks of documents ("According to the document [1], …") needs none, and supports nothing.
func (e *Evidence) IsSupported(c Claim) bool {
	return c.isQuote || e.isQuoted(c.Text, c.Numbers) || e.supportsClaim(c, e.matcherFor(c.Text))
}

// isQuoted reports whether a text is whole sentences of a quote behind one of the footnotes, word for word. Words are
// compared as they stand, so that neither case nor punctuation may differ.
func (e *Evidence) isQuoted(said string, numbers []int) bool {
	words := strings.Fields(said)
	for _, n := range numbers {
		if n < 1 || n > len(e.citer.Citations) || e.citer.Citations[n-1].Check != chat.CheckVerified {
			continue
		}
		quote := []rune(e.citer.Citations[n-1].Quote)
		var sentences [][]string
		for _, span := range text.Sentences(string(quote)) {
			sentences = append(sentences, strings.Fields(string(quote[span[0]:span[1]])))
		}
		for i := range sentences {
			var run []string
			for k := i; k < len(sentences) && len(run) < len(words); k++ {
				run = append(run, sentences[k]...)
			}
			if len(words) > 0 && slices.Equal(run, words) {
				return true
			}
		}
	}
	return false
}

// supportsClaim reports whether each part of a claim that says something of its own is held by its own footnotes, and
// at least one part is.
func (e *Evidence) supportsClaim(c Claim, by WordMatcher) bool {
	holds := func(p part) bool { return e.holdsText(p.text, p.numbers, by) || e.isTotal(p.text, p.numbers) }
	return slices.ContainsFunc(c.parts, holds) && !slices.ContainsFunc(
		c.parts, func(p part) bool { return !e.isMetaText(p.text, p.numbers) && !holds(p) },
	)
}

// WordMatcher is how words are compared: (*support.Judge).Backed or Resembles. about are words that need not stand in
// the passages. Backed asks for the words of the passages, Resembles for a paraphrase: what only resembles may still
// contradict, so it counts half.
type WordMatcher func(claim, about string, passages ...string) bool

// matcherFor returns how a sentence is compared: one that a model found in what it was shown need only resemble it. So
// a model's word is believed only where it says that a sentence is held.
func (e *Evidence) matcherFor(said string) WordMatcher {
	if slices.Contains(e.Confirmed, said) {
		return e.citer.Judge.Resembles
	}
	return e.citer.Judge.Backed
}

// leadsToList reports whether a sentence with footnotes says no more than that a list follows, which the footnotes are
// for.
func (c Claim) leadsToList() bool {
	return strings.HasSuffix(c.Text, ":") && CountContentWords(c.Text) < minLead
}

// PartlyResembles reports whether any part of a claim resembles the passages behind its footnotes: it may be a
// paraphrase of them.
func (e *Evidence) PartlyResembles(c Claim) bool {
	return slices.ContainsFunc(
		c.parts, func(p part) bool { return e.holdsText(p.text, p.numbers, e.citer.Judge.Resembles) },
	)
}

// isMetaText reports whether a text has no content words but those with which answers speak of documents: "The
// documents say so". It states nothing that the passages behind its footnotes could hold.
func (e *Evidence) isMetaText(said string, numbers []int) bool {
	talk := false
	for _, n := range numbers {
		src, ok := e.sourceOf(n)
		if !ok {
			continue
		}
		if e.citer.Judge.HasOwnWords(said, MetaWords, src.Passage.Text) {
			return false
		}
		talk = true
	}
	return talk
}

// textsBehind are the passage behind a footnote, and its quote where that stands elsewhere in the document.
func (e *Evidence) textsBehind(footnote int, src Source) []string {
	if quote := e.citer.Citations[footnote-1].Quote; quote != "" && !strings.Contains(src.Passage.Text, quote) {
		return []string{src.Passage.Text, quote}
	}
	return []string{src.Passage.Text}
}

// sourceOf is the source behind a footnote.
func (e *Evidence) sourceOf(footnote int) (Source, bool) {
	if footnote < 1 || footnote > len(e.citer.SourceNumbers) {
		return Source{}, false
	}
	return e.sources.At(e.citer.SourceNumbers[footnote-1])
}

// IsCovered reports whether a sentence without footnotes is borne out by those that follow it, by what a tool
// returned, or by the text that came with the question.
func (e *Evidence) IsCovered(c Claim) bool {
	return e.coversClaim(c, e.matcherFor(c.Text))
}

// coversClaim reports whether a sentence without footnotes is borne out by something near it: the footnotes behind it,
// what tools returned, the added context, or for code any passage.
func (e *Evidence) coversClaim(c Claim, by WordMatcher) bool {
	return len(c.Nearby) > 0 && (e.isQuoted(c.Text, c.Nearby) || e.isMetaText(c.Text, c.Nearby) ||
		e.holdsText(c.Text, c.Nearby, by)) ||
		e.isReturned(c.Text, by) || e.isAdded(c.Text, by) || c.isCode && e.InPassages(c.Text, by)
}

// mergeShortParts joins the parts of a sentence that are too short to be judged by themselves to those beside them. A
// piece with a footnote but too few words is joined to the next one, the last to the one before it; a piece without a
// footnote takes those of the whole sentence if it is long enough to be judged.
func (c Claim) mergeShortParts() []part {
	if len(c.parts) < 2 {
		return []part{{c.Text, c.Numbers}}
	}
	var out []part
	var before part // too short to be judged alone
	for i, p := range c.parts {
		words, final, last := CountContentWords(p.text), i == len(c.parts)-1, len(out)-1
		if len(p.numbers) == 0 && words >= minTail {
			p.numbers = c.Numbers
		}
		alone := words >= minPart && len(p.numbers) > 0
		p = before.joinPart(p)
		switch {
		case !alone && last >= 0 && (final || words == 0):
			out[last], before = out[last].joinPart(p), part{}
		case !alone && !final:
			before = p
		default:
			out, before = append(out, p), part{}
		}
	}
	return out
}

// joinPart puts the next piece of a sentence behind p, with the footnotes of both.
func (p part) joinPart(next part) part {
	return part{strings.TrimSpace(p.text + next.text), append(slices.Clone(p.numbers), next.numbers...)}
}

// aboutTools and aboutSource are words that need not stand in a passage: those of talk, what tools counted, and how
// the passage's place is called.
func (e *Evidence) aboutTools() string {
	return MetaWords + strings.Join(Numeral.FindAllString(e.Results.allText(), -1), " ")
}

// aboutSource is how a passage's place may be called: title, section, file name and page.
func aboutSource(src Source) string {
	return " " + src.Document.DisplayTitle() + " " + src.Passage.Section + " " + src.Document.Filename + " " +
		strconv.Itoa(src.Passage.Page)
}

// holdsText reports whether one of the passages behind footnotes, or all of them together, hold the words of a text. A
// sentence may need two passages together; single ones are tried first, as they are the stronger proof.
func (e *Evidence) holdsText(said string, numbers []int, by WordMatcher) bool {
	if e.isMetaText(said, numbers) {
		return false
	}
	var all []string
	about := e.aboutTools()
	for _, n := range numbers {
		src, ok := e.sourceOf(n)
		if !ok {
			continue
		}
		these := e.textsBehind(n, src)
		of := aboutSource(src)
		if by(said, about+of, these...) {
			return true
		}
		about += of
		all = append(all, these...)
	}
	return len(numbers) > 1 && by(said, about, all...)
}
