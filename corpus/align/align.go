package align

import (
	"slices"
	"strings"
)

// Range is a range [From, To) of word indexes in the other text, counted from 0; the zero Range is empty.
type Range struct{ From, To int }

// Find returns the position in other of each word of text. It first matches runs of words that occur once in both
// texts, wherever they are, the longest first, and extends them while the adjacent words are equal. It then
// searches the gaps between two matches in the same way, for runs of two words or more in the same order. A word
// with several possible positions is not matched, nor is a single word: only its neighbours identify a repeated
// word. The result has one Range for each word of text. Find aligns the words of a scanned or converted page, where
// a line diff fails because whole columns may have moved.
//
// Long runs are matched first: their matches are nearly certain and prevent wrong matches of shorter runs. Time is
// linear in the words of both texts, not in their product.
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

// finding is an alignment in progress. Words are interned: equal ones have the same number. taken marks the matched
// words of b, so that no two words of a match the same word. Slices are as long as the texts.
type finding struct {
	text, other  []string
	a, b         []int
	at           []int               // for each word of a: its index in b, or -1
	taken        []bool              // of each word of b
	onceA, onceB map[[maxRun]int]int // scratch of matchOnce
}

// maxRun is the maximum number of words in a run. It is the size of the array used as a map key; longer runs are
// found as overlapping ones and extended.
const maxRun = 12

// window is a part of both texts, searched like whole texts.
type window struct{ a, b Range }

// newFinding interns the words of both texts, so that runs can be compared and looked up as integers.
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

// once returns the start of each run of k words that occurs once in part; -1 for runs that occur more often. It
// reuses the map into, since it is called for many windows.
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

// matchOnce matches runs of k words that occur once in both texts.
func (f *finding) matchOnce(k int) {
	f.match(f.pairs(window{Range{0, len(f.a)}, Range{0, len(f.b)}}, k), k)
}

// pairs returns the start indexes of runs of k words that occur once in both parts of w, in the order of the first
// text.
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

// match matches runs of k words, unless words of the run are matched elsewhere. A run is matched as a whole or not
// at all. It reports whether it matched any new word.
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

// growAll extends matches to equal adjacent words. One forward and one backward pass extend each run at both ends
// as far as possible.
func (f *finding) growAll() {
	for i := 1; i < len(f.a); i++ {
		f.growTo(i, f.at[i-1]+1, f.at[i-1] >= 0)
	}
	for i := len(f.a) - 2; i >= 0; i-- {
		f.growTo(i, f.at[i+1]-1, f.at[i+1] >= 0)
	}
}

// growTo matches word i with word j if their neighbours are matched and both words are equal and free.
func (f *finding) growTo(i, j int, beside bool) {
	if beside && j >= 0 && j < len(f.b) && f.a[i] == f.b[j] && f.isFree(i, j) {
		f.at[i], f.taken[j] = j, true
	}
}

// freeDoubtful removes matches at the ends of runs, in one direction, that could also belong to the next run in
// either text, because an equal word precedes it. Extending a run may have taken such a word from its neighbour. A
// wrong match is worse than none.
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

// fillGaps searches the gaps between consecutive matches until it finds nothing more.
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

// gaps returns the unmatched windows between two matches. Only windows with words in both texts, and without words
// of b that are matched elsewhere, are returned.
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

// longestAscending returns the longest increasing subsequence of pairs by the second number; the first numbers
// ascend. Binary search finds it in O(n log n): inside a gap, pairs that cross can't both be right.
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

// ranges returns the matches, and adds words that one text splits: gaps with the same letters in both texts. One
// word may then match several words of the other text, or several one.
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
