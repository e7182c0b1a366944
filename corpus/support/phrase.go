package support

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// token is a content word of a clause, or a bigram of a script without spaces.
type token struct {
	text   string   // in lower case
	terms  []string // index terms, for matching
	weight float64
	// the function word before it that marks its role: "by", "than", "of"; "" after an article or nothing
	lead     string
	unit     string // currency or percent sign of a number
	segment  int    // index in its phrase; commas and conjunctions separate segments
	group    int    // index; conjunctions and semicolons separate groups
	sentence int    // index in a window
	column   int    // index in a table
	count    bool   // a number, in figures or in words
	gram     bool
	beside   bool // only a space separates it from the previous token
	measure  bool // a number precedes it
	proper   bool // a name, recognised by its capital

	// relations to other words, for stated
	prep     string // the preposition before it; all words of a chunk have that of its first word
	chunk    int    // index; words with only spaces between them
	part     int
	passive  bool // an auxiliary of the passive directly precedes its chunk
	relation bool // it only relates others: "before", "over"
	owns     bool // an apostrophe after it marks a genitive
	hyphen   bool // a hyphen joins it to the previous token
}

// part is a clause of a sentence, separated by conjunctions.
type part struct {
	label         string // the subordinating conjunction at its beginning
	modals, quant uint8
	exists        bool // it only states existence: "there is"
}

// phrase is a parsed sentence: its content words in order.
type phrase struct {
	tokens  []token
	negated []bool  // by segment: it has an odd number of negations
	concord bool    // its language has negative concord: two negations count as one
	terms   termSet // terms of all words

	parts []part
	leans bool // it begins with a pronoun that refers to the previous sentence
	row   bool // it is a row of a table
}

// maxPhrase is the maximum number of words of a sentence that are compared with a clause at once. Longer ones are
// tables without rows or texts without punctuation. Comparison is quadratic in the words
// (BenchmarkBackedLongPassage).
const maxPhrase = 256

// cutPieces splits a phrase that is too long.
func (p phrase) cutPieces() []phrase {
	if len(p.tokens) <= maxPhrase {
		return []phrase{p}
	}
	var out []phrase
	for tokens := range slices.Chunk(p.tokens, maxPhrase) {
		piece := phrase{
			tokens: tokens, negated: p.negated, concord: p.concord, terms: termSet{}, parts: p.parts, row: p.row,
		}
		for _, t := range tokens {
			for _, term := range t.terms {
				piece.terms[term] = struct{}{}
			}
		}
		out = append(out, piece)
	}
	return out
}

// clause is a part of a claim: consecutive tokens of a phrase.
type clause struct {
	said    *phrase
	tokens  []token
	offset  int    // index of its first token in the phrase
	neutral []bool // by token: it needs no match in a passage
}

// minClause is the minimum number of words of a clause that is judged by itself: a single word matches by chance.
const minClause = 2

// cutClauses splits a phrase where the key of its tokens changes, and merges clauses that are too short with
// adjacent ones. Known words need no match in a passage.
func (p *phrase) cutClauses(key func(token) int, known termSet) []clause {
	var out []clause
	for from := 0; from < len(p.tokens); {
		to := from + 1
		for to < len(p.tokens) && key(p.tokens[to]) == key(p.tokens[from]) {
			to++
		}
		if n := len(out) - 1; n >= 0 && to-out[n].offset <= maxClause &&
			(to-from < minClause || len(out[n].tokens) < minClause) {
			out[n].tokens = p.tokens[out[n].offset:to]
		} else {
			to = min(to, from+maxClause)
			out = append(out, clause{said: p, tokens: p.tokens[from:to], offset: from})
		}
		from = to
	}
	for i, c := range out {
		for _, t := range c.tokens {
			out[i].neutral = append(out[i].neutral, known.hasAny(t.terms))
		}
	}
	return out
}

// maxClause is the maximum number of tokens of a clause: the bits of a mask.
const maxClause = 64

// eachSegment yields the start and end of each segment of a clause.
func (c clause) eachSegment() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for from := 0; from < len(c.tokens); {
			to := from + 1
			for to < len(c.tokens) && c.tokens[to].segment == c.tokens[from].segment {
				to++
			}
			if !yield(from, to) {
				return
			}
			from = to
		}
	}
}

