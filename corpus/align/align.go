package align

import (
	"slices"
	"strings"
)

// Range is [From, To) among the words of the other text; the zero Range is none. Both count words, from 0, and not
// runes or bytes.
type Range struct{ From, To int }

// Find returns where each word of text stands in other. Runs of words that occur once in both are found first, wherever
// they stand, the longest before shorter ones, and then grow while the words beside them are equal. What lies between
// two of them in both texts is searched in the same way, for runs of two words and more that keep their order. A word
// that could stand in several places is not found, nor is one alone: a repeated word is told only by its neighbours.
// The result has one Range for each word of text. It is used to find the words of a recognised or rewritten page again,
// where an ordinary comparison of lines (diff) fails, because whole columns may have changed places.
//
// Steps with long runs come first: what they match is nearly certain, and keeps the shorter runs, which may stand
// anywhere, from being matched with the wrong place. Time grows with the words of both texts together, not with their
// product.
func Find(text, other []string) []Range {
	f := newFinding(text, other)
	f.matchOnce(12)
	f.matchOnce(6)
	f.growAll()
	f.fillGaps()
	f.matchOnce(3)
	f.growAll()
	f.fillGaps()
	f.freeDoubtful(1)
	f.freeDoubtful(-1)
	return f.ranges()
}

// finding is an alignment on its way. Words are numbered: equal ones have the same number. taken tells which words of b
// are matched, so that no two words of a stand in one place. Slices are as long as the texts.
type finding struct {
	text, other  []string
	a, b         []int
	at           []int               // of each word of a: its place in b, or -1
	taken        []bool              // of each word of b
	onceA, onceB map[[maxRun]int]int // scratch of matchOnce
}

// maxRun is how many words a run has at most that is searched for. It is the size of the array that a run is looked up
// by; longer runs are found as several that overlap, and grow together.
const maxRun = 12

// window is a part of both texts. Both parts are searched as if they were whole texts.
type window struct{ a, b Range }

// newFinding numbers the words of both texts, so that runs of them can be compared and looked up as integers.
func newFinding(text, other []string) *finding {
	numbers := map[string]int{}
	number := func(words []string) []int {
		out := make([]int, len(words))
		for i, w := range words {
			n, known := numbers[w]
			if !known {
				n = len(numbers) + 1
				numbers[w] = n
			}
			out[i] = n
		}
		return out
	}
	f := &finding{
		text: text, other: other, a: number(text), b: number(other), at: make([]int, len(text)),
		taken: make([]bool, len(other)),
	}
	for i := range f.at {
		f.at[i] = -1
	}
	return f
}

// once returns where each run of k words begins that a part of a text has once; -1 of those that it has more often. The
// map is given to be filled again, as it is needed for many windows.
func once(words []int, part Range, k int, into map[[maxRun]int]int) map[[maxRun]int]int {
	if into == nil {
		into = map[[maxRun]int]int{}
	}
	clear(into)
	for i := part.From; i+k <= part.To; i++ {
		var key [maxRun]int
		copy(key[:], words[i:i+k])
		if _, twice := into[key]; twice {
			into[key] = -1
		} else {
			into[key] = i
		}
	}
	return into
}

// matchOnce matches runs of k words that both texts have once.
func (f *finding) matchOnce(k int) {
	f.match(f.pairs(window{Range{0, len(f.a)}, Range{0, len(f.b)}}, k), k)
}

// pairs are where runs of k words begin that a part of both texts has once, in the order of the first.
func (f *finding) pairs(w window, k int) (pairs [][2]int) {
	f.onceA, f.onceB = once(f.a, w.a, k, f.onceA), once(f.b, w.b, k, f.onceB)
	for i := w.a.From; i+k <= w.a.To; i++ {
		var key [maxRun]int
		copy(key[:], f.a[i:i+k])
		if to, there := f.onceB[key]; there && to >= 0 && f.onceA[key] == i {
			pairs = append(pairs, [2]int{i, to})
		}
	}
	return pairs
}

// match matches runs of k words, but for words that are matched with others. A run is matched as a whole or not at all.
// It reports whether that matched any word that was not matched before.
func (f *finding) match(pairs [][2]int, k int) (found bool) {
	for _, p := range pairs {
		fits := true
		for n := range k {
			fits = fits && (f.at[p[0]+n] == p[1]+n || f.isFree(p[0]+n, p[1]+n))
		}
		for n := 0; fits && n < k; n++ {
			found = found || f.at[p[0]+n] < 0
			f.at[p[0]+n], f.taken[p[1]+n] = p[1]+n, true
		}
	}
	return found
}

// isFree reports whether neither word is matched yet.
func (f *finding) isFree(i, j int) bool { return f.at[i] < 0 && !f.taken[j] }

