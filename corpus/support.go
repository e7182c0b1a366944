package corpus

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"footnote/corpus/text"
)

// What a word of a claim weighs.
const (
	wordWeight   = 1.0
	nameWeight   = 2.0
	numberWeight = 3.0
)

// minSupport is the share of a claim's weight that a passage must hold to support it.
const minSupport = 0.34

// claimed is a content word of a claim.
type claimed struct {
	terms  []string
	weight float64
}

// claimWords returns the content words of a claim, without its citation marks and Markdown.
func claimWords(claim, lang string) []claimed {
	plain := strings.TrimSpace(marks.ReplaceAllString(claim, " "))
	plain = listNumber.ReplaceAllString(plain, "")
	names := namesOf(plain)
	langs := []string{"en"}
	if lang != "" && lang != "en" {
		langs = []string{lang, "en"}
	}
	var out []claimed
	for _, w := range text.QueryWords(plain, langs) {
		if !w.Gram && (text.IsStop(w.Text, lang) || text.IsStop(w.Text, "en")) {
			continue // nothing but stop words was left
		}
		c := claimed{terms: w.Terms, weight: wordWeight}
		switch {
		case w.Gram:
		case strings.ContainsFunc(w.Text, unicode.IsNumber):
			c.weight = numberWeight
		case slices.Contains(names, w.Text):
			c.weight = nameWeight
		default:
			if n, ok := numerals[strings.ToLower(w.Text)]; ok {
				c.terms = append(slices.Clone(c.terms), n)
			}
		}
		out = append(out, c)
	}
	return out
}

var (
	marks      = regexp.MustCompile(`\[\^?(?:Source )?\d+\]|[*_` + "`" + `]{1,3}\B|\B[*_` + "`" + `]{1,3}`)
	listNumber = regexp.MustCompile(`^(?:\d{1,2}[.)]|[-*•#]+)\s+`)
)

var numerals = map[string]string{
	"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
	"eleven": "11", "twelve": "12",
}

// namesOf returns the words written with a capital inside a sentence.
func namesOf(s string) []string {
	var out []string
	first := true
	for field := range strings.FieldsSeq(s) {
		word := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		if r, size := utf8.DecodeRuneInString(word); unicode.IsUpper(r) && (!first || strings.ContainsFunc(word[size:], unicode.IsUpper)) {
			out = append(out, word)
		}
		first = strings.ContainsAny(field[len(field)-1:], ".!?:")
	}
	return out
}

// termSet holds the terms of a passage, analysed in its language and plainly.
type termSet map[string]struct{}

func termsOf(s, lang string) termSet {
	set := make(termSet)
	for _, l := range []string{lang, "en", ""} {
		for _, t := range text.Terms(s, l) {
			set[t] = struct{}{}
			if n, ok := numerals[t]; ok {
				set[n] = struct{}{}
			}
		}
		if l == "" {
			break
		}
	}
	return set
}

func (s termSet) has(c claimed) bool {
	for _, t := range c.terms {
		if _, ok := s[t]; ok {
			return true
		}
	}
	return false
}

// BestSentence returns the sentence, table row or list item of a passage that supports a claim best, as rune offsets in the
// passage, and the share of the claim's weight that it holds, 0–1. A passage with none that does yields its first sentence with
// score 0; a blank one yields 0, 0, 0.
func BestSentence(passage, claim string) (start, end int, score float64) {
	ranges := text.Sentences(passage)
	if len(ranges) == 0 {
		return 0, 0, 0
	}
	lang := text.Detect(passage)
	words := claimWords(claim, lang)
	sentences := make([]termSet, len(ranges))
	runes := []rune(passage)
	found := make([]int, len(words)) // how many sentences hold a word
	for i, r := range ranges {
		sentences[i] = termsOf(string(runes[r[0]:r[1]]), lang)
		for j, w := range words {
			if sentences[i].has(w) {
				found[j]++
			}
		}
	}
	total := 0.0
	for _, w := range words {
		total += w.weight
	}
	best, bestRank := 0, 0.0
	for i, r := range ranges {
		held, rank := 0.0, 0.0
		for j, w := range words {
			if sentences[i].has(w) {
				held += w.weight
				rank += w.weight * math.Log(1+float64(len(ranges))/float64(found[j])) // a word of every sentence tells little
			}
		}
		rank -= 1e-5 * float64(r[1]-r[0]) // of two alike the shorter
		if held > 0 && rank > bestRank {
			best, bestRank, score = i, rank, held/total
		}
	}
	return ranges[best][0], ranges[best][1], score
}

// Supports reports whether a passage holds a claim's words to a sufficient degree: all its numbers, half of its names, a third of
// the whole. A claim without content words is supported. Words can't be compared across languages: then numbers and names decide.
func Supports(claim, passage string) bool {
	lang := text.Detect(passage)
	words := claimWords(claim, lang)
	if len(words) == 0 {
		return true
	}
	has := termsOf(passage, lang)
	var total, held, names, namesHeld float64
	for _, w := range words {
		ok := has.has(w)
		if w.weight == numberWeight && !ok {
			return false
		}
		total += w.weight
		if w.weight == nameWeight {
			names++
		}
		if ok {
			held += w.weight
			if w.weight == nameWeight {
				namesHeld++
			}
		}
	}
	spoken := text.Detect(claim)
	if spoken != "" && lang != "" && spoken != lang {
		return held > 0 || names == 0
	}
	if namesHeld*2 < names {
		return false
	}
	return held >= minSupport*total
}
