package corpus

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nearShare is how much of a claim's weight a sentence must hold for its rates to be about the same.
const nearShare = 0.5

// contradicts reports whether passages that hold a claim's words say something else: the opposite, in a word or by a negation, a number in another unit, a number of
// something else. It says so only where no reading of them bears the claim out.
func (j *Judge) contradicts(claim string, words []claimed, passages []*judged) bool {
	return mismeasured(claim, words, passages) || misnumbered(words, passages) || j.denied(claim, words, passages) || j.reversed(claim, passages)
}

// share is how much of the words' weight a sentence holds.
func (p *judged) share(i int, words []claimed) float64 {
	held, total := 0.0, 0.0
	for _, w := range words {
		total += w.weight
		if p.sentences[i].has(w) {
			held += w.weight
		}
	}
	if total == 0 {
		return 0
	}
	return held / total
}

var (
	digits   = regexp.MustCompile(`\d+(?:[.,]\d+)*`)
	goesOn   = regexp.MustCompile(`(?i)^\W*(?:it|its|they|their|this|these|that|those|he|his|she|her|both|there|then|also|er|sie|es|dies\w*|il|elle|ils|cela|este|esta|esto)\b`)
	tableRow = regexp.MustCompile(`[\t|]`)
)

// misnumbered reports whether a sentence holds all of a claim's words with another number than the claim's, which stands in a sentence about
// something else.
func misnumbered(words []claimed, passages []*judged) bool {
	var numbers, rest []claimed
	for _, w := range words {
		if w.weight == numberWeight {
			numbers = append(numbers, w)
		} else {
			rest = append(rest, w)
		}
	}
	if len(rest) < 2 {
		return false
	}
	for _, n := range numbers {
		same, elsewhere, open := false, false, false // a sentence of the same with another number; n in one of something else; it may be about the same
		for _, p := range passages {
			for i, s := range p.sentences {
				switch whole := holdsAll(s, rest); {
				case s.has(n):
					elsewhere = true
					open = open || whole || goesOn.MatchString(p.texts[i]) || tableRow.MatchString(p.texts[i])
				case whole:
					same = same || otherNumber(p.texts[i], n, numbers)
				}
			}
		}
		if same && elsewhere && !open {
			return true
		}
	}
	return false
}

func holdsAll(s termSet, words []claimed) bool {
	return !slices.ContainsFunc(words, func(w claimed) bool { return !s.has(w) })
}

// otherNumber reports whether a sentence has a number like n that the claim does not have.
func otherNumber(sentence string, n claimed, claim []claimed) bool {
	for _, d := range digits.FindAllString(sentence, -1) {
		plain := number(d)
		known := slices.ContainsFunc(claim, func(c claimed) bool { return slices.Contains(c.terms, d) || slices.Contains(c.terms, plain) })
		if !known && isYear(plain) == slices.ContainsFunc(n.terms, isYear) {
			return true
		}
	}
	return false
}

func isYear(s string) bool { return len(s) == 4 && (s[0] == '1' || s[0] == '2' && s[1] == '0') }

var (
	negation = regexp.MustCompile(`(?i)\b(?:not|never|cannot|no|none|neither|nobody|nothing|nicht|niemals|kein|keine|keinen|keinem|keiner|keines)\b|n['’]t\b`)
	// noNegation is what looks like one: "not only", "no later than", "No, …", "No. 5".
	noNegation = regexp.MustCompile(`(?i)\b(?:not|no|nicht)\s+(?:only|just|merely|necessarily|later|more|less|fewer|longer|earlier|sooner|least|exceeding|nur|mehr|later)\b|\bno\s*[,.:;!?]|\bno\s+\d`)
	// veiled are words that may turn a sentence around, or lift a ban.
	veiled = regexp.MustCompile(`(?i)\b(?:missing|lack\w*|absen\w+|fail\w*|refus\w+|den(?:y|ie)\w*|forb\w+|prohibit\w*|ban|bans|banned|exclu\w+|exempt\w*|void|without|except\w*|` +
		`unless|until|instead|rather|only|hardly|rarely|seldom|cancel\w*|stop\w*|ceas\w+|free|other|otherwise|but|if|ohne|außer|nur|sofern|wenn|aber|fehl\w*)\b`)
	clauseEnd = regexp.MustCompile(`[,;:()—–]|\s(?:and|or|while|whereas|although|because|since|so|und|oder|weil|et|ou|y|o)\s`)
)

