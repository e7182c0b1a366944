package corpus

import (
	"hash/maphash"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// drawnWord is a word of a text: [start, end) in runes, and what it is compared by.
type drawnWord struct {
	start, end int
	folded     string
}

// drawnWords are the words of a text: runs of letters and digits; in scripts without spaces each letter is one.
func drawnWords(text string) (out []drawnWord) {
	at, start := 0, -1
	var word strings.Builder
	flush := func() {
		if start >= 0 {
			out = append(out, drawnWord{start, at, strings.ToLower(norm.NFKC.String(word.String()))})
			word.Reset()
			start = -1
		}
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao,
			unicode.Khmer):
			flush()
			out = append(out, drawnWord{at, at + 1, norm.NFKC.String(string(r))})
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if start < 0 {
				start = at
			}
			word.WriteRune(r)
		default:
			flush()
		}
		at++
	}
	flush()
	return out
}

// longestRun is how many words in a row are looked for at first.
const longestRun = 4

// alignWords returns for each word of own which word of drawn it is, -1 where that is not sure. Runs of words that
// either text has once are each other; words next to them that are alike go with them. What repeats, like the head of
// each page, decides nothing.
func alignWords(own, drawn []drawnWord) []int32 {
	to, taken := make([]int32, len(own)), make([]bool, len(drawn))
	for i := range to {
		to[i] = -1
	}
	pair := func(i, j int) bool {
		if i < 0 || j < 0 || i >= len(own) || j >= len(drawn) || to[i] >= 0 || taken[j] ||
			own[i].folded != drawn[j].folded {
			return false
		}
		to[i], taken[j] = int32(j), true
		return true
	}
	seed := maphash.MakeSeed()
	for run := longestRun; run >= 2; run-- {
		theirs := singleRuns(seed, drawn, run)
		for sum, i := range singleRuns(seed, own, run) {
			j, ok := theirs[sum]
			if !ok || i < 0 || j < 0 {
				continue
			}
			for k := range run {
				pair(i+k, j+k)
			}
		}
		for i := range own {
			if to[i] >= 0 {
				pair(i+1, int(to[i])+1)
			}
		}
		for i := len(own) - 1; i >= 0; i-- {
			if to[i] >= 0 {
				pair(i-1, int(to[i])-1)
			}
		}
	}
	return to
}

// singleRuns returns where each run of so many words begins that there is once, by a sum of its words; -1 for others.
func singleRuns(seed maphash.Seed, words []drawnWord, run int) map[uint64]int {
	out := make(map[uint64]int, len(words))
	for i := 0; i+run <= len(words); i++ {
		var h maphash.Hash
		h.SetSeed(seed)
		for _, w := range words[i : i+run] {
			_, _ = h.WriteString(w.folded) // never fails
			_ = h.WriteByte(0)
		}
		sum := h.Sum64()
		if _, twice := out[sum]; twice {
			out[sum] = -1
			continue
		}
		out[sum] = i
	}
	return out
}
