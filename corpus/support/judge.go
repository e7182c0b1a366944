// Package support decides, without a model, whether sentences of passages support a claim. It parses a claim into
// clauses (phrase.go), aligns each with the sentences that share its words (align.go) and looks for differences
// that change the meaning (differences.go): another number, name or unit, a negation, swapped roles, added words.
// Its accuracy is in docs/quality.md.
package support

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/text"
)

// Judge decides whether passages support claims, see Backed, and finds the sentences to quote. It caches parsed
// claims and passages, since an answer cites few passages, each several times. It is not safe for concurrent use;
// create one for each answer.
type Judge struct {
	passages map[string]*judged
	words    map[[2]string][]claimed // of claims, by claim and language
	verdicts map[string]bool         // results of Backed, by its arguments
	phrases  map[[2]string]phrase    // parsed claims, by text and language
}

// judged is a parsed passage in a Judge's cache.
type judged struct {
	n       int // sequence number in the Judge
	lang    string
	ranges  [][2]int
	texts   []string  // of the sentences
	terms   []termSet // likewise
	phrases []phrase  // the parsed sentences for comparison with claims; long ones are split
	heads   []int     // by phrase: first row of its table, or -1
	where   map[string][]int32
	masks   []uint64 // scratch space of nearPhrases
}

// NewJudge returns a Judge with empty caches.
func NewJudge() *Judge {
	return &Judge{
		passages: map[string]*judged{}, words: map[[2]string][]claimed{}, verdicts: map[string]bool{},
		phrases: map[[2]string]phrase{},
	}
}

// readClaim parses a claim in a language, with a cache.
func (j *Judge) readClaim(s, lang string) phrase {
	key := [2]string{s, lang}
	p, ok := j.phrases[key]
	if !ok {
		p = readerOf(lang).readSentence(s)
		j.phrases[key] = p
	}
	return p
}

// readPassage parses a passage, with a cache: an answer is compared with the same passages many times.
func (j *Judge) readPassage(s string) *judged {
	if known, ok := j.passages[s]; ok {
		return known
	}
	p := &judged{n: len(j.passages), lang: text.Detect(s), ranges: text.Sentences(s), where: map[string][]int32{}}
	runes, r := []rune(s), readerOf(p.lang)
	head := -1
	for _, at := range p.ranges {
		sentence := string(runes[at[0]:at[1]])
		read := r.readSentence(sentence)
		p.texts, p.terms = append(p.texts, sentence), append(p.terms, read.terms)
		switch isRow := strings.ContainsAny(sentence, "\t|"); {
		case !isRow:
			head = -1
		case head < 0:
			head = len(p.phrases)
		}
		for _, piece := range read.cutPieces() {
			for t := range piece.terms {
				p.where[t] = append(p.where[t], int32(len(p.phrases)))
			}
			p.phrases, p.heads = append(p.phrases, piece), append(p.heads, head)
		}
	}
	j.passages[s] = p
	return p
}

// hasClaimed reports whether the passage has a word of a claim, in any of its forms.
func (p *judged) hasClaimed(c claimed) bool { return p.hasAny(c.terms) }

// hasAny reports whether the passage has any of the terms.
func (p *judged) hasAny(terms []string) bool {
	return slices.ContainsFunc(terms, func(t string) bool { return p.where[t] != nil })
}

// Supports reports whether a passage supports a claim, see Backed.
func Supports(claim, passage string) bool { return NewJudge().Supports(claim, passage) }

// Supports is the function Supports with a cache.
func (j *Judge) Supports(claim, passage string) bool { return j.Backed(claim, "", passage) }

// Backed reports whether passages state a claim. It compares words, not meanings. Each part of a claim must be an
// extract of a sentence, a shortened form of it, or its conversion from active to passive (stated). If the words
// can't decide, the claim counts as unsupported. The claim must also resemble the passages by these rules:
//
//   - A claim is compared clause by clause. Each clause is aligned, word by word, with the window that has most of
//     its words: a sentence, or a table row with its header. The share of words that occur anywhere in the passages
//     must reach a threshold. All numbers and half of the names must occur in the passages.
//   - An answer that repeats a passage must do so throughout: if one clause matches almost fully and another not at
//     all, the other is an addition.
//   - Names, numbers, units and the words next to them must be connected as in the passage (misbound).
//   - A negation on one side only changes the meaning (turned). In a claim that is mostly in the passages, so does a
//     single different word (replaced). Both together cancel out: "is not open", "is closed".
//
// The words of about (titles of documents, headings) need not occur in the passages. A claim without content words
// is supported. Words can't be compared across languages: there numbers and names decide.
func (j *Judge) Backed(claim, about string, passages ...string) bool {
	return j.judgeClaim(claim, about, true, passages)
}

