package cite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/support"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// Texts with fewer content words can't be checked separately and are merged with their neighbours. The values are
// not measured; the tests of this package fix them, and docs/quality.md has the results of the check.
const (
	minPart = 2 // of a piece with footnotes
	minTail = 3 // of the text after the last footnote
	minLead = 4 // of the line before a list
)

// MetaWords are words that refer to documents. They need no evidence.
const MetaWords = support.MetaWords

// SumMetaWords are words that refer to calculations.
const SumMetaWords = support.SumMetaWords

// Numeral matches the numbers in a text.
var Numeral = lazy.Regexp(`\d+(?:[.,]\d+)*`)

// ClaimsOf returns the claims of an answer. The last result is cached, since an answer is checked more than once.
// The cache depends on the citations, because a quote may be one claim.
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

// CountCited returns the number of an answer's sentences with a footnote.
func (e *Evidence) CountCited(markdown string) int {
	n := 0
	for _, c := range e.ClaimsOf(markdown) {
		if len(c.Numbers) > 0 {
			n++
		}
	}
	return n
}

// IsSupported reports whether the passages behind a sentence's footnotes support it, each part by its own footnotes.
// A part that only refers to documents ("According to the document [1], …") needs no evidence, and provides none.
func (e *Evidence) IsSupported(c Claim) bool {
	return c.isQuote || e.isQuoted(c.Text, c.Numbers) || e.supportsClaim(c, e.matcherFor(c.Text))
}

// isQuoted reports whether a text is one or more whole sentences of a footnote's quote, verbatim, including case and
// punctuation.
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

// supportsClaim reports whether every part of a claim with content of its own is supported by its own footnotes, and
// at least one part is.
func (e *Evidence) supportsClaim(c Claim, by WordMatcher) bool {
	holds := func(p part) bool { return e.supportsText(p.text, p.numbers, by) || e.isTotal(p.text, p.numbers) }
	return slices.ContainsFunc(c.parts, holds) && !slices.ContainsFunc(
		c.parts, func(p part) bool { return !e.isMetaText(p.text, p.numbers) && !holds(p) },
	)
}

// WordMatcher compares the words of a claim with passages: (*support.Judge).Backed or Resembles. Words in about need
// not occur in the passages. Backed requires the words of the passages, Resembles a paraphrase, which may contradict
// and so counts half.
type WordMatcher func(claim, about string, passages ...string) bool

// matcherFor returns the matcher for a sentence. One that a model confirmed in its texts need only resemble them. So
// a model's verdict is trusted only if it confirms a sentence.
func (e *Evidence) matcherFor(said string) WordMatcher {
	if slices.Contains(e.Confirmed, said) {
		return e.citer.Judge.Resembles
	}
	return e.citer.Judge.Backed
}

// leadsToList reports whether a sentence with footnotes only introduces the list that the footnotes support.
func (c Claim) leadsToList() bool {
	return strings.HasSuffix(c.Text, ":") && CountContentWords(c.Text) < minLead
}

// PartlyResembles reports whether any part of a claim may be a paraphrase of the passages behind its footnotes.
func (e *Evidence) PartlyResembles(c Claim) bool {
	return slices.ContainsFunc(
		c.parts, func(p part) bool { return e.supportsText(p.text, p.numbers, e.citer.Judge.Resembles) },
	)
}

// isMetaText reports whether a text has no content words except those that refer to documents: "The documents say
// so". It makes no claim that passages could support.
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

// textsBehind returns the passage behind a footnote, and its quote if that is elsewhere in the document.
func (e *Evidence) textsBehind(footnote int, src Source) []string {
	if quote := e.citer.Citations[footnote-1].Quote; quote != "" && !strings.Contains(src.Passage.Text, quote) {
		return []string{src.Passage.Text, quote}
	}
	return []string{src.Passage.Text}
}

// sourceOf returns the source behind a footnote.
func (e *Evidence) sourceOf(footnote int) (Source, bool) {
	if footnote < 1 || footnote > len(e.citer.SourceNumbers) {
		return Source{}, false
	}
	return e.sources.At(e.citer.SourceNumbers[footnote-1])
}

// IsCovered reports whether the footnotes after a sentence without footnotes, tool results or the added context
// support it.
func (e *Evidence) IsCovered(c Claim) bool {
	return e.coversClaim(c, e.matcherFor(c.Text))
}

// coversClaim reports whether evidence near a sentence without footnotes supports it: the footnotes after it, tool
// results, the added context, or for code any passage.
func (e *Evidence) coversClaim(c Claim, by WordMatcher) bool {
	return len(c.Nearby) > 0 && (e.isQuoted(c.Text, c.Nearby) || e.isMetaText(c.Text, c.Nearby) ||
		e.supportsText(c.Text, c.Nearby, by)) ||
		e.isReturned(c.Text, by) || e.isAdded(c.Text, by) || c.isCode && e.InPassages(c.Text, by)
}

// mergeShortParts merges the parts of a sentence that are too short for a separate check. A short piece with a
// footnote is merged with the next one, the last with the previous one. A piece without a footnote gets those of the
// whole sentence if it is long enough.
func (c Claim) mergeShortParts() []part {
	if len(c.parts) < 2 {
		return []part{{c.Text, c.Numbers}}
	}
	var out []part
	var before part // too short for a separate check
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

// joinPart appends the next piece of a sentence to p, with the footnotes of both.
func (p part) joinPart(next part) part {
	return part{strings.TrimSpace(p.text + next.text), append(slices.Clone(p.numbers), next.numbers...)}
}

// aboutTools returns words that need not occur in a passage: those that refer to documents, and numbers in tool
// results.
func (e *Evidence) aboutTools() string {
	return MetaWords + strings.Join(Numeral().FindAllString(e.Results.allText(), -1), " ")
}

// aboutSource returns the names of a passage's location: title, section, file name and page.
func aboutSource(src Source) string {
	return " " + src.Document.DisplayTitle() + " " + src.Passage.Section + " " + src.Document.Filename + " " +
		strconv.Itoa(src.Passage.Page)
}

// supportsText reports whether one of the passages behind footnotes, or all of them together, support a text. Single
// passages are tried first, as the stronger evidence.
func (e *Evidence) supportsText(said string, numbers []int, by WordMatcher) bool {
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
