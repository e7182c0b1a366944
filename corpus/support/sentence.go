package support

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// Weights of a claim's words. A wrong number is the worst error and the easiest to detect, a name the next: one of
// them is worth the two or three words that usually accompany it.
const (
	wordWeight   = 1.0
	nameWeight   = 2.0
	numberWeight = 3.0
)

// minSupport is the minimum share of a claim's weight that a passage must have to support it: a third, tuned on the
// open judged pairs. A paraphrase keeps names, numbers and a word or two.
const minSupport = 0.34

// claimed is a content word of a claim.
type claimed struct {
	terms  []string
	weight float64
}

// claimWords returns the content words of a claim, without its citation marks and Markdown.
func claimWords(claim, lang string) []claimed {
	plain := plainClaim(claim)
	names := namesOf(plain)
	langs := []string{"en"}
	if lang != "" && lang != "en" {
		langs = []string{lang, "en"}
	}
	var out []claimed
	stop := text.Stops(langs...)
	for _, w := range text.QueryWords(plain, langs) {
		if !w.Gram && stop(w.Text) {
			continue // only stop words are left
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
	marks = lazy.Regexp(`\[\^?(?:Source )?\d+\]|[*` + "`" + `]{1,3}\B|\B[*` + "`" +
		`]{1,3}|\b_{1,3}|_{1,3}\b`)
	listNumber = lazy.Regexp(`^(?:\d{1,2}[.)]|[-*•#]+)\s+`)
)

// plainClaim returns a claim without citation marks, Markdown, formulas and list number. Formulas can't be
// compared: the same one has many notations.
func plainClaim(claim string) string {
	plain := strings.TrimSpace(withoutMarks(text.WithoutFormulas(claim)))
	if first, _ := utf8.DecodeRuneInString(plain); !unicode.IsLetter(first) { // the regular expression is slow
		plain = listNumber().ReplaceAllString(plain, "")
	}
	return plain
}

// withoutMarks returns a claim without its citation marks and Markdown.
func withoutMarks(claim string) string {
	if !strings.ContainsAny(claim, "[*`_") {
		return claim // the regular expression is slow
	}
	return marks().ReplaceAllString(claim, " ")
}

// numerals are English number words, up to those of one word. Number words of other languages are ordinary words: a
// claim in figures is then unsupported by a passage in words, never the reverse.
var numerals = map[string]string{
	"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
	"nine": "9", "ten": "10",
	"eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16",
	"seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30", "forty": "40",
	"fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90", "hundred": "100",
}

// namesOf returns the capitalised words inside sentences.
func namesOf(s string) []string {
	var out []string
	first := true
	for field := range strings.FieldsSeq(s) {
		word := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		if r, size := utf8.DecodeRuneInString(word); unicode.IsUpper(r) &&
			(!first || strings.ContainsFunc(word[size:], unicode.IsUpper)) {
			out = append(out, word)
		}
		first = strings.ContainsAny(field[len(field)-1:], ".!?:")
	}
	return out
}

// judging is the pool of analysers of all judges.
var judging text.Analysers

// termSet is the set of a sentence's terms, analysed both in its language and without stemming.
type termSet map[string]struct{}

// hasAny reports whether any of the terms is in the set.
func (s termSet) hasAny(terms []string) bool {
	for _, t := range terms {
		if _, ok := s[t]; ok {
			return true
		}
	}
	return false
}

// wordsOf is claimWords with a cache.
func (j *Judge) wordsOf(claim, lang string) []claimed {
	key := [2]string{claim, lang}
	words, ok := j.words[key]
	if !ok {
		words = claimWords(claim, lang)
		j.words[key] = words
	}
	return words
}

// BestSentence returns the sentence, table row or list item of a passage that supports a claim best, as rune
// offsets in the passage, and the share of the claim's weight that it has, 0–1. If none matches, it returns the
// first sentence with score 0; a blank passage returns 0, 0, 0.
func BestSentence(passage, claim string) (start, end int, score float64) {
	return NewJudge().BestSentence(passage, claim)
}

// BestSentence is the function BestSentence with a cache.
func (j *Judge) BestSentence(passage, claim string) (start, end int, score float64) {
	p := j.readPassage(passage)
	if len(p.ranges) == 0 {
		return 0, 0, 0
	}
	best, score := p.bestSentence(j.wordsOf(claim, p.lang), nil)
	return p.ranges[best][0], p.ranges[best][1], score
}

// headingShare is the minimum share of a claim in a heading for the heading to be quoted: then the heading is the
// claim.
const headingShare = 0.8

// Quote is BestSentence without lines that state nothing: headings, unless one is all that the claim states, and
// questions and lines of a table of contents, unless the claim's words occur only there.
func (j *Judge) Quote(passage, claim string) (start, end int, score float64) {
	p := j.readPassage(passage)
	if len(p.ranges) == 0 {
		return 0, 0, 0
	}
	words := j.wordsOf(claim, p.lang)
	best, score := p.bestSentence(words, nil)
	// A verbatim copy wins over any score, unless it is a single word, which many sentences have.
	if copied := p.copiedSentence(claim); copied >= 0 && len(words) > 1 {
		return p.ranges[copied][0], p.ranges[copied][1], 1
	}
	names := headingsIn(passage, p.ranges)
	heading := names[best] && !asksOrLists(p.texts[best])
	for i, s := range p.texts {
		names[i] = names[i] || asksOrLists(s)
	}
	if !names[best] || heading && score >= headingShare || !slices.Contains(names, false) {
		return p.ranges[best][0], p.ranges[best][1], score
	}
	stating, held := p.bestSentence(words, names)
	if heading || held > 0 {
		best, score = stating, held
	}
	return p.ranges[best][0], p.ranges[best][1], score
}

// copiedSentence returns the shortest stating sentence that contains a claim verbatim, ignoring white space and
// final punctuation; -1 if there is none.
func (p *judged) copiedSentence(claim string) int {
	plain := func(s string) string { return strings.TrimRight(strings.Join(strings.Fields(s), " "), ".!?。！？ ") }
	claim = plain(claim)
	best, length := -1, 0
	for i, s := range p.texts {
		if asksOrLists(s) || len(s) < len(claim) || best >= 0 && len(s) >= length || claim == "" {
			continue
		}
		if strings.Contains(plain(s), claim) {
			best, length = i, len(s)
		}
	}
	return best
}

// asksOrLists reports whether a sentence is a question or a line of a table of contents. Neither states anything.
func asksOrLists(s string) bool {
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || text.Leader(s)
}

// headingsIn reports which sentences of a passage are headings: short lines between blank lines, with text below
// and without final punctuation, or with a question mark.
func headingsIn(passage string, ranges [][2]int) []bool {
	runes := []rune(passage)
	out := make([]bool, len(ranges))
	for i, r := range ranges {
		above := r[0] == 0 || r[0] >= 2 && runes[r[0]-1] == '\n' && runes[r[0]-2] == '\n'
		below := r[1]+1 < len(runes) && runes[r[1]] == '\n' && runes[r[1]+1] == '\n'
		line := string(runes[r[0]:r[1]])
		out[i] = above && below && r[1]-r[0] <= 100 && !strings.ContainsAny(line, "\n\t|") &&
			!strings.ContainsRune(".!:;,…。！：；", runes[r[1]-1]) &&
			!strings.ContainsRune("-*•–", runes[r[0]])
	}
	return out
}

// bestSentence returns the index of the sentence with most of the words, and the share of their weight. Rare words
// count more. It returns the first with 0 if none matches, and leaves out those in skip.
func (p *judged) bestSentence(words []claimed, skip []bool) (best int, score float64) {
	found := make([]int, len(words)) // number of sentences with the word
	for i := range p.terms {
		for k, w := range words {
			if p.terms[i].hasAny(w.terms) {
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
			if p.terms[i].hasAny(w.terms) {
				held += w.weight
				// a word in every sentence is not distinctive
				rank += w.weight * math.Log(1+float64(len(p.ranges))/float64(found[k]))
			}
		}
		rank -= 1e-5 * float64(r[1]-r[0]) // prefer the shorter of two equals; the penalty is below the weight of a word
		if held > 0 && rank > bestRank {
			best, bestRank, score = i, rank, held/total
		}
	}
	return best, score
}
