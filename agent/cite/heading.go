package cite

import (
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus/support"
)

// headingText returns a heading without its marks and footnotes.
func headingText(line string) string {
	plain, _ := liftFootnotes(line)
	return strings.Trim(plain, "#*_`~ \n")
}

// headingLevel returns the level of a heading. A bold line has the lowest rank.
func headingLevel(line string) int {
	if n := runLength(strings.TrimLeft(line, " >"), '#'); n > 0 {
		return n
	}
	return lowestHeading
}

// lowestHeading is the level of a bold line, below those of # to ######.
const lowestHeading = 7

// fillSections sets, for each heading, the text and footnotes of its section, up to the next heading of the same or
// a higher rank. The text includes the counts of sentences and headings, since “Three reasons” counts them. It scans
// ahead from each heading, which is quadratic in headings only.
func fillSections(all []Claim) {
	for i := range all {
		if all[i].heading == 0 {
			continue
		}
		below := map[int]int{} // counts by level; sentences have level 0
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

// headingAdds returns what a heading adds to the question, its section and the passages behind the section's
// footnotes. A heading such as “Three reasons” is a claim without a footnote of its own; one that only names the
// topic makes no claim.
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

// statingClaims filters the claims of an answer: it drops headings that only name a topic and code without prose.
// unchecked is the number of dropped lines of code that occur in no text.
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