// parse is the state of parsing a sentence.
type parse struct {
	phrase
	*reader
	runes                  []rune
	spans                  []text.Span
	end                    int // end of the previous word
	segment, group, column int
	lead                   string // function word before the next word
	plain                  bool   // only a space is between the next word and the previous token

	prep    string // preposition before the next word
	chunk   int
	passive bool
}

// readSentence parses a sentence.
func (r *reader) readSentence(s string) phrase {
	p := parse{reader: r, runes: []rune(s)}
	p.terms, p.negated, p.concord = termSet{}, []bool{false}, concord[r.lang]
	p.parts, p.row = []part{{}}, strings.ContainsAny(s, "\t|")
	a := judging.Get("")
	p.spans = a.Spans(s)
	judging.Put("", a)
	for i, span := range p.spans {
		p.readWord(i, p.runes[min(p.end, span.Start):span.Start])
		p.end = span.End
	}
	return p.phrase
}

// beginSegment begins a segment. It drops pending function words, which do not cross segments.
func (p *parse) beginSegment(negated bool) {
	p.segment++
	p.negated = append(p.negated, negated)
	p.lead, p.plain = "", false
}

// beginPart begins a part.
func (p *parse) beginPart(label string) {
	p.parts = append(p.parts, part{label: label})
	p.prep, p.passive = "", false
	p.chunk++
}

// currentPart returns the part that is being parsed.
func (p *parse) currentPart() *part { return &p.parts[len(p.parts)-1] }

// readRelation applies the grammatical function of a word.
func (p *parse) readRelation(i int, l lexeme) {
	switch l.relation.grammar {
	case ungrammatical: // a word of its own
	case preposition:
		p.prep, p.passive = l.relation.name, false
	case subordinating:
		p.beginPart(l.relation.name)
	case quantifying:
		p.currentPart().quant |= l.relation.bit
	case modal:
		p.currentPart().modals |= l.relation.bit
	case passive:
		p.passive = true
	case existential:
		p.currentPart().exists = true
	case pronoun:
		p.leans = p.leans ||
			len(p.parts) == 1 && !slices.ContainsFunc(p.tokens, func(t token) bool { return t.prep == "" })
	}
	switch {
	case l.role == joining && l.relation.grammar == ungrammatical:
		p.beginPart(p.currentPart().label)
	case l.role == excepting:
		p.beginPart(l.lower)
	case l.role == silent:
		p.passive = false
	}
	if (l.role != content || l.relation.grammar != ungrammatical) && l.lower != "s" { // that of a genitive
		p.chunk++
	}
}

// readWord parses a word after a gap of other characters.
func (p *parse) readWord(i int, gap []rune) {
	for _, c := range gap {
		if c == '|' || c == '\t' {
			p.column++
		}
	}
	if i > 0 && breaksSegment(gap) {
		p.beginSegment(false)
		p.prep, p.passive = "", false
		p.chunk++
		if p.currentPart().label != "" || strings.ContainsAny(string(gap), ":;；。!?\n") {
			p.beginPart("")
		}
		if strings.ContainsAny(string(gap), ";；。!?\n") {
			p.group++
		}
	}
	// An apostrophe directly after a word marks a genitive: "the mayor's", "the mayors' ".
	if n := len(p.tokens); n > 0 && len(gap) > 0 && (gap[0] == '\'' || gap[0] == '’') {
		p.tokens[n-1].owns = true
	}
	span := p.spans[i]
	raw := string(p.runes[span.Start:span.End])
	gram := text.Unspaced(p.runes[span.Start])
	l := p.lookUp(raw, gram)
	for _, t := range l.terms {
		p.terms[t] = struct{}{}
	}
	first := i == 0 || strings.ContainsAny(string(gap), ".!?:•*\"“„")
	// A negation sign in two overlapping bigrams is one negation.
	if gram && negatesGram(raw) && (i == 0 || p.spans[i-1].End <= span.Start ||
		!negatesGram(string(p.runes[p.spans[i-1].Start:p.spans[i-1].End]))) {
		p.negateSegment()
	}
	if l.role != content && len(raw) == 1 && !first && len(gap) > 0 && gap[len(gap)-1] == ' ' &&
		unicode.IsUpper(p.runes[span.Start]) && raw != "I" {
		l = lexeme{lower: l.lower, terms: []string{l.lower}} // Model A
	}
	p.readRelation(i, l)
	switch {
	case p.isContracted(span, raw), l.role == negating:
		p.negateSegment()
	case l.role == excepting:
		p.beginSegment(p.negated[p.segment])
		p.negateSegment()
	case l.role == joining:
		p.beginSegment(false)
		p.group++
	case l.role == function:
		p.lead, p.plain = l.lower, false
	case l.role == silent:
		p.plain = false
	case l.role == auxiliary:
		p.lead, p.plain = "", false
	default:
		p.addToken(l, raw, span, gap, first, gram)
	}
}

