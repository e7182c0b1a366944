package offline

import (
	"fmt"
	"slices"
	"strings"
)

// mostItems is the maximum number of quoted items in a list.
const mostItems = 20

// mostOf is the minimum share of common words of two similar texts.
const mostOf = 0.5

// items quotes the units with a value of a kind, or with the requested word; without either, the units under the
// heading that names the topic. If a heading names the topic, only units under it are used. A unit that can't be
// quoted alone, such as an amount on its own line, is quoted with the unit before it, which describes it. Table rows
// are quoted alone.
func (w wholes) items(value valueKind, word string) (move, bool) {
	asks := func(u unit) bool {
		return word != "" && slices.Contains(u.sequence, word)
	}
	var all []quote
	for i, u := range w.units {
		q := quote{source: u.source, start: u.start, end: u.end, first: i, last: i}
		if value != noValue && !value.isIn(u.text) && !asks(u) || w.isTitle(i) {
			continue
		}
		if !w.holds(i) { // an amount on its own line: the line before describes it
			if value == noValue || u.names || i == 0 || w.units[i-1].source != u.source || u.row != nil {
				continue
			}
			q.first, q.start = i-1, w.units[i-1].start
		}
		all = append(all, q)
	}
	named := most(all, func(q quote) float64 { return w.under(q.last) })
	if len(named) > 1 {
		all = named
	} else if value == noValue {
		return move{}, false
	}
	if len(all) == 0 {
		return move{}, false
	}
	var names []string
	for _, d := range w.docs {
		names = append(names, escape(d.label()))
	}
	head := "Listed in " + joinNames(names) + ", word for word:"
	if more := len(all) - mostItems; more > 0 {
		head = fmt.Sprintf("The first %d of %d in %s, word for word:", mostItems, len(all), joinNames(names))
	}
	blocks := w.blocks(slices.Clip(all[:min(len(all), mostItems)]), w.words)
	return w.answer(head, strings.Join(blocks, "\n\n")), true
}

// most returns the entries with at least the share mostOf of the highest score, none if all scores are 0.
func most[T any](all []T, has func(T) float64) (out []T) {
	best := 0.0
	for _, one := range all {
		best = max(best, has(one))
	}
	for _, one := range all {
		if best > 0 && has(one) >= mostOf*best {
			out = append(out, one)
		}
	}
	return out
}
