package cite

import (
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus/support"
)

// headingText is a heading without its marks and footnotes.
func headingText(line string) string {
	plain, _ := liftFootnotes(line)
	return strings.Trim(plain, "#*_`~ \n")
}

// headingLevel is how far down a heading stands: a line that is bold is the lowest.
func headingLevel(line string) int {
	if n := runLength(strings.TrimLeft(line, " >"), '#'); n > 0 {
		return n
	}
	return lowestHeading
}

// lowestHeading is the level of a bold line, below those of # to ######.
const lowestHeading = 7

// fillSections gives headings the text and the footnotes of what stands under them, to the next heading of their level
// or a higher one, and how many of each there are: "Three reasons" counts them. It looks ahead from each heading, which
// is quadratic in headings alone.
func fillSections(all []Claim) {
	for i := range all {
		if all[i].heading == 0 {
			continue
		}
		below := map[int]int{} // by level; sentences have none
		var section strings.Builder
		for _, c := range all[i+1:] {
			if c.heading > 0 && c.heading <= all[i].heading {
				break
			}
			below[c.heading]++
			section.WriteString(c.Text + "\n\n")
			all[i].Nearby = append(all[i].Nearby, c.Numbers...)
		}
		for _, n := range below {
			section.WriteString(strconv.Itoa(n) + "\n\n")
		}
		all[i].section = section.String()
	}
}

// headingAdds is what a heading adds to the question, to its section, and to what stands behind the section's
// footnotes. A heading such as “Three reasons” states something that no footnote of its own stands for; one that only
// names the topic states nothing.
func (e *Evidence) headingAdds(c Claim) support.Adds {
	if !IsFactualClaim(c.Text) {
		return support.AddsNothing
	}
	around := e.question + "\n\n" + c.section + MetaWords
	seen := map[int]bool{}
	for _, n := range c.Nearby {
		if src, ok := e.sourceOf(n); ok && !seen[src.N] {
			seen[src.N] = true
			around += "\n\n" + strings.Join(e.textsBehind(n, src), "\n\n") + aboutSource(src)
		}
	}
	return e.citer.Judge.HeadingAdds(c.Text, around)
}

// statingClaims are the claims of an answer that state something: without headings that only name a topic, and without
// code that is no prose. unchecked is how many lines of that are in no text.
func (e *Evidence) statingClaims(all []Claim) (out []Claim, unchecked int) {
	out = make([]Claim, 0, len(all))
	for _, c := range all {
		switch {
		case c.isCode:
			claim, isClaim, isUnchecked := e.readCode(c)
			if isUnchecked {
				unchecked++
			}
			if !isClaim {
				continue
			}
			c = claim
		case c.heading > 0:
			adds := e.headingAdds(c)
			if adds == support.AddsNothing {
				continue
			}
			c.wordy = adds == support.AddsWords
		}
		out = append(out, c)
	}
	return out, unchecked
}
