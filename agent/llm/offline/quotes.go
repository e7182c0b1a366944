package offline

import (
	"regexp"
	"slices"
	"strings"
)

const (
	mostQuotes  = 5
	mostUnits   = 3    // maximum units of a quote
	quoteLength = 600  // maximum runes of a quote of several units
	leastShare  = 0.4  // minimum share of the best quote's score
	sameShare   = 0.75 // share of common terms of two duplicate quotes
)

// quote is a span of neighbouring units of a passage.
type quote struct {
	source     int
	start, end int // rune offsets in the passage
	first      int // index in the pool's units
	last       int
	score      float64
	best       scored
}

// choose selects up to five quotes, best first. It prefers a quote with words of the question that the earlier ones
// lack, so that both sides of a comparison are quoted, and drops duplicates. A selected unit is extended before it
// is compared with the others. A quote next to an earlier one is merged into it.
func choose(p pool, units []scored, words []word) []quote {
	var out []quote
	covered := make([]float64, len(words))
	left := slices.Clone(units)
	for len(out) < mostQuotes && len(left) > 0 {
		best, most := -1, 0.0
		for i, s := range left {
			if worth := s.score + newShare*gain(s, covered, words); worth > most {
				best, most = i, worth
			}
		}
		if best < 0 {
			break
		}
		s := left[best]
		left = slices.Delete(left, best, best+1)
		// A further quote needs a word of the question itself if the first one has one, and a share of its score.
		if len(out) > 0 && (s.place == onlyBorrowed && out[0].best.place > onlyBorrowed ||
			s.within() < leastShare*out[0].best.within()) {
			continue
		}
		if slices.ContainsFunc(out, func(o quote) bool { return p.addsNothing(s, o.best) }) {
			continue
		}
		q := p.extend(s, units)
		if slices.ContainsFunc(out, func(o quote) bool { return p.same(o, q) }) {
			continue
		}
		for k := range words {
			// Further units gain only by other words.
			covered[k] = max(covered[k], s.has[k])
		}
		if i := slices.IndexFunc(out, func(o quote) bool { return p.adjoin(o, q) }); i >= 0 {
			out[i] = out[i].with(q)
			continue
		}
		out = append(out, q)
	}
	return out
}

// addsNothing reports whether a row matches less of the question than a quoted row of its table, or is the head
// above that row.
func (p pool) addsNothing(s, o scored) bool {
	if !p.sameTable(s.unit, o.unit) {
		return false
	}
	if s.row.first {
		return true
	}
	less := false
	for k, has := range s.has {
		if has > o.has[k] {
			return false
		}
		less = less || has < o.has[k]
	}
	return less
}

// newShare is the weight of words that no quote has yet.
const newShare = 0.3

// gain returns the share of the question's weight that a unit adds to the quotes.
func gain(s scored, covered []float64, words []word) float64 {
	added, total := 0.0, total(words)
	for k, w := range words {
		added += w.weight * max(0, s.has[k]-covered[k])
	}
	if total == 0 {
		return 0
	}
	return added / total
}

// extend extends a unit to a quote of up to three neighbouring units, adding the one with the higher score first. It
// stops at a heading. Nested lines are quoted alone, a row alone or with equal neighbours.
func (p pool) extend(s scored, all []scored) quote {
	if s.row != nil {
		return p.extendRow(s, all)
	}
	worth := map[int]float64{}
	for _, o := range all {
		worth[o.at] = o.score
	}
	q := quote{source: s.source, start: s.start, end: s.end, first: s.at, last: s.at, score: s.score, best: s}
	if isNested(s.text) {
		return q
	}
	for q.last-q.first+1 < mostUnits {
		before, after := p.beside(q.first-1, q), p.beside(q.last+1, q)
		switch {
		case !before && !after:
			return q
		case after && (!before || worth[q.last+1] >= worth[q.first-1]):
			q.last++
			q.end = p.units[q.last].end
		default:
			q.first--
			q.start = p.units[q.first].start
		}
	}
	return q
}

// extendRow extends a row to neighbouring rows that match the question equally.
func (p pool) extendRow(s scored, all []scored) quote {
	alike := map[int]bool{}
	for _, o := range all {
		alike[o.at] = o.source == s.source && p.sameTable(s.unit, o.unit) && !o.row.first && !s.row.first &&
			slices.Equal(o.has, s.has)
	}
	q := quote{source: s.source, start: s.start, end: s.end, first: s.at, last: s.at, score: s.score, best: s}
	for q.last-q.first+1 < mostUnits {
		switch before, after := q.first-1, q.last+1; {
		case alike[after] && p.units[after].end-q.start <= quoteLength:
			q.last, q.end = after, p.units[after].end
		case alike[before] && q.end-p.units[before].start <= quoteLength:
			q.first, q.start = before, p.units[before].start
		default:
			return q
		}
	}
	return q
}

