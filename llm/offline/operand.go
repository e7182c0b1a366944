package offline

import (
	"slices"
	"strings"
	"unicode"

	"footnote/corpus/text"
)

// operand is a thing whose figure a sum needs, as the question calls it.
type operand struct {
	said  string
	units func(figure) bool // the figures that it may have
	also  pattern           // what its sentence has to say beside its words; nil: nothing
	lone  pattern           // what a sentence says that need not have any of its words; nil: there is none
	one   string            // what there is a number of: the figure is for one of these
}

// stated is a figure with the sentence that states it.
type stated struct {
	figure
	candidate
	at int // of the sentences
}

// figureWords are words of questions that a figure stands for, so that its sentence need not have them.
var figureWords = lazily(
	`(?i)^(?:costs?|prices?|priced|pays?|paid|payable|charged?|spend|spent|amounts?|sum|take[ns]?|took|used?|makes?|` +
		`made|come|comes|goes|went|go|are|date|there|by|which|must|have|has|had|be|did|does|do|can|could|will|would|` +
		`may|get|gets|total|altogether|most|much|many|new|more|long|away|pass|passed|elapsed?|lie|lay|exactly|whole|` +
		`full|weighs?|hold|holds|contain|contains|fit|fits|yield)$`,
)

// wordsOf are the words of an operand that its sentence must have.
func (o operand) wordsOf(p pile) []word {
	all := text.QueryWords(o.said, []string{"en"})
	q := query{text: o.said, words: all, names: names("- "+o.said, all)}
	var out []word
	for _, w := range weigh(q, p, demand{}, "- "+o.said) {
		if !figureWords().MatchString(w.typed) && w.gram == "" {
			out = append(out, w)
		}
	}
	return out
}

func anyIn(words []word, terms map[string]bool) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.in(terms) > 0 })
}

// find returns the one figure that the documents state for an operand; ok is false if there is none, if two sentences
// that name it as well state different ones, or if another document states a different one.
func (p pile) find(o operand) (best stated, ok bool) {
	words := o.wordsOf(p)
	var all []stated
	for i, s := range p.sentences {
		if s.heading || !sayable(s.text) || strings.HasSuffix(s.text, "?") || refusing().MatchString(s.text) ||
			changes().MatchString(s.text) && !changes().MatchString(o.said) {
			continue
		}
		if f, worth := p.figureIn(i, o, words); worth > 0 {
			all = append(all, stated{f, candidate{sentence: s, score: worth}, i})
			if worth > best.score {
				best = all[len(all)-1]
			}
		}
	}
	same := func(f stated) bool { return f.value == best.value && f.unit == best.unit && f.per == best.per }
	rival := slices.ContainsFunc(all, func(f stated) bool {
		return !same(f) &&
			(f.score == best.score || p.sources[f.source].document.DocID != p.sources[best.source].document.DocID)
	})
	return best, len(all) > 0 && !rival
}

// figureIn returns the figure of a sentence that is said of an operand, and how much of the operand its clause names;
// 0 if none is.
func (p pile) figureIn(i int, o operand, words []word) (best figure, worth float64) {
	s := p.sentences[i]
	clauses := clausesOf(s.text)
	row := strings.Contains(s.text, " | ")
	var fitting []clause
	at := -1
	for _, c := range clauses {
		if !o.units(c.figure) {
			continue
		}
		if fitting = append(fitting, c); row && len(fitting) > 1 {
			return figure{}, 0 // which column is meant is not known
		}
		if w := p.said(i, c, o, words); w > worth {
			best, worth, at = c.figure, w, len(fitting)-1
		}
	}
	o.one = "" // a rival need not be for one of anything
	for k, c := range fitting {
		if k != at && p.said(i, c, o, words) >= worth {
			return figure{}, 0
		}
	}
	return best, worth
}

// clause is what a sentence says of one of its figures.
type clause struct {
	figure
	own       string // from the figure before it to the next
	inherited string // the subject of the clause before, if it has none of its own
	alone     bool   // no other figure of its kind stands in the same part of the sentence
}

var (
	joints     = lazily(`(?i);\s|,?\s(?:and|but|while|whereas|plus)\s|,\s`)
	ownSubject = lazily(
		`^(?i:the|an?|each|every|its?|his|her|their|our|this|that|he|she|they|we|you|there|for|under)\b|^\p{Lu}`,
	)
	ofWhole = lazily(`(?i)^ of (?:the|this|that|its?|their|our)\b.*`)
	shared  = lazily(`(?i),?\s(?:and|or|&)\s`)
)

// clausesOf cuts a sentence into what it says of each of its figures. What follows the joint behind the last figure
// is of none.
func clausesOf(s string) []clause {
	figures := figuresOf(s)
	ends := joints().FindAllStringIndex(s, -1)
	var out []clause
	from, subject := 0, ""
	for k, f := range figures {
		to, next := len(s), len(s)
		for _, end := range ends {
			if end[0] >= f.to && !(strings.HasPrefix(s[end[0]:], ", ") && len(strings.Fields(s[from:f.from])) < 3) {
				to, next = end[0], end[1]
				break
			}
		}
		if k+1 < len(figures) && to > figures[k+1].from {
			to, next = f.to, f.to
		}
		c := clause{figure: f, own: s[from:f.to] + ofWhole().ReplaceAllString(s[f.to:to], ""), alone: true}
		if c.per == "" {
			c.per = perAdjective(c.own)
		}
		if k > 0 && !ownSubject().MatchString(strings.TrimSpace(c.own)) {
			c.inherited = subject
		} else {
			subject = s[from:f.from]
		}
		for j, other := range figures {
			c.alone = c.alone && (j == k || other.unit != f.unit || other.from < from || other.to > to)
		}
		out = append(out, c)
		from = next
	}
	return out
}