// minDenied is how many content words of a claim a sentence must hold to say the opposite of any part of it.
const minDenied = 2

// denied reports whether each sentence with all words of a part of a claim says the opposite of it. All are the words of the whole claim.
func (j *Judge) denied(claim string, all []claimed, passages []*judged) bool {
	plain := unmarked(claim)
	negated := negates(plain)
	if !negated && !slices.ContainsFunc(passages, func(p *judged) bool { return p.negatesAny(all) }) || negated && veiled.MatchString(plain) {
		return false
	}
	for _, part := range clausesOf(plain) {
		for _, p := range passages {
			if words := j.wordsOf(negation.ReplaceAllString(part, " "), p.lang); len(words) >= minDenied && j.opposed(words, negationsIn(part), passages) {
				return true
			}
		}
	}
	return false
}

// opposed reports whether passages hold a part of a claim, and only with the other sign.
func (j *Judge) opposed(words []claimed, negations [][]int, passages []*judged) bool {
	if len(negations) > 1 {
		return false
	}
	found := false
	for _, p := range passages {
		for i, s := range p.texts {
			held := p.share(i, words)
			if !p.negates(i) {
				if held == 1 {
					if len(negations) == 0 || veiled.MatchString(s) {
						return false
					}
					found = true
				}
				continue
			}
			if len(negations) > 0 && held >= nearShare || held == 1 && veiled.MatchString(s) {
				return false
			}
			if held < 1 {
				continue
			}
			if !deniesIn(s, words, p.lang) {
				return false
			}
			found = true
		}
	}
	return found
}

// deniesIn reports whether a clause with all of the words has one negation, which stands before one of them.
func deniesIn(sentence string, words []claimed, lang string) bool {
	for _, c := range clausesOf(sentence) {
		at := negationsIn(c)
		if len(at) == 1 && holdsAll(termsOf(c, lang), words) {
			behind := termsOf(c[at[0][1]:], lang)
			if slices.ContainsFunc(words, behind.has) {
				return true
			}
		}
	}
	return false
}

func clausesOf(s string) []string {
	var out []string
	done := 0
	for _, at := range clauseEnd.FindAllStringIndex(s, -1) {
		out = append(out, s[done:at[0]])
		done = at[1]
	}
	out = append(out, s[done:])
	return slices.DeleteFunc(out, func(c string) bool { return !strings.ContainsFunc(c, unicode.IsLetter) })
}

// negationsIn returns where the negations of a text stand, in bytes.
func negationsIn(s string) [][]int {
	if !mayNegate(s) {
		return nil // the expressions are slow
	}
	found := negation.FindAllStringIndex(s, -1)
	none := noNegation.FindAllStringIndex(s, -1)
	return slices.DeleteFunc(found, func(n []int) bool {
		return slices.ContainsFunc(none, func(o []int) bool { return o[0] <= n[0] && n[1] <= o[1] })
	})
}

var negatives = wordSet("not never cannot no none neither nobody nothing nicht niemals kein keine keinen keinem keiner keines")

// mayNegate reports whether a text has a word that negation finds.
func mayNegate(s string) bool {
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !isDigit(r) && r != '_' }) {
		if negatives[strings.ToLower(word)] {
			return true
		}
	}
	return slices.ContainsFunc([]string{"'t", "’t", "'T", "’T"}, func(end string) bool { return strings.Contains(s, end) })
}

func negates(s string) bool { return len(negationsIn(s)) > 0 }

// negates reports whether a sentence of a passage does. It remembers the answer for all of them.
func (p *judged) negates(i int) bool {
	if p.negated == nil {
		p.negated = make([]bool, len(p.texts))
		for i, s := range p.texts {
			p.negated[i] = negates(s)
		}
	}
	return p.negated[i]
}

// negatesAny reports whether a sentence of a passage has a negation, and words enough to deny a part of a claim with these.
func (p *judged) negatesAny(words []claimed) bool {
	for i, s := range p.sentences {
		if p.negates(i) && s.held(words) >= minDenied {
			return true
		}
	}
	return false
}