// adjoin reports whether two quotes are adjacent and can be merged.
func (p pool) adjoin(a, b quote) bool {
	next := (a.best.row == nil) == (b.best.row == nil) &&
		(a.last+1 == b.first || b.last+1 == a.first)
	return next && a.source == b.source && max(a.last, b.last)-min(a.first, b.first) < mostUnits &&
		max(a.end, b.end)-min(a.start, b.start) <= quoteLength
}

// with returns the merged quote.
func (q quote) with(other quote) quote {
	q.start, q.end = min(q.start, other.start), max(q.end, other.end)
	q.first, q.last = min(q.first, other.first), max(q.last, other.last)
	return q
}

// listItem matches the start of a list item: a dash or a dot, a number, a letter or a Roman numeral.
var listItem = regexp.MustCompile(`^(?:[-–—•*▪◦·‣]|\(?(?:\d{1,4}|\p{L}|[ivxlc]{2,6}|[IVXLC]{2,6})[.)])\s`)

// leadOf returns the unit that introduces the list of an item, -1 for none. It ends with a colon, with only items
// and their text in between.
func (p pool) leadOf(i int) int {
	if !listItem.MatchString(p.units[i].text) {
		return -1
	}
	for k := i - 1; k >= 0; k-- {
		u, next := p.units[k], p.units[k+1]
		if u.source != next.source || u.row != nil {
			return -1
		}
		switch introduces := strings.HasSuffix(u.text, ":") || strings.HasSuffix(u.text, "："); {
		case !listItem.MatchString(next.text) && p.beginsLine(next), u.names && !introduces:
			return -1
		case introduces:
			if listItem.MatchString(next.text) && u.end-u.start <= quoteLength {
				return k
			}
			return -1
		}
	}
	return -1
}

// beginsLine reports whether a unit starts at the left edge of a line.
func (p pool) beginsLine(u unit) bool { return u.start == 0 || p.runes[u.source][u.start-1] == '\n' }

// beside reports whether a unit can be added to a quote.
func (p pool) beside(i int, q quote) bool {
	if i < 0 || i >= len(p.units) {
		return false
	}
	u := p.units[i]
	if u.source != q.source || u.row != nil || isNested(u.text) || !u.quotable() ||
		max(q.end, u.end)-min(q.start, u.start) > quoteLength {
		return false
	}
	// a paragraph is quoted alone, unless it introduces the next
	at, before := q.end, u.start
	if i < q.first {
		at, before = u.end, q.start
	}
	between := string(p.runes[q.source][max(0, at-1):before])
	return strings.Count(between, "\n") < 2 || strings.HasPrefix(between, ":") || strings.HasPrefix(between, "：")
}

// same reports whether two quotes overlap or are duplicates. Terms are compared with the smaller of the two sets, so
// that a sentence inside a longer one is a duplicate.
func (p pool) same(a, b quote) bool {
	if a.source == b.source && a.start < b.end && b.start < a.end {
		return true
	}
	if (a.best.row == nil) != (b.best.row == nil) { // text with the few words of a row has more to say
		return false
	}
	mine, other := p.terms(a), p.terms(b)
	both := 0
	for term := range other {
		if mine[term] {
			both++
		}
	}
	return float64(both) >= sameShare*float64(min(len(mine), len(other)))
}

// terms returns the terms of all units of a quote.
func (p pool) terms(q quote) map[string]bool {
	all := map[string]bool{}
	for _, u := range p.units[q.first : q.last+1] {
		for term := range u.terms {
			all[term] = true
		}
	}
	return all
}

// words returns a quote's text as in the passage.
func (p pool) words(q quote) string { return string(p.runes[q.source][q.start:q.end]) }

// lines returns the rune ranges of a quote's units, merged if they are on one line.
func (p pool) lines(q quote) [][2]int {
	var out [][2]int
	for i := q.first; i <= q.last; i++ {
		u := p.units[i]
		if n := len(out); n > 0 && p.inOneLine(p.units[i-1], u) {
			out[n-1][1] = u.end - q.start
			continue
		}
		out = append(out, [2]int{u.start - q.start, u.end - q.start})
	}
	return out
}

// inOneLine reports whether a unit and the next one are on one line.
func (p pool) inOneLine(before, u unit) bool {
	return before.source == u.source && !slices.Contains(p.between(before, u), '\n')
}
