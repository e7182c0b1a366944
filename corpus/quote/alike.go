package quote

import (
	"cmp"
	"slices"
	"unicode"

	"github.com/footnote/footnote/text"
)

// maxWindows is the maximum number of candidates for the edit distance, which takes the product of both lengths for
// each.
const maxWindows = 12

// findAlike returns the run most similar to q. By the pigeonhole principle, if at most k edits separate them, one
// of k+1 pieces of q is unchanged in it. The candidates are the positions of pieces, those with the most pieces
// first. The ends are then moved to word boundaries, and the similarity of the result is computed again.
func (l levelled) findAlike(q []rune) (a, b int, ok bool) {
	if len(q) < minApproximate || len(q) > maxApproximate {
		return 0, 0, false
	}
	edits := int(float64(len(q)) * (1 - minAlike))
	best := edits + 1
	for _, from := range l.candidateStarts(q, edits) {
		lo, hi := max(0, from-edits), min(len(l.runes), from+len(q)+2*edits+1)
		x, y, d := closestPart(l.runes[lo:hi], q, best)
		if d >= best {
			continue
		}
		x, y = l.widenToWords(lo+x, lo+y)
		if d < best && y-x >= minApproximate && sameFacts(q, l.runes[x:y]) && alikeness(l.runes[x:y], q) >= minAlike {
			a, b, best, ok = x, y, d, true
		}
	}
	return a, b, ok
}

// alikeness returns the similarity of two runs, 0–1: 1 minus the share of edits in the longer of both.
func alikeness(run, q []rune) float64 {
	a, b, edits := closestPart(run, q, len(q)+1)
	edits += len(run) - (b - a) // text around the match counts as well
	return 1 - float64(edits)/float64(max(len(run), len(q)))
}

// candidateStarts returns the candidate positions of q, most promising first. A rolling hash (Karp and Rabin 1987)
// locates pieces in one pass over the text. Positions closer than the number of edits are merged.
func (l levelled) candidateStarts(q []rune, edits int) []int {
	size := len(q) / (edits + 1)
	if len(l.runes) < size {
		return nil
	}
	pieces := make(map[uint64][]int, edits+1)
	for i := 0; i+size <= len(q); i += size {
		h := hashOf(q[i : i+size])
		if len(pieces[h]) < 4 { // bounds the cost of a repetitive quote
			pieces[h] = append(pieces[h], i)
		}
	}
	const base = 1_000_003
	var top uint64 = 1
	for range size - 1 {
		top *= base
	}
	votes := make(map[int]int)
	stride := edits + 1
	h := hashOf(l.runes[:size])
	for i := 0; ; i++ {
		for _, off := range pieces[h] {
			if slices.Equal(l.runes[i:i+size], q[off:off+size]) {
				votes[max(0, i-off)/stride]++
			}
		}
		if i+size >= len(l.runes) {
			break
		}
		h = (h-uint64(l.runes[i])*top)*base + uint64(l.runes[i+size])
	}
	places := make([]int, 0, len(votes))
	for p := range votes {
		places = append(places, p)
	}
	slices.SortFunc(places, func(x, y int) int {
		return cmp.Or(cmp.Compare(votes[y]+votes[y+1], votes[x]+votes[x+1]), cmp.Compare(x, y))
	})
	places = places[:min(len(places), maxWindows)]
	for i := range places {
		places[i] *= stride
	}
	return places
}

// hashOf returns the polynomial hash of a run, as in candidateStarts.
func hashOf(r []rune) uint64 {
	var h uint64
	for _, c := range r {
		h = h*1_000_003 + uint64(c)
	}
	return h
}

// closestPart returns the part [a, b) of run with the minimum edit distance to q, and the distance; it stops at
// limit. A first row of zeros in the distance table lets a match begin anywhere (Sellers 1980). Memory is one
// column.
func closestPart(run, q []rune, limit int) (a, b, edits int) {
	// Sellers' algorithm: a column for each rune of run, with free ends; from holds the start of each alignment.
	cost, from := make([]int, len(q)+1), make([]int, len(q)+1)
	for i := range cost {
		cost[i] = i
	}
	edits = limit
	if cost[len(q)] < edits {
		edits = cost[len(q)]
	}
	for j, r := range run {
		diagonal, diagonalFrom := cost[0], from[0]
		cost[0], from[0] = 0, j+1
		for i, c := range q {
			up, left := cost[i]+1, cost[i+1]+1
			d, f := diagonal, diagonalFrom
			if c != r {
				d++
			}
			diagonal, diagonalFrom = cost[i+1], from[i+1]
			if up < d {
				d, f = up, from[i]
			}
			if left < d {
				d, f = left, diagonalFrom
			}
			cost[i+1], from[i+1] = d, f
		}
		if cost[len(q)] < edits {
			edits, a, b = cost[len(q)], from[len(q)], j+1
		}
	}
	return a, b, edits
}

// widenToWords extends [a, b) to word boundaries and trims spaces.
func (l levelled) widenToWords(a, b int) (int, int) {
	for a > 0 && a < len(l.runes) && l.inWord(a) {
		a--
	}
	for b > 0 && b < len(l.runes) && l.inWord(b) {
		b++
	}
	for a < b && l.runes[a] == ' ' {
		a++
	}
	for b > a && l.runes[b-1] == ' ' {
		b--
	}
	return a, b
}

// sameFacts reports whether two texts have the same numbers and negations in the same order: other texts are not
// similar, even if they differ by few letters. The order distinguishes "5 of 10" from "10 of 5".
func sameFacts(x, y []rune) bool {
	return minuses(x) == minuses(y) && slices.Equal(facts(string(x)), facts(string(y)))
}

// facts returns the terms of a text with digits or negations, in order.
func facts(s string) []string {
	var out []string
	for _, t := range text.Terms(s, "") {
		if hasDigit(t) || negations[t] {
			out = append(out, t)
		}
	}
	return out
}

// minuses counts the minus signs of numbers, excluding ranges.
func minuses(r []rune) int {
	n := 0
	for i := 0; i+1 < len(r); i++ {
		if r[i] == '-' && unicode.IsDigit(r[i+1]) && (i == 0 || !unicode.IsDigit(r[i-1])) {
			n++
		}
	}
	return n
}

func hasDigit(t string) bool {
	for i := range len(t) {
		if t[i] >= '0' && t[i] <= '9' {
			return true
		}
	}
	return false
}

// negations are folded; the analyser splits off the t of "don't", so its first part is listed.
var negations = map[string]bool{
	"not": true, "no": true, "never": true, "none": true, "without": true, "cannot": true, "don": true, "doesn": true,
	"isn": true, "aren": true,
	"wasn": true, "weren": true, "won": true, "didn": true, "hasn": true, "haven": true, "shouldn": true,
	"wouldn": true, "couldn": true,
	"nicht": true, "kein": true, "keine": true, "keinen": true, "nie": true, "ohne": true,
	"pas": true, "jamais": true, "sans": true, "aucun": true, "aucune": true, "nunca": true, "sin": true,
	"ningun": true, "не": true, "нет": true, "без": true,
}