// addToken appends a content word.
func (p *parse) addToken(l lexeme, raw string, span text.Span, gap []rune, first, gram bool) {
	t := token{text: l.lower, terms: l.terms, lead: p.lead, gram: gram}
	t.relation = l.relation.grammar != ungrammatical
	if !t.relation {
		t.prep, t.passive = p.prep, p.passive
		if n := len(p.tokens); n > 0 && p.tokens[n-1].chunk == p.chunk && t.prep == "" {
			t.prep, t.passive = p.tokens[n-1].prep, p.tokens[n-1].passive
		}
		p.prep, p.passive = "", false
	}
	t.chunk, t.part, t.hyphen = p.chunk, len(p.parts)-1, len(gap) == 1 && gap[0] == '-' && len(p.tokens) > 0
	t.segment, t.group, t.column = p.segment, p.group, p.column
	t.beside = p.plain && len(gap) <= 1
	t.measure = t.beside && len(p.tokens) > 0 && p.tokens[len(p.tokens)-1].count
	_, t.count = numerals[l.lower]
	t.weight = wordWeight
	switch c := p.runes[span.Start]; {
	case !t.gram && strings.ContainsFunc(raw, unicode.IsNumber):
		t.weight, t.count, t.unit = numberWeight, true, unitSign(p.runes, span.Start, span.End)
	case unicode.IsUpper(c) && (len(gap) == 0 || gap[len(gap)-1] != '°') &&
		(!first || strings.ContainsFunc(raw[utf8.RuneLen(c):], unicode.IsUpper)):
		t.weight, t.proper = nameWeight, p.lang != "de" // nouns have capitals too
	}
	p.tokens = append(p.tokens, t)
	if p.plain = true; !t.count { // "on 5 May": both follow "on"
		p.lead = ""
	}
}

// isContracted reports whether a word ends with "n't", which the analyser splits into two words: "doesn", "t".
func (p *parse) isContracted(span text.Span, raw string) bool {
	rest := p.runes[span.End:min(span.End+2, len(p.runes))]
	return len(rest) == 2 && (rest[0] == '\'' || rest[0] == '’') && rest[1]|0x20 == 't' && raw[len(raw)-1]|0x20 == 'n'
}

// negateSegment toggles the negation of the current segment. Two negations cancel each other, except in languages
// with negative concord.
func (p *parse) negateSegment() {
	p.negated[p.segment] = !p.negated[p.segment] || p.concord
}

// breaksSegment reports whether the characters between two words end a segment.
func breaksSegment(gap []rune) bool {
	return slices.ContainsFunc(gap, func(r rune) bool { return strings.ContainsRune(",;:()—–|\t\n，；：、（）。", r) }) ||
		len(gap) >= 3 && slices.Contains(gap, '-')
}

// negatesGram reports whether a bigram has a negation sign.
func negatesGram(g string) bool { return strings.ContainsAny(g, "不没沒未無无非") }

// unitSign returns the currency, percent or degree sign of a number, directly before it or after it with optional
// spaces, as languages differ; "" for none.
func unitSign(runes []rune, start, end int) string {
	const signs = "$£€¥₹%‰°"
	if start > 0 && strings.ContainsRune(signs, runes[start-1]) {
		return string(runes[start-1])
	}
	for end < len(runes) && (runes[end] == ' ' || runes[end] == '\u00a0') {
		end++
	}
	if end < len(runes) && strings.ContainsRune(signs, runes[end]) {
		return string(runes[end])
	}
	return ""
}
