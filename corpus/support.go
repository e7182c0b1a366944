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

// Judge compares claims with passages as BestSentence and Supports do, and remembers the words and passages it met: an answer
// cites few passages, each several times. It is not safe for concurrent use; make one for each answer.
type Judge struct {
	analysers map[string]*text.Analyser
	passages  map[string]*judged
}

// judged is a passage as a Judge remembers it.
type judged struct {
	lang      string
	ranges    [][2]int
	sentences []termSet
}

// NewJudge returns a Judge that has met nothing yet.
func NewJudge() *Judge {
	return &Judge{analysers: map[string]*text.Analyser{}, passages: map[string]*judged{}}
}

func (j *Judge) passage(s string) *judged {
	if known, ok := j.passages[s]; ok {
		return known
	}
	p := &judged{lang: text.Detect(s), ranges: text.Sentences(s)}
	runes := []rune(s)
	for _, r := range p.ranges {
		p.sentences = append(p.sentences, j.termsOf(string(runes[r[0]:r[1]]), p.lang))
	}
	j.passages[s] = p
	return p
}

func (p *judged) has(c claimed) bool {
	return slices.ContainsFunc(p.sentences, func(s termSet) bool { return s.has(c) })
}

func (j *Judge) termsOf(s, lang string) termSet {
	set := make(termSet)
	for i, l := range []string{lang, "en", ""} {
		if i == 1 && lang == "en" {
			continue
		}
		a, ok := j.analysers[l]
		if !ok {
			a = text.NewAnalyser(l)
			j.analysers[l] = a
		}
		for _, t := range a.Terms(s) {
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
	return NewJudge().BestSentence(passage, claim)
}

// BestSentence is the function of that name, with a memory.
func (j *Judge) BestSentence(passage, claim string) (start, end int, score float64) {
	p := j.passage(passage)
	ranges := p.ranges
	if len(ranges) == 0 {
		return 0, 0, 0
	}
	words := claimWords(claim, p.lang)
	sentences := p.sentences
	found := make([]int, len(words)) // how many sentences hold a word
	for i := range ranges {
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
func Supports(claim, passage string) bool { return NewJudge().Supports(claim, passage) }

// Supports is the function of that name, with a memory.
func (j *Judge) Supports(claim, passage string) bool {
	has := j.passage(passage)
	lang := has.lang
	words := claimWords(claim, lang)
	if len(words) == 0 {
		return true
	}
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
	if namesHeld*2 >= names && held >= minSupport*total {
		return true
	}
	if lang == "" || held == 0 && names > 0 {
		return false
	}
	spoken := text.Detect(claim) // slow, and hardly ever needed
	return spoken != "" && spoken != lang
}
