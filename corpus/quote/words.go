package quote

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// shingle is the number of words in an index key, and the minimum length of a run that an Index finds.
const shingle = 5

// Index is an index of word runs in texts. It ignores case, white space, punctuation between words and Markdown
// emphasis, but not words, numbers, negations and signs. The zero value is empty. It is not safe for concurrent
// use.
type Index struct {
	ids   map[string]int32 // by word, from 1
	texts []words
	runs  map[[shingle]int32][]place // by their first words
}

// words are the words of a text, with their rune ranges.
type words struct {
	ids []int32
	at  [][2]int
}

// place is the start of a run.
type place struct{ text, word int }

// Run is a run of words in a text of an Index. Text is the number of the text, from 0; Start and End are rune
// offsets in it.
type Run struct{ Text, Start, End int }

// Add adds a text under the next number.
func (x *Index) Add(s string) {
	if x.ids == nil {
		x.ids, x.runs = map[string]int32{}, map[[shingle]int32][]place{}
	}
	var t words
	eachWord(s, func(word string, start, end int) {
		id, known := x.ids[word]
		if !known {
			id = int32(len(x.ids) + 1)
			x.ids[word] = id
		}
		t.ids, t.at = append(t.ids, id), append(t.at, [2]int{start, end})
	})
	for i := range max(0, len(t.ids)-shingle+1) {
		key := [shingle]int32(t.ids[i:])
		x.runs[key] = append(x.runs[key], place{len(x.texts), i})
	}
	x.texts = append(x.texts, t)
}

// Find returns the occurrences of all words of s as one run, in the order of the texts. It returns none for fewer
// than 5 words.
func (x *Index) Find(s string) []Run {
	var wanted []int32
	eachWord(s, func(word string, _, _ int) { wanted = append(wanted, x.ids[word]) })
	if len(wanted) < shingle {
		return nil
	}
	var out []Run
	for _, p := range x.runs[[shingle]int32(wanted)] {
		t := x.texts[p.text]
		if end := p.word + len(wanted); end <= len(t.ids) && slices.Equal(t.ids[p.word:end], wanted) {
			out = append(out, Run{p.text, t.at[p.word][0], t.at[end-1][1]})
		}
	}
	return out
}

// eachWord yields the lower-case words of a text with their rune ranges. A sign with a meaning, such as a minus or
// a currency, is a word, and so is each character of a script without spaces.
func eachWord(s string, yield func(word string, start, end int)) {
	l := level([]rune(s))
	for i := 0; i < len(l.runes); {
		end := l.wordEnd(i)
		if end == i {
			i++
			continue
		}
		yield(strings.Map(unicode.ToLower, string(l.runes[i:end])), l.at[i], l.at[end-1]+1)
		i = end
	}
}

// wordEnd returns the end of the word that begins at i, or i if there is none.
func (l levelled) wordEnd(i int) int {
	switch r := l.runes[i]; {
	case text.Unspaced(r), isSign(r), r == '-' && i+1 < len(l.runes) && unicode.IsDigit(l.runes[i+1]):
		return i + 1
	case !isWordRune(r):
		return i
	}
	for i++; i < len(l.runes); i++ {
		r := l.runes[i]
		goesOn := isWordRune(r) && !text.Unspaced(r)
		if joins := strings.ContainsRune(".,'", r) && i+1 < len(l.runes); joins {
			before, after := l.runes[i-1], l.runes[i+1]
			goesOn = unicode.IsDigit(before) && unicode.IsDigit(after) ||
				r == '\'' && unicode.IsLetter(before) && unicode.IsLetter(after)
		}
		if !goesOn {
			break
		}
	}
	return i
}

// isWordRune reports whether r is part of a word or a number.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// isSign reports whether r is a sign with a meaning. Markdown syntax is not.
func isSign(r rune) bool {
	if r < utf8.RuneSelf {
		return strings.ContainsRune("$%&+<=>@/#\\", r)
	}
	return unicode.IsSymbol(r) || strings.ContainsRune("§‰†‡", r)
}