// Resembles reports whether passages contain enough of a claim for it to be a paraphrase and show no contradiction.
// Words can't prove more about a paraphrase: a claim that resembles a passage may still contradict it.
func (j *Judge) Resembles(claim, about string, passages ...string) bool {
	return j.judgeClaim(claim, about, false, passages)
}

// judgeClaim caches each verdict: the same sentence is checked for its footnote, its paragraph and its evaluation.
func (j *Judge) judgeClaim(claim, about string, strictly bool, passages []string) bool {
	key := claim + "\x00" + about + "\x00" + strconv.FormatBool(strictly)
	has := make([]*judged, len(passages))
	for i, p := range passages {
		has[i] = j.readPassage(p)
		key += "\x00" + strconv.Itoa(has[i].n)
	}
	verdict, ok := j.verdicts[key]
	if !ok {
		verdict = j.isBacked(claim, about, strictly, has)
		j.verdicts[key] = verdict
	}
	return verdict
}

// HasOwnWords reports whether a claim has content words besides those of about, in the language of a passage. A
// claim without them states nothing that the passage could support.
func (j *Judge) HasOwnWords(claim, about, passage string) bool {
	lang := j.readPassage(passage).lang
	known := readerOf(lang).knownTerms(about)
	return slices.ContainsFunc(
		j.readClaim(plainClaim(claim), lang).tokens, func(t token) bool { return !known.hasAny(t.terms) },
	)
}

// isBacked compares a claim with passages: first verbatim, then by its parts. A claim without content words is
// always backed.
func (j *Judge) isBacked(claim, about string, strictly bool, has []*judged) bool {
	if len(has) == 0 {
		return false
	}
	said := strings.TrimRight(claim, ".!? ")
	for _, p := range has {
		if slices.ContainsFunc(p.texts, func(s string) bool { return strings.TrimRight(s, ".!? ") == said }) {
			return true // verbatim
		}
	}
	lang := has[0].lang
	read := j.readClaim(plainClaim(claim), lang)
	if len(read.tokens) == 0 {
		return true
	}
	known := readerOf(lang).knownTerms(about)
	names, held, common := 0, 0, 0
	for _, t := range read.tokens {
		ok := slices.ContainsFunc(has, func(p *judged) bool { return p.hasAny(t.terms) })
		if ok {
			common++
		}
		switch {
		case !ok && known.hasAny(t.terms):
		case !ok && t.isNumber():
			return false
		case t.weight == nameWeight:
			if names++; ok {
				held++
			}
		}
	}
	// Bigrams overlap, so their order means little: scripts without spaces are compared by resemblance.
	strictly = strictly && !read.tokens[0].gram
	stated, byRow := false, false
	if strictly {
		stated, byRow = read.isStated(known, readerOf(lang).knownTerms(MetaWords), has)
	}
	switch {
	case 2*held < names:
	case strictly && stated && !byRow:
		return true
	case strictly && !stated && 2*common >= len(read.tokens):
		return false // it is in the passages' language
	case !strictly || byRow:
		if share, ok := read.comparePassages(known, has); share >= minSupport {
			return ok
		}
	}
	if lang == "" || common == 0 && names > 0 {
		return false
	}
	// Numbers and names have decided above; words count only if claim and passages have the same language.
	// Detection is slow and rarely needed.
	spoken := text.Detect(claim)
	return spoken != "" && spoken != lang
}

// From wholeShare on a clause matches almost fully, below noShare not at all.
const (
	wholeShare, noShare = 0.85, 0.2
	minWhole            = 3 // words that must match almost fully for others to count as an addition
)

// nearClaim is the minimum share of a claim in the passages for a single replaced word to decide. With less than
// two thirds, more than one word in three is the claim's own, and the claim is a paraphrase.
const nearClaim = 0.66

