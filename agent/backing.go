package agent

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Fewer content words than these can't be judged by themselves: they go with what stands beside them.
const (
	minPart = 2 // of a piece with footnotes
	minTail = 3 // of what stands behind the last footnote
	minLead = 4 // of the line before a list
)

// maxReturned is how much of what tools without passages returned is kept for the check, in bytes.
const maxReturned = 32 << 10

// talkAbout are words with which answers speak of documents. They need no passage.
const talkAbout = " source text page section chapter document file according state mention describe list note report explain specify indicate provide total together sum altogether "

var numeral = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// claimsOf is claims, remembered: an answer is looked at more than once.
func (e *evidence) claimsOf(markdown string) []claim {
	if e.claimed == nil || e.claimedOf != markdown {
		e.claimed, e.claimedOf = claims(markdown), markdown
	}
	return e.claimed
}

// backed reports whether the passages behind a sentence's footnotes hold its words: each part's own ones.
func (e *evidence) backed(c claim) bool {
	return !slices.ContainsFunc(c.parts, func(p part) bool { return !e.holds(p.text, p.numbers) })
}

// leads reports whether a sentence with footnotes says no more than that a list follows, which the footnotes are for.
func (c claim) leads() bool { return strings.HasSuffix(c.text, ":") && contentWords(c.text) < minLead }

// partlyBacked reports whether that is so of any part.
func (e *evidence) partlyBacked(c claim) bool {
	return slices.ContainsFunc(c.parts, func(p part) bool { return e.holds(p.text, p.numbers) })
}

// covered reports whether a sentence without footnotes is borne out by those that follow it, by what a tool returned, or
// by the text that came with the question.
func (e *evidence) covered(c claim) bool {
	return len(c.around) > 0 && e.holds(c.text, c.around) || e.stated(c.text) || e.inAddedContext(c.text)
}

// judged joins the parts of a sentence that are too short to be judged by themselves to those beside them.
func (c claim) judged() []part {
	if len(c.parts) < 2 {
		return []part{{c.text, c.numbers}}
	}
	var out []part
	var before part // too short to be judged alone
	for i, p := range c.parts {
		words, final, last := contentWords(p.text), i == len(c.parts)-1, len(out)-1
		if len(p.numbers) == 0 && words >= minTail {
			p.numbers = c.numbers
		}
		alone := words >= minPart && len(p.numbers) > 0
		p = before.with(p)
		switch {
		case !alone && last >= 0 && (final || words == 0):
			out[last], before = out[last].with(p), part{}
		case !alone && !final:
			before = p
		default:
			out, before = append(out, p), part{}
		}
	}
	return out
}

func (p part) with(next part) part {
	return part{strings.TrimSpace(p.text + next.text), append(slices.Clone(p.numbers), next.numbers...)}
}

// aboutTools and aboutSource are words that need not stand in a passage: those of talk, what tools counted, and how the passage's place is called.
func (e *evidence) aboutTools() string {
	return talkAbout + strings.Join(numeral.FindAllString(e.returned.text(), -1), " ")
}

func aboutSource(src source) string {
	return " " + src.document.DisplayTitle() + " " + src.passage.Section + " " + src.document.Filename + " " + strconv.Itoa(src.passage.Page)
}

// holds reports whether one of the passages behind footnotes, or all of them together, hold the words of a text.
func (e *evidence) holds(said string, numbers []int) bool {
	var all []string
	about := e.aboutTools()
	for _, n := range numbers {
		if n < 1 || n > len(e.cite.from) {
			continue
		}
		src, ok := e.sources.at(e.cite.from[n-1])
		if !ok {
			continue
		}
		these := []string{src.passage.Text}
		if quote := e.cite.list[n-1].Quote; quote != "" && !strings.Contains(src.passage.Text, quote) {
			these = append(these, quote) // from elsewhere in the document
		}
		of := aboutSource(src)
		if e.cite.judge.Backed(said, about+of, these...) {
			return true
		}
		about += of
		all = append(all, these...)
	}
	return len(numbers) > 1 && e.cite.judge.Backed(said, about, all...)
}
