package corpus

import (
	"slices"
	"strings"
	"unicode"

	"footnote/corpus/text"
)

// opposites are words, with their forms, and what says the opposite. Those of relations name two things: "A before B" is "B after A".
var opposites = []struct {
	one, other string
	relation   bool
}{
	{"open opens opened opening", "close closes closed closing shut shuts", false},
	{"increase increases increased increasing rise rises rose risen rising", "decrease decreases decreased decreasing fall falls fell fallen falling drop drops dropped dropping", false},
	{"minimum minimal min", "maximum maximal max", false},
	{"least", "most", false},
	{"allowed permitted allows permits", "forbidden prohibited banned forbids prohibits bans", false},
	{"first", "last", false},
	{"begin begins began begun beginning start starts started starting", "end ends ended ending", false},
	{"enable enables enabled", "disable disables disabled", false},
	{"include includes included including", "exclude excludes excluded excluding", false},
	{"accept accepts accepted", "reject rejects rejected refuse refuses refused", false},
	{"pass passes passed", "fail fails failed", false},
	{"add adds added adding", "remove removes removed removing", false},
	{"lock locks locked", "unlock unlocks unlocked", false},
	{"win wins won", "lose loses lost", false},
	{"required compulsory mandatory", "optional voluntary", false},
	{"high", "low", false}, {"hot", "cold", false}, {"wet damp", "dry", false}, {"full", "empty", false}, {"true", "false", false}, {"public", "private", false},
	{"north northern", "south southern", false}, {"east eastern", "west western", false}, {"upper", "lower", false}, {"indoors", "outdoors", false},
	{"profit profits", "loss losses", false},
	{"before", "after", true}, {"above", "below", true}, {"more", "less fewer", true}, {"higher", "lower", true}, {"larger bigger", "smaller", true},
	{"longer", "shorter", true}, {"older", "newer younger", true}, {"faster", "slower", true}, {"earlier", "later", true},
	{"geöffnet offen", "geschlossen zu", false}, {"erlaubt gestattet", "verboten untersagt", false}, {"mindestens", "höchstens", false}, {"erste ersten erster", "letzte letzten letzter", false},
	{"beginnt", "endet", false}, {"steigt stieg", "sinkt sank", false}, {"vor", "nach", true}, {"mehr", "weniger", true},
}

// side is where a word stands in opposites: of which pairs, on which side of each.
type side struct {
	pair  int
	other bool
}

var sidesOf = func() map[string][]side {
	out := map[string][]side{}
	for i, pair := range opposites {
		for w := range strings.FieldsSeq(pair.one) {
			out[w] = append(out[w], side{i, false})
		}
		for w := range strings.FieldsSeq(pair.other) {
			out[w] = append(out[w], side{i, true})
		}
	}
	return out
}()

