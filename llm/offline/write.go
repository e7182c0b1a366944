package offline

import (
	"cmp"
	"slices"
	"strings"
)

const mostItems = 8 // of a list that a picked sentence introduces

// leansBack are the first words of sentences that need the one before.
var leansBack = lazily(
	`^(It|This|These|Those|They|That|He|She|Such|However|But|And|Otherwise|Then|Therefore|Dies|Diese[rs]?|Er|Sie|` +
		`Cela|Il|Elle)\b`,
)

// arrange puts the picked sentences in the order of the text, passages by their best sentence, and adds what they
// lean on.
func arrange(picked, all []candidate, want expected) []candidate {
	rank := map[int]int{}
	for _, c := range picked {
		if _, ok := rank[c.source]; !ok {
			rank[c.source] = len(rank)
		}
	}
	chosen := slices.Clone(picked)
	has := func(c candidate) bool {
		return slices.ContainsFunc(chosen, func(o candidate) bool { return o.source == c.source && o.place == c.place })
	}
	for i, c := range all {
		switch {
		case !slices.ContainsFunc(picked, func(p candidate) bool { return p.source == c.source && p.place == c.place }):
		case strings.HasSuffix(c.text, ":"):
			for _, item := range all[i+1 : min(len(all), i+1+mostItems)] {
				if item.source != c.source || !item.item {
					break
				}
				if !has(item) && sayable(item.text) {
					chosen = append(chosen, item)
				}
			}
		case leansBack().MatchString(c.text) && i > 0 && len(chosen) < 5:
			if b := all[i-1]; b.source == c.source && !b.heading && !b.item && sayable(b.text) &&
				!strings.HasSuffix(b.text, "?") && !has(b) {
				chosen = append(chosen, b)
			}
		}
	}
	slices.SortStableFunc(chosen, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(rank[a.source], rank[b.source]), cmp.Compare(a.place, b.place))
	})
	return chosen
}

// write sets sentences one after another, items and rows each in its line.
func write(chosen []candidate, sources []source) string {
	var b strings.Builder
	inList := false
	for i, c := range chosen {
		said := cited(c.words, sources[c.source].N)
		if c.item {
			said = "- " + said
		}
		switch {
		case i == 0:
		case c.item && inList:
			b.WriteString("\n")
		case c.item != inList:
			b.WriteString("\n\n")
		default:
			b.WriteString(" ")
		}
		b.WriteString(said)
		inList = c.item
	}
	return b.String()
}