// growAll matches equal words before and behind those that are matched. One pass goes down and one goes up, so that a
// run grows at both of its ends as far as it can.
func (f *finding) growAll() {
	for i := 1; i < len(f.a); i++ {
		f.growTo(i, f.at[i-1]+1, f.at[i-1] >= 0)
	}
	for i := len(f.a) - 2; i >= 0; i-- {
		f.growTo(i, f.at[i+1]-1, f.at[i+1] >= 0)
	}
}

// growTo matches word i with place j, if the neighbour of i is matched beside j and both words are equal and free.
func (f *finding) growTo(i, j int, beside bool) {
	if beside && j >= 0 && j < len(f.b) && f.a[i] == f.b[j] && f.isFree(i, j) {
		f.at[i], f.taken[j] = j, true
	}
}

// freeDoubtful gives up words at the ends of runs of matches, in one direction, that could as well belong to the run
// that follows in either text: an equal word stands before that. Growing goes as far as words are equal, and may have
// taken a word from its neighbour: then nothing tells where it belongs, and a wrong place is worse than none.
func (f *finding) freeDoubtful(step int) {
	owner := make([]int, len(f.b))
	for j := range owner {
		owner[j] = -1
	}
	for i, j := range f.at {
		if j >= 0 {
			owner[j] = i
		}
	}
	equal := func(i, j int) bool {
		return i >= 0 && i < len(f.a) && j >= 0 && j < len(f.b) && f.a[i] == f.b[j]
	}
	for i := range f.at {
		j, next := f.at[i], i+step
		if j < 0 || next < 0 || next >= len(f.a) || f.at[next] == j+step {
			continue
		}
		q := f.at[next]
		r := -1
		if there := j + step; there >= 0 && there < len(f.b) {
			r = owner[there]
		}
		for n := 0; i-n*step >= 0 && i-n*step < len(f.a) && f.at[i-n*step] == j-n*step; n++ {
			inText := q >= 0 && equal(i-n*step, q-(n+1)*step)
			onPage := r >= 0 && equal(r-(n+1)*step, j-n*step)
			if !inText && !onPage {
				break
			}
			f.at[i-n*step], f.taken[j-n*step] = -1, false
		}
	}
}

// fillGaps searches what lies between two matches that follow each other in both texts, until nothing more is found.
func (f *finding) fillGaps() {
	for again := true; again; {
		again = false
		for _, gap := range f.gaps() {
			for _, k := range []int{4, 2} {
				if f.match(longestAscending(f.pairs(gap, k)), k) {
					again = true
					break
				}
			}
		}
		f.growAll()
	}
}

// gaps are the parts without a match between two matches. Only gaps in which both texts have words, and none of b's is
// matched from elsewhere, are returned.
func (f *finding) gaps() (gaps []window) {
	last, place := -1, -1
	for i := 0; i <= len(f.a); i++ {
		if i < len(f.a) && f.at[i] < 0 {
			continue
		}
		j := len(f.b)
		if i < len(f.a) {
			j = f.at[i]
		}
		if i > last+1 && j > place+1 && !slices.Contains(f.taken[place+1:j], true) {
			gaps = append(gaps, window{Range{last + 1, i}, Range{place + 1, j}})
		}
		last, place = i, j
	}
	return gaps
}

// longestAscending is the longest run of pairs whose second numbers ascend, of pairs whose first ones do. That is the
// longest increasing subsequence, found with binary search in n·log n steps: pairs that cross each other can't both be
// right inside a gap.
func longestAscending(pairs [][2]int) [][2]int {
	before := make([]int, len(pairs))
	var tails []int // of the best run of each length, by index
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(tails, p[1], func(t, second int) int { return pairs[t][1] - second })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	var run [][2]int
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			run = append(run, pairs[i])
		}
	}
	slices.Reverse(run)
	return run
}

// ranges are the matches, with those words that one text writes in several pieces: what lies between two matches has
// the same letters in both. A word may then stand in several words of the other text, or several in one.
func (f *finding) ranges() []Range {
	out := make([]Range, len(f.a))
	for i, j := range f.at {
		if j >= 0 {
			out[i] = Range{j, j + 1}
		}
	}
	for _, gap := range f.gaps() {
		a, b := f.text[gap.a.From:gap.a.To], f.other[gap.b.From:gap.b.To]
		if strings.Join(a, "") != strings.Join(b, "") {
			continue
		}
		j, done := 0, 0 // done: bytes of the words before b[j]
		at := 0
		for i, word := range a {
			for j < len(b) && done+len(b[j]) <= at {
				done += len(b[j])
				j++
			}
			from, until := j, done
			at += len(word)
			last := j
			for until < at {
				until += len(b[last])
				last++
			}
			out[gap.a.From+i] = Range{gap.b.From + from, gap.b.From + last}
		}
	}
	return out
}