// sided returns the words of a text that have opposites.
func sided(s string) []string {
	var out []string
	for word := range strings.FieldsFuncSeq(s, notInWord) {
		if len(word) > 14 { // longer than any
			continue
		}
		if lower := strings.ToLower(word); sidesOf[lower] != nil {
			out = append(out, lower)
		}
	}
	return out
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

// sides are sided of the sentences of a passage. It remembers them.
func (p *judged) sides(i int) []string {
	if p.sided == nil {
		p.sided = make([][]string, len(p.texts))
		for i, s := range p.texts {
			p.sided[i] = sided(s)
		}
	}
	return p.sided[i]
}

// reversed reports whether a part of a claim says the opposite of the one clause that holds all its other words: "opens" for "closes". Where
// something is negated or conditional, or a sentence near it says the same as the claim, it is not certain.
func (j *Judge) reversed(claim string, passages []*judged) bool {
	plain := unmarked(claim)
	if len(sided(plain)) == 0 || mayNegate(plain) {
		return false
	}
	for _, part := range clausesOf(plain) {
		for _, word := range sided(part) {
			if slices.ContainsFunc(sidesOf[word], func(s side) bool { return j.otherwise(part, word, s, passages) }) {
				return true
			}
		}
	}
	return false
}

// otherwise reports whether passages hold the rest of a part of a claim with the opposite of its word, and nowhere with the word.
func (j *Judge) otherwise(part, word string, at side, passages []*judged) bool {
	against := side{at.pair, !at.other}
	if !slices.ContainsFunc(passages, func(p *judged) bool { return p.hasSide(against) }) {
		return false
	}
	rest := without(part, word)
	found := false
	for _, p := range passages {
		words := j.wordsOf(rest, p.lang)
		if len(words) < minDenied {
			return false
		}
		for i, s := range p.texts {
			if !slices.ContainsFunc(p.sides(i), func(w string) bool { return onPair(w, at.pair) }) {
				if holdsAll(p.sentences[i], words) {
					return false // it may say the same in other words
				}
				continue
			}
			if heldShare(p.sentences[i], words) < nearShare {
				continue
			}
			for _, clause := range clausesOf(s) {
				same, opposite := "", ""
				for _, w := range sided(clause) {
					if slices.Contains(sidesOf[w], at) {
						same = w
					} else if onPair(w, at.pair) {
						opposite += w + " "
					}
				}
				terms := termsOf(clause, p.lang)
				switch {
				case same == "" && opposite == "":
				case same != "" && heldShare(terms, words) >= nearShare:
					return false
				case same == "" && strings.Count(opposite, " ") == 1 && holdsAll(terms, words):
					opposite = strings.TrimSpace(opposite)
					if mayNegate(s) || tableRow.MatchString(s) || strings.HasSuffix(s, "?") || veiled.MatchString(without(s, opposite)) {
						return false
					}
					found = found || j.sameBeside(part, word, clause, opposite, opposites[at.pair].relation, p.lang)
				}
			}
		}
	}
	return found && !veiled.MatchString(rest)
}

// hasSide reports whether a sentence of a passage has a word of one side of a pair.
func (p *judged) hasSide(at side) bool {
	for i := range p.texts {
		if slices.ContainsFunc(p.sides(i), func(w string) bool { return slices.Contains(sidesOf[w], at) }) {
			return true
		}
	}
	return false
}

func onPair(word string, pair int) bool {
	return slices.ContainsFunc(sidesOf[word], func(s side) bool { return s.pair == pair })
}

func heldShare(terms termSet, words []claimed) float64 {
	return float64(terms.held(words)) / float64(len(words))
}

// without is a text with a space for each occurrence of a word.
func without(s, word string) string {
	var b strings.Builder
	for i, field := range strings.Fields(s) {
		if i > 0 {
			b.WriteByte(' ')
		}
		if !strings.EqualFold(strings.TrimFunc(field, notInWord), word) {
			b.WriteString(field)
		}
	}
	return b.String()
}

// sameBeside reports whether two opposite words stand by the same word, before or behind; those of a relation by the same on both sides.
func (j *Judge) sameBeside(claim, word, clause, opposite string, relation bool, lang string) bool {
	before, after := beside(claim, word, lang)
	left, right := beside(clause, opposite, lang)
	alike := func(a, b string) bool {
		if a == "" || b == "" {
			return a == b && relation
		}
		words := j.wordsOf(a, lang)
		return len(words) > 0 && holdsAll(termsOf(b, lang), words)
	}
	if relation {
		return alike(before, left) && alike(after, right)
	}
	return alike(before, left) || alike(after, right)
}

// beside returns the content words next to a word, "" where there is none.
func beside(s, word, lang string) (before, after string) {
	stop := text.Stops("en", lang)
	met := false
	for w := range strings.FieldsFuncSeq(s, notInWord) {
		switch {
		case !met && strings.EqualFold(w, word):
			met = true
		case stop(strings.ToLower(w)):
		case met:
			return before, w
		default:
			before = w
		}
	}
	return before, ""
}
