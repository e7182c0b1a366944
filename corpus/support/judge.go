// Package support judges, without a model, whether sentences of passages support a claim. A claim is read into
// clauses (phrase.go), each is aligned with the sentences that share its words (align.go), and the differences that
// change a meaning are looked for: another number, name or measure, a negation, exchanged roles, words that no
// sentence has (differences.go). How often it is right is in docs/quality.md.
package support

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/text"
)

// Judge says whether passages support claims, as Backed explains, and finds the sentences to quote. It remembers the
// words and passages that it met: an answer cites few passages, each several times. It is not safe for concurrent
// use; make one for each answer.
type Judge struct {
	passages map[string]*judged
	words    map[[2]string][]claimed // of claims, by claim and language
	verdicts map[string]bool         // of Backed, by all it was asked
	phrases  map[[2]string]phrase    // claims as they were read, by text and language
}

// judged is a passage as a Judge remembers it.
type judged struct {
	n       int // of those that the Judge met
	lang    string
	ranges  [][2]int
	texts   []string  // of the sentences
	terms   []termSet // likewise
	phrases []phrase  // the sentences as claims are compared with them: long ones in pieces
	heads   []int     // by phrase: the first row of the table that it is a row of, or -1
	where   map[string][]int32
	masks   []uint64 // of nearPhrases, kept to be used again
}

// NewJudge returns a Judge that has met nothing yet.
func NewJudge() *Judge {
	return &Judge{
		passages: map[string]*judged{}, words: map[[2]string][]claimed{}, verdicts: map[string]bool{},
		phrases: map[[2]string]phrase{},
	}
}

// readClaim reads a claim in a language, once.
func (j *Judge) readClaim(s, lang string) phrase {
	key := [2]string{s, lang}
	p, ok := j.phrases[key]
	if !ok {
		p = readerOf(lang).readSentence(s)
		j.phrases[key] = p
	}
	return p
}

// readPassage reads a passage once: a Judge keeps what it has read, since an answer is compared with the same passages
// many times.
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

// hasAny reports whether the passage has any of some terms.
func (p *judged) hasAny(terms []string) bool {
	return slices.ContainsFunc(terms, func(t string) bool { return p.where[t] != nil })
}

// Supports reports whether a passage supports a claim, as Backed does.
func Supports(claim, passage string) bool { return NewJudge().Supports(claim, passage) }

// Supports is the function of that name, with a memory.
func (j *Judge) Supports(claim, passage string) bool { return j.Backed(claim, "", passage) }

// Backed reports whether passages state a claim. It compares words, and knows none of their meanings. Each part of a
// claim has to be an extract of a sentence, a shorter form of it, or one turned from active to passive (stated); where
// words can't decide, the claim counts as unsupported. Before that it has to resemble the passages, which goes by this:
//
//   - A claim is judged clause by clause. Each is aligned, word by word, with the sentence that holds most of it, with
//     two neighbours where two words or a name or number more are held by both, or with the row of a table and its
//     head. The claim's share of held words has to be enough; a word that stands elsewhere in the passages counts half.
//     All numbers have to stand in the passages, and half of the names.
//   - An answer that repeats a passage does so throughout: where one clause is held nearly whole and another not at
//     all, the other is added.
//   - Names, numbers, units and the words beside them have to be bound to one another as in the passage (misbound).
//   - The nearer a clause is to its sentence, the more the rest decides: a single word where the sentence has another
//     says something else (replaced), and so does a negation on one side only (turned). Both together cancel out: "is
//     not open", "is closed". Further away, such differences are those of a paraphrase.
//
// The words of about (titles of documents, headings) need not stand in the passages. A claim without content words is
// supported. Words can't be compared across languages: there numbers and names decide.
func (j *Judge) Backed(claim, about string, passages ...string) bool {
	return j.judgeClaim(claim, about, true, passages)
}

// Resembles reports whether passages hold so much of a claim that it may be another way to say what they say, and
// nothing shows that it is not. Words can't tell more of a paraphrase: what resembles a passage may still contradict
// it.
func (j *Judge) Resembles(claim, about string, passages ...string) bool {
	return j.judgeClaim(claim, about, false, passages)
}

