package offline

import (
	"fmt"
	"slices"
	"strings"
)

// mostItems is how many items a list quotes.
const mostItems = 20

// mostOf is which share of its words a text has that says the same.
const mostOf = 0.5

// items quotes what holds a kind of value, or the word that was asked with; without one what stands under the heading
// that names the topic. Where a heading names it, only what stands there counts. A row of a table without a name of its
// own stands alone; another unit that can't be quoted by itself, such as a bare amount, takes the one before it along,
// which says what it is.
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
		if !w.holds(i) { // an amount alone in its line: the line before says of what
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

// most are those of all that have the most of something, or nearly as much: none where none has any.
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