// said is how much of an operand a clause names; 0 unless every word of it stands in the clause, in the headings, or
// in the sentence before that it leans on, and one of them in the clause or that sentence.
func (p pile) said(i int, c clause, o operand, words []word) float64 {
	s := p.sentences[i]
	analyser := p.analysers[s.source]
	if !c.alone || o.also != nil && !o.also().MatchString(c.own) || !oneOf(c, o, words, analyser) {
		return 0
	}
	own := termSet(analyser, c.own)
	subject := termSet(analyser, c.inherited)
	head := p.around[s.source]
	var last map[string]bool
	if i > 0 && p.sentences[i-1].source == s.source && leansBack().MatchString(s.text) {
		last = p.sentences[i-1].terms
	}
	worth, native := 0.0, o.lone != nil && o.lone().MatchString(c.own)
	for _, w := range words {
		in := max(w.in(own), w.in(subject), 0.6*w.in(last))
		if in == 0 && o.one != "" && c.per == stemOf(w.typed) {
			in = 1
		}
		if in < 0.4 && w.in(head) < 0.7 {
			return 0
		}
		native = native || in > 0
		worth += w.need * in
	}
	if !native || len(words) == 0 || splits(c, words, analyser) || ofAnother(c, o, words, analyser) {
		return 0
	}
	return worth + 0.01
}

var (
	belongs  = lazily(`(?i)^(?:of|for|with|without)$`)
	standsBy = lazily(`(?i)^(?:in|on|at|near|inside|behind|beside|under|above)$`)
	article  = lazily(`(?i)^(?:the|an?|its|his|her|their|our|this|that)$`)
	helping  = lazily(`(?i)^(?:is|are|was|were|has|have|had|be|must|may|can|could|will|would|shall|should)$`)
	function = lazily(
		`(?i)^(?:of|for|with|without|in|on|at|near|inside|behind|beside|under|above|from|to|by|within|after|before|` +
			`until|since|between|through|over|into|and|or|but|that|which|who|as|than|if|when|the|an?|its|his|her|` +
			`their|our|this|each|every|per|only)$`,
	)
)

// ofAnother reports whether a clause speaks of something that an operand's word only belongs to: "the door of the
// kitchen", "the kitchen door".
func ofAnother(c clause, o operand, words []word, analyser *text.Analyser) bool {
	fields := strings.Fields(strings.Replace(c.own, c.text, " _ ", 1))
	known := func(field string) bool {
		return figureWords().MatchString(field) || o.also != nil && o.also().MatchString(field) ||
			mentions(o.said, field) ||
			anyIn(words, termSet(analyser, field))
	}
	for k, field := range fields {
		if !anyIn(words, termSet(analyser, field)) {
			continue
		}
		for j := k - 1; j >= max(0, k-4); j-- { // what it belongs to
			if helping().MatchString(fields[j]) || figureWords().MatchString(fields[j]) || endsPart(fields[j]) {
				break
			}
			if belongs().MatchString(fields[j]) ||
				standsBy().MatchString(fields[j]) && c.unit != unitDate && c.unit != unitYear {
				if article().MatchString(fields[j+1]) &&
					(j == 0 && !strings.EqualFold(fields[j], "for") || j > 0 && !known(fields[j-1])) {
					return true
				}
				break
			}
		}
		unknown := false
		for j := k; j < len(fields) && !endsPart(fields[j]); j++ { // what it is a part of the name of
			if j == k {
				continue
			}
			if helping().MatchString(fields[j]) || figureWords().MatchString(fields[j]) ||
				o.also != nil && o.also().MatchString(fields[j]) {
				if unknown {
					return true
				}
				break
			}
			if function().MatchString(fields[j]) || known(fields[j]) || !startsWithLetter(fields[j]) {
				break
			}
			unknown = true
		}
	}
	return false
}

func endsPart(field string) bool { return strings.ContainsAny(field[len(field)-1:], ",;:.|)") }

func startsWithLetter(s string) bool {
	return strings.IndexFunc(s, unicode.IsLetter) == 0
}

// splits reports whether things that are joined by "and" share the figure behind them, and the operand is not all of
// them.
func splits(c clause, words []word, analyser *text.Analyser) bool {
	before, _, _ := strings.Cut(c.own, c.text)
	parts := shared().Split(before, -1)
	if len(parts) < 2 || c.unit == unitDate || c.unit == unitYear {
		return false
	}
	return slices.ContainsFunc(parts, func(part string) bool {
		return !anyIn(words, termSet(analyser, part))
	})
}

// oneOf reports whether a figure is for one of what there is a number of; where nothing is counted, that no number of
// it has the figure.
func oneOf(c clause, o operand, words []word, analyser *text.Analyser) bool {
	fields := strings.Fields(strings.Replace(c.own, c.text, " _ ", 1))
	for k, field := range fields { // "ten lifts cost £800"
		if _, number := numberValues[strings.ToLower(field)]; !number && !hasDigit().MatchString(field) ||
			strings.EqualFold(field, "a") || strings.EqualFold(field, "an") || strings.EqualFold(field, "one") {
			continue
		}
		if mentions(o.said, strings.Trim(field, ".,;:")) {
			continue
		}
		if anyIn(words, termSet(analyser, strings.Join(fields[k+1:min(len(fields), k+3)], " "))) {
			return false
		}
	}
	if o.one == "" {
		return true
	}
	one := stemOf(o.one)
	if c.per != "" || timeUnit().MatchString(o.one) {
		return c.per == one || c.per == "month" && one == "year"
	}
	return slices.ContainsFunc(fields, func(field string) bool {
		field = strings.Trim(field, ".,;:|")
		return stemOf(field) == one && strings.EqualFold(singular(field), field)
	})
}