// judgeClaim remembers each verdict: the same sentence is looked at for its footnote, its paragraph and its evaluation.
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

// HasOwnWords reports whether a claim has content words besides those of about, read in the language of a passage. A
// claim without them says nothing that the passage could support.
func (j *Judge) HasOwnWords(claim, about, passage string) bool {
	lang := j.readPassage(passage).lang
	known := readerOf(lang).knownTerms(about)
	return slices.ContainsFunc(
		j.readClaim(plainClaim(claim), lang).tokens, func(t token) bool { return !known.hasAny(t.terms) },
	)
}

// isBacked compares a claim with passages: word for word first, then by its parts. A claim without content words is
// backed by anything.
func (j *Judge) isBacked(claim, about string, strictly bool, has []*judged) bool {
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
	// Bigrams overlap, so their order says little: scripts without spaces are judged by resemblance.
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
	// Numbers and names have decided above; the words count only if they could have been the passages'. Slow, and
	// hardly ever needed.
	spoken := text.Detect(claim)
	return spoken != "" && spoken != lang
}

// From wholeShare on a clause is held nearly whole, below noShare not at all.
const (
	wholeShare, noShare = 0.85, 0.2
	minWhole            = 3 // words that have to be held nearly whole for others to count as added
)

// nearClaim is how much of a claim passages must hold for a single replaced word to decide.
//
// Two thirds: with less, a claim has more than one word of its own in three, and is a paraphrase.
const nearClaim = 0.66

// comparePassages returns how much of a claim passages hold, and whether they say what it says.
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

// addsSegment reports whether a segment of a claim is held nearly whole, and another not at all.
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

// finding is how a clause compares with what holds most of it.
type finding struct {
	weight           float64 // of the words that have to be held
	inWindow, share  float64 // of that: in the window, and with half of what stands elsewhere
	replaced, turned int
	misbound         bool
}

// place is where a window lies in a passage: one sentence, or two neighbours, or the head of a table and a row.
type place struct {
	p             *judged
	first, second int // the second one is -1 if there is none
	held          float64
}

// maxPlaces is how many windows that hold equally much are looked at. A passage repeats a sentence now and then; a
// table may have hundreds of rows alike.
const maxPlaces = 4

// aside is what two sentences must hold more than one, to be looked at together: a name, or two words. With one word,
// any two neighbours would do.
const aside = 1.5

// findClause compares a clause with what holds most of it in passages. Of several such windows one that says what the
// clause says is enough.
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
		w := window{headed: at.second >= 0 && at.p.heads[at.second] == at.first}
		w.appendSentence(&at.p.phrases[at.first])
		if at.second >= 0 {
			w.appendSentence(&at.p.phrases[at.second])
		}
		a := alignClause(c, &w)
		a.elsewhere = all
		f := finding{weight: total, inWindow: a.heldShare(), misbound: a.isMisbound()}
		f.share = around / max(total, 1)
		if a.isNear() {
			f.replaced, f.turned = a.countReplaced(), a.countTurned()
		}
		if n == 0 || f.countDifferences() < best.countDifferences() {
			best = f
		}
	}
	return best
}

// countDifferences counts what speaks against a finding. A replaced word and a negation cancel each other; words bound
// to others weigh more than either.
func (f finding) countDifferences() int {
	n := (f.replaced + f.turned) % 2
	if f.misbound {
		n += 2
	}
	return n
}

// bestPlaces returns the windows that hold most of a clause, and which of its tokens stand in the passages at all.
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
				// Half a word less than it holds: of a row alone and with its head, the row if it has all.
				if both := mask | masks[int32(head)]; both != mask {
					add(place{p, head, int(i), c.weighTokens(both) - 0.5})
				}
			}
			if before := masks[i-1]; before&^mask != 0 && mask&^before != 0 && p.heads[i] != int(i)-1 {
				add(place{p, int(i) - 1, int(i), c.weighTokens(mask|before) - aside})
			}
		}
	}
	return best, all
}

// weighTokens is what the tokens of a clause whose bits are set weigh together.
func (c clause) weighTokens(mask uint64) (w float64) {
	for ; mask != 0; mask &= mask - 1 {
		w += c.tokens[bits.TrailingZeros64(mask)].weight
	}
	return w
}
