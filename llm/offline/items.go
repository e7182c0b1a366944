package offline

import (
	"fmt"
	"slices"
	"strings"
)

// mostItems is how many items a list quotes.
const mostItems = 20

// mostOf is the share of a topic that a heading has which names it.
const mostOf = 0.5

// items quotes what holds a kind of value, or the word that was asked with; without one what stands under the heading
// that names the topic. Where a heading names it, only what stands there counts.
func (w wholes) items(value valueKind) (move, bool) {
	var all, named []quote
	for i, u := range w.units {
		if !w.quotable(u) || value != noValue && !value.isIn(u.text) {
			continue
		}
		q := quote{source: u.source, start: u.start, end: u.end, first: i, last: i}
		all = append(all, q)
		if w.under(u) >= mostOf {
			named = append(named, q)
		}
	}
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
