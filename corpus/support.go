package corpus

import (
	"math"
	"regexp"
	"slices"
	"strconv"
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
	plain := strings.TrimSpace(unmarked(claim))
	if first, _ := utf8.DecodeRuneInString(plain); !unicode.IsLetter(first) { // the expression is slow
		plain = listNumber.ReplaceAllString(plain, "")
	}
	names := namesOf(plain)
	langs := []string{"en"}
	if lang != "" && lang != "en" {
		langs = []string{lang, "en"}
	}
	var out []claimed
	stop := text.Stops(langs...)
	for _, w := range text.QueryWords(plain, langs) {
		if !w.Gram && stop(w.Text) {
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
	marks      = regexp.MustCompile(`\[\^?(?:Source )?\d+\]|[*` + "`" + `]{1,3}\B|\B[*` + "`" + `]{1,3}|\b_{1,3}|_{1,3}\b`)
	listNumber = regexp.MustCompile(`^(?:\d{1,2}[.)]|[-*•#]+)\s+`)
)

// unmarked is a claim without its citation marks and Markdown.
func unmarked(claim string) string {
	if !strings.ContainsAny(claim, "[*`_") {
		return claim // the expression is slow
	}
	return marks.ReplaceAllString(claim, " ")
}

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
	passages map[string]*judged
	words    map[[2]string][]claimed // of claims, by claim and language
	verdicts map[string]bool         // of Backed, by all it was asked
}

// judged is a passage as a Judge remembers it.
type judged struct {
	n         int // of those that the Judge met
	lang      string
	ranges    [][2]int
	texts     []string // of the sentences
	sentences []termSet
	negated   []bool      // which sentences have a negation, once somebody asked
	measures  [][]measure // of the sentences, likewise
	sided     [][]string  // which of their words have opposites, likewise
}

// NewJudge returns a Judge that has met nothing yet.
func NewJudge() *Judge {
	return &Judge{passages: map[string]*judged{}, words: map[[2]string][]claimed{}, verdicts: map[string]bool{}}
}

// wordsOf is claimWords with a memory.
func (j *Judge) wordsOf(claim, lang string) []claimed {
	key := [2]string{claim, lang}
	words, ok := j.words[key]
	if !ok {
		words = claimWords(claim, lang)
		j.words[key] = words
	}
	return words
}

func (j *Judge) passage(s string) *judged {
	if known, ok := j.passages[s]; ok {
		return known
	}
	p := &judged{n: len(j.passages), lang: text.Detect(s), ranges: text.Sentences(s)}
	runes := []rune(s)
	for _, r := range p.ranges {
		p.texts = append(p.texts, string(runes[r[0]:r[1]]))
		p.sentences = append(p.sentences, termsOf(p.texts[len(p.texts)-1], p.lang))
	}
	j.passages[s] = p
	return p
}

func (p *judged) has(c claimed) bool {
	return slices.ContainsFunc(p.sentences, func(s termSet) bool { return s.has(c) })
}

// judging are the analysers of all judges.
var judging analysers

func termsOf(s, lang string) termSet {
	set := make(termSet)
	for i, l := range []string{lang, "en", ""} {
		if i == 1 && lang == "en" {
			continue
		}
		a := judging.get(l)
		for _, t := range a.Terms(s) {
			set[t] = struct{}{}
			if n, ok := numerals[t]; ok {
				set[n] = struct{}{}
			}
		}
		judging.put(l, a)
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

// held is how many of the words a set holds.
func (s termSet) held(words []claimed) int {
	n := 0
	for _, w := range words {
		if s.has(w) {
			n++
		}
	}
	return n
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
	if len(p.ranges) == 0 {
		return 0, 0, 0
	}
	best, score := p.best(j.wordsOf(claim, p.lang), nil)
	return p.ranges[best][0], p.ranges[best][1], score
}

// headingShare is how much of a claim a heading must hold to be quoted for it: it is the heading that is claimed then.
const headingShare = 0.8

// Quote is BestSentence without the lines that state nothing themselves: headings, unless one of them is all that a claim says, and the
// lines of a table of contents, unless the claim's words stand only there.
func (j *Judge) Quote(passage, claim string) (start, end int, score float64) {
	p := j.passage(passage)
	if len(p.ranges) == 0 {
		return 0, 0, 0
	}
	words := j.wordsOf(claim, p.lang)
	best, score := p.best(words, nil)
	names := headingsIn(passage, p.ranges)
	heading := names[best] && !text.Leader(p.texts[best])
	for i, s := range p.texts {
		names[i] = names[i] || text.Leader(s)
	}
	if !names[best] || heading && score >= headingShare || !slices.Contains(names, false) {
		return p.ranges[best][0], p.ranges[best][1], score
	}
	stating, held := p.best(words, names)
	if heading || held > 0 && (held >= minSupport || score < headingShare) {
		best, score = stating, held
	}
	return p.ranges[best][0], p.ranges[best][1], score
}

// headingsIn says which of a passage's sentences are headings: short lines that stand alone and end without a stop or with a question mark,
// with something below.
func headingsIn(passage string, ranges [][2]int) []bool {
	runes := []rune(passage)
	out := make([]bool, len(ranges))
	for i, r := range ranges {
		above := r[0] == 0 || r[0] >= 2 && runes[r[0]-1] == '\n' && runes[r[0]-2] == '\n'
		below := r[1]+1 < len(runes) && runes[r[1]] == '\n' && runes[r[1]+1] == '\n'
		line := string(runes[r[0]:r[1]])
		out[i] = above && below && r[1]-r[0] <= 100 && !strings.ContainsAny(line, "\n\t|") && !strings.ContainsRune(".!:;,…。！：；", runes[r[1]-1]) &&
			!strings.ContainsRune("-*•–", runes[r[0]])
	}
	return out
}

// best returns which sentence holds most of the words, and the share of their weight that it holds. Words that stand in few sentences count
// more. Where none holds any it is the first, with 0; those in skip are left out.
func (p *judged) best(words []claimed, skip []bool) (best int, score float64) {
	found := make([]int, len(words)) // how many sentences hold a word
	for i := range p.sentences {
		for k, w := range words {
			if p.sentences[i].has(w) {
				found[k]++
			}
		}
	}
	total := 0.0
	for _, w := range words {
		total += w.weight
	}
	bestRank := 0.0
	best = max(0, slices.Index(skip, false))
	for i, r := range p.ranges {
		if skip != nil && skip[i] {
			continue
		}
		held, rank := 0.0, 0.0
		for k, w := range words {
			if p.sentences[i].has(w) {
				held += w.weight
				rank += w.weight * math.Log(1+float64(len(p.ranges))/float64(found[k])) // a word of every sentence tells little
			}
		}
		rank -= 1e-5 * float64(r[1]-r[0]) // of two alike the shorter
		if held > 0 && rank > bestRank {
			best, bestRank, score = i, rank, held/total
		}
	}
	return best, score
}

// Supports reports whether a passage holds a claim's words to a sufficient degree: all its numbers, half of its names, a third of
// the whole, and does not plainly say something else. A claim without content words is supported. Words can't be compared across
// languages: then numbers and names decide.
func Supports(claim, passage string) bool { return NewJudge().Supports(claim, passage) }

// Supports is the function of that name, with a memory.
func (j *Judge) Supports(claim, passage string) bool { return j.Backed(claim, "", passage) }

// Backed is Supports for a claim that rests on several passages together. What no passage holds does not count if about does: the titles
// of their documents, the headings above them.
func (j *Judge) Backed(claim, about string, passages ...string) bool {
	key := claim + "\x00" + about
	has := make([]*judged, len(passages))
	for i, p := range passages {
		has[i] = j.passage(p)
		key += "\x00" + strconv.Itoa(has[i].n)
	}
	verdict, ok := j.verdicts[key]
	if !ok {
		verdict = j.backed(claim, about, has)
		j.verdicts[key] = verdict
	}
	return verdict
}

func (j *Judge) backed(claim, about string, has []*judged) bool {
	if len(has) == 0 {
		return false
	}
	said := strings.TrimRight(claim, ".!? ")
	for _, p := range has {
		if slices.ContainsFunc(p.texts, func(s string) bool { return strings.TrimRight(s, ".!? ") == said }) {
			return true // word for word
		}
	}
	lang := has[0].lang
	words := j.wordsOf(claim, lang)
	if len(words) == 0 {
		return true
	}
	var known termSet
	var total, held, names, namesHeld float64
	for _, w := range words {
		ok := slices.ContainsFunc(has, func(p *judged) bool { return p.has(w) })
		if !ok && about != "" {
			if known == nil {
				known = termsOf(about, lang)
			}
			if known.has(w) {
				continue
			}
		}
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
		return !j.contradicts(claim, words, has)
	}
	if lang == "" || held == 0 && names > 0 {
		return false
	}
	spoken := text.Detect(claim) // slow, and hardly ever needed
	return spoken != "" && spoken != lang
}