// comparePassages returns the share of a claim's words in the passages, and whether there are no contradictions.
func (p *phrase) comparePassages(known termSet, has []*judged) (share float64, ok bool) {
	held, total, replaced, odd := 0.0, 0.0, 0, false
	ok = true
	for _, c := range p.cutClauses(func(t token) int { return t.group }, known) {
		f := c.findClause(has)
		held, total = held+f.share*f.weight, total+f.weight
		replaced += f.replaced
		odd = odd != (f.replaced+f.turned == 1)
		ok = ok && !f.misbound
		if f.turned%2 == 1 && f.replaced == 0 {
			ok = false
		}
	}
	if total == 0 {
		return 1, ok
	}
	share = held / total
	if replaced == 1 && share >= nearClaim && odd {
		ok = false
	}
	return share, ok && !p.addsSegment(known, has)
}

// addsSegment reports whether one segment of a claim matches almost fully, and another not at all.
func (p *phrase) addsSegment(known termSet, has []*judged) bool {
	whole, added := 0, false
	for _, c := range p.cutClauses(func(t token) int { return t.segment }, known) {
		f := c.findClause(has)
		switch {
		case f.weight == 0:
		case f.inWindow >= wholeShare:
			whole += len(c.tokens)
		case f.inWindow < noShare && len(c.tokens) >= minClause:
			added = true
		}
	}
	return added && whole >= minWhole
}

// finding is the comparison of a clause with its best window.
type finding struct {
	weight           float64 // of the words that must match
	inWindow, share  float64 // matched fractions: in the window, and anywhere in the passages
	replaced, turned int
	misbound         bool
}

// place is the position of a window in a passage: a sentence, or a table header and a row.
type place struct {
	p             *judged
	first, second int // the second one is -1 if there is none
	held          float64
}

// maxPlaces limits the windows with an equal score that are compared. A passage repeats few sentences, but a table
// may have hundreds of similar rows.
const maxPlaces = 4

// findClause compares a clause with its best windows in passages. Among several windows with the same score, one
// that states the clause is enough.
func (c clause) findClause(has []*judged) finding {
	places, all := c.bestPlaces(has)
	total, around := 0.0, 0.0
	for i, t := range c.tokens {
		switch {
		case all&(1<<i) != 0:
			total, around = total+t.weight, around+t.weight
		case !c.neutral[i]:
			total += t.weight
		}
	}
	best := finding{weight: total}
	for n, at := range places {
		w := window{headed: at.second >= 0}
		w.appendSentence(&at.p.phrases[at.first])
		if at.second >= 0 {
			w.appendSentence(&at.p.phrases[at.second])
		}
		a := alignClause(c, &w)
		f := finding{
			weight: total, inWindow: a.heldShare(), share: around / max(total, 1),
			replaced: a.countReplaced(), turned: a.countTurned(), misbound: a.isMisbound(),
		}
		if n == 0 || f.countDifferences() < best.countDifferences() {
			best = f
		}
	}
	return best
}

// countDifferences returns the penalty of a finding. A replaced word and a negation cancel each other; wrongly
// connected words weigh more than either.
func (f finding) countDifferences() int {
	n := (f.replaced + f.turned) % 2
	if f.misbound {
		n += 2
	}
	return n
}

// bestPlaces returns the windows with the most words of a clause, and a bit mask of its tokens that occur in any
// passage.
func (c clause) bestPlaces(has []*judged) (best []place, all uint64) {
	add := func(at place) {
		switch {
		case len(best) == 0 || at.held > best[0].held:
			best = append(best[:0], at)
		case at.held == best[0].held && len(best) < maxPlaces:
			best = append(best, at)
		}
	}
	for _, p := range has {
		masks := map[int32]uint64{}
		for k, t := range c.tokens {
			for _, term := range t.terms {
				for _, i := range p.where[term] {
					masks[i] |= 1 << k
				}
			}
		}
		order := make([]int32, 0, len(masks))
		for i := range masks {
			order = append(order, i)
		}
		slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(a, b) })
		for _, i := range order {
			mask := masks[i]
			all |= mask
			add(place{p, int(i), -1, c.weighTokens(mask)})
			if head := p.heads[i]; head >= 0 && head < int(i) {
				// Subtract half a word: between a row alone and with its header, prefer the row if it has all
				// words.
				if both := mask | masks[int32(head)]; both != mask {
					add(place{p, head, int(i), c.weighTokens(both) - 0.5})
				}
			}
		}
	}
	return best, all
}

// weighTokens returns the total weight of a clause's tokens in mask.
func (c clause) weighTokens(mask uint64) (w float64) {
	for ; mask != 0; mask &= mask - 1 {
		w += c.tokens[bits.TrailingZeros64(mask)].weight
	}
	return w
}
