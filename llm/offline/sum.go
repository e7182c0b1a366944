package offline

import (
	"fmt"
	"slices"
	"strings"
)

// sum is a question that is answered by calculating with figures of documents.
type sum struct {
	operands []operand
	same     bool // all figures have to be of one unit
	// it may ask for something else: without the figures it is answered as other questions
	soft bool
	// what a sentence has that answers by itself, so that nothing is to be calculated
	direct pattern
	work   func([]stated) (expression string, ok bool) // ok is false if the figures do not go together
	say    func(found []stated, result string) string
}

// answerSum answers a question that asks for a sum: the quotes that state one figure each, and what they come to.
// asked is false if the question asks for no sum; neither steps nor an answer mean that the figures are not stated so
// plainly.
func answerSum(t turn, q query) (steps []step, said string, asked bool) {
	if q.follows || !t.has("calculate") {
		return nil, "", false
	}
	s, ok := sumAsked(t.question)
	if !ok {
		return nil, "", false
	}
	sources := t.shown()
	p := pileOf(sources)
	if p.answers(s) {
		return nil, "", false
	}
	found, ok := p.findAll(s)
	if !ok {
		return nil, "", !s.soft
	}
	expression, ok := s.work(found)
	if !ok {
		return nil, "", true
	}
	done := t.of("calculate")
	if len(done) == 0 {
		return []step{{"calculate", map[string]any{"expression": expression}}}, "", true
	}
	out := done[len(done)-1].out
	if out.Error != nil {
		return nil, "", true
	}
	line := s.say(found, fmt.Sprint(out.Result))
	if line == "" {
		return nil, "", true
	}
	return nil, write(p.quotes(found), sources) + "\n\n" + line, true
}

// findAll finds the figures of all operands. Where they have to be of one unit and that of one is known, the other's
// are of that unit.
func (p pile) findAll(s sum) ([]stated, bool) {
	found := make([]stated, len(s.operands))
	known := make([]bool, len(s.operands))
	for i, o := range s.operands {
		found[i], known[i] = p.find(o)
	}
	for i, o := range s.operands {
		if other := (i + 1) % len(known); s.same && !known[i] && known[other] {
			units := o.units
			o.units = func(f figure) bool { return units(f) && f.unit == found[other].unit }
			found[i], known[i] = p.find(o)
		}
	}
	return found, !slices.Contains(known, false)
}

// asksSum reports whether a question is answered by a sum only.
func asksSum(question string) bool {
	s, ok := sumAsked(question)
	return ok && !s.soft
}

// answers reports whether a sentence says by itself what the sum would.
func (p pile) answers(s sum) bool {
	if s.direct == nil {
		return false
	}
	for i, sentence := range p.sentences {
		if sentence.heading || !s.direct().MatchString(sentence.text) {
			continue
		}
		all := true
		for _, o := range s.operands {
			for _, w := range o.wordsOf(p) {
				all = all && (w.in(sentence.terms) > 0 || w.in(p.around[p.sentences[i].source]) > 0)
			}
		}
		if all {
			return true
		}
	}
	return false
}

// quotes are the sentences of figures, each once, with what they lean on.
func (p pile) quotes(found []stated) []candidate {
	var out []candidate
	add := func(s sentence) {
		if !slices.ContainsFunc(out, func(c candidate) bool { return c.source == s.source && c.place == s.place }) {
			out = append(out, candidate{sentence: s})
		}
	}
	for _, f := range found {
		if i := f.at; i > 0 && p.sentences[i-1].source == f.source && leansBack().MatchString(p.sentences[i].text) &&
			sayable(p.sentences[i-1].text) {
			add(p.sentences[i-1])
		}
		add(p.sentences[f.at])
	}
	return out
}

// shown is a figure as a sum shows it: with all its digits.
func (f figure) shown() string {
	if scaled().MatchString(f.text) {
		return f.in(f.value)
	}
	return f.text
}

// in writes a number with the unit of a figure.
func (f figure) in(number string) string {
	number = grouped(number)
	at := strings.IndexAny(f.text, "0123456789")
	if at > 0 && f.money() {
		if strings.HasPrefix(number, "-") {
			return "-" + f.text[:at] + number[1:]
		}
		return f.text[:at] + number
	}
	unit := strings.TrimLeft(f.text, "0123456789.,- ")
	if at != 0 { // a number word
		_, unit, _ = strings.Cut(strings.ReplaceAll(f.text, "-", " "), " ")
	}
	for _, scale := range []string{"thousand ", "million ", "billion "} {
		unit = strings.TrimPrefix(unit, scale)
	}
	return strings.TrimSpace(number + " " + unit)
}

// grouped parts thousands by commas.
func grouped(number string) string {
	whole, decimals, dot := strings.Cut(number, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if dot {
		whole += "." + decimals
	}
	return sign + whole
}

// rounded is an expression of which two decimals are wanted; thousands have no commas in it.
func rounded(expression string) string {
	return "round(" + strings.ReplaceAll(expression, ",", "") + ", 2)"
}
