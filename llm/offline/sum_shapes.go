package offline

import (
	"fmt"
	"math/big"
	"strings"

	"footnote/corpus/text"
)

const numberAskedFor = `(\d+(?:,\d{3})*|an?|one|` + englishNumbers + `)`

var (
	totalSaid   = lazily(`(?i)\b(?:together|in total|in all|altogether|combined)\b`)
	moreSaid    = lazily(`(?i)\b(?:more|less|fewer|\p{L}{3,}er)\b.*\bthan\b`)
	usedFor     = lazily(`(?i)\b(?:for|on|by|to|with|from|used|spent|kept|given|called)$`)
	leftOver    = lazily(`(?i)\b(?:left|remain(?:s|ed)?)\b`)
	percentSaid = lazily(`%|(?i)\bper ?cent\b`)
	ageSaid     = lazily(`(?i)\b(?:aged?|years? old|years of age)\b`)
	endSaid     = lazily(
		`(?i)\b(?:end(?:s|ed|ing)?|expir(?:es?|ed|y)|run(?:s|ning)? (?:out|until|to)|until|till|laps(?:es?|ed))\b`,
	)
	begun = lazily(
		`(?i)\b(?:dates? (?:from|back)|buil[td]|born|open(?:s|ed)|found(?:s|ed)|install(?:s|ed)|made|planted|` +
			`established|launched|completed|erected|created|formed|laid)\b`,
	)
	starts   = lazily(`(?i)\b(?:starts?|begins?|began|started|commences?|commenced|runs? from|valid from)\b`)
	itStarts = lazily(
		`(?i)\b(?:it|this|the (?:cover|coverage|term|period|time)) ` +
			`(?:starts?|begins?|began|started|commences?|commenced|runs? from)\b`,
	)
	timeLying = lazily(`(?i)^(?:are|were|there|pass|passed|lie|lay|elapsed?|went by|did|was|is|it|go|by|take|\W)*$`)
	lessAsked = lazily(
		`(?i)^(?:less|fewer|cheaper|lighter|shorter|smaller|lower|narrower|thinner|slower|weaker|colder)$`,
	)
	noSize = lazily(
		`(?i)^(?:old|earli|lat|soon|young|bett|wors|furth|rath|eith|oth|wheth|nev|ev|numb|wint|summ|lett|wat|memb)er$`,
	)
	moneyAsked = lazily(
		`(?i)\b(?:costs?|prices?|pay|pays|paid|fees?|charges?|rents?|spend|spent|expensive|cheaper|dearer|money|` +
			`euros?|dollars?|pounds?)\b`,
	)
	likeFirst = lazily(`(?i)^(?:that|those|the one|one|the ones)\b`)
	sidesOf   = lazily(
		`(?i)^(?:first|second|third|last|old|new|large|small|big|little|upper|lower|northern|southern|eastern|` +
			`western|left|right|opening|closing|beginning|start|end)$`,
	)
	placed = lazily(`(?i)^(?:in|on|at|of|for|from|with|by|under|during)\b`)
)

// sumAsked reads a question that asks for a sum.
func sumAsked(question string) (sum, bool) {
	question = strings.TrimRight(strings.Join(strings.Fields(question), " "), " ?.!")
	for _, s := range sumShapes {
		if m := s.shape().FindStringSubmatch(question); m != nil {
			if made, ok := s.make(m, question); ok && nameable(made.operands) {
				return made, true
			}
		}
	}
	return sum{}, false
}

// nameable reports whether each operand is called something.
func nameable(operands []operand) bool {
	for _, o := range operands {
		named := false
		for _, w := range text.QueryWords(o.said, []string{"en"}) {
			named = named || !figureWords().MatchString(w.Text) && !pointsBack().MatchString(w.Text)
		}
		if !named {
			return false
		}
	}
	return true
}

// asked are the units of the figures that a question asks for.
func asked(question string) func(figure) bool {
	if moneyAsked().MatchString(question) {
		return figure.money
	}
	return func(f figure) bool { return f.unit != unitDate && f.unit != unitYear }
}

func onDay(f figure) bool { return f.unit == unitDate || f.unit == unitYear }

func inYears(f figure) bool { return f.unit == stemOf("years") && f.per == "" }

// pair are two operands; what one leaves out is taken from the other.
func pair(a, b string, units func(figure) bool) []operand {
	first, second := text.QueryWords(a, []string{"en"}), text.QueryWords(b, []string{"en"})
	switch {
	case likeFirst().MatchString(b):
		b = headOf(a) + likeFirst().ReplaceAllString(b, "")
	case strings.HasSuffix(b, " one"):
		b = strings.TrimSuffix(b, "one") + lastWord(a)
	case placed().MatchString(b) && strings.Contains(a, " "+strings.Fields(b)[0]+" "):
		b = a[:strings.LastIndex(a, " "+strings.Fields(b)[0]+" ")] + " " + b
	// "the first and the last crossing of the ferry"
	case len(first) == 1 && len(second) > 1 && sidesOf().MatchString(first[0].Text):
		if _, rest, ok := strings.Cut(b, second[0].Text); ok {
			a += rest
		}
	}
	return []operand{{said: a, units: units}, {said: b, units: units}}
}

// headOf is what stands before the first preposition of a thing's name.
func headOf(s string) string {
	fields := strings.Fields(s)
	for i, f := range fields {
		if i > 0 && placed().MatchString(f) {
			return strings.Join(fields[:i], " ")
		}
	}
	return s
}

func lastWord(s string) string {
	fields := strings.Fields(headOf(s))
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}

// ofOne is the name of one of the things that a name is of: "rye loaf" of "rye loaves".
func ofOne(s string) string {
	if last := lastWord(s); last != "" {
		return strings.Replace(s, last, singular(last), 1)
	}
	return s
}

// alike2 reports whether two figures are of one unit, and for one of the same.
func alike2(f []stated) bool {
	return f[0].unit == f[1].unit && f[0].per == f[1].per && !f[0].most && !f[1].most
}

func joined2(sign string) func([]stated) (string, bool) {
	return func(f []stated) (string, bool) { return f[0].value + " " + sign + " " + f[1].value, alike2(f) }
}

func difference(m []string, question string) (sum, bool) {
	if noSize().MatchString(m[1]) {
		return sum{}, false
	}
	less := lessAsked().MatchString(m[1])
	a, b := m[2], m[3]
	units := asked(question)
	if strings.HasPrefix(strings.ToLower(strings.TrimPrefix(question, "By ")), "how many") {
		unit, _, _ := strings.Cut(a, " ")
		units = func(f figure) bool { return f.unit == stemOf(unit) }
	}
	return sum{operands: pair(a, b, units), same: true, direct: moreSaid, work: func(f []stated) (string, bool) {
		if less {
			f[0], f[1] = f[1], f[0]
		}
		return f[0].value + " - " + f[1].value, alike2(f)
	}, say: func(f []stated, r string) string {
		line := f[0].shown() + " − " + f[1].shown() + " = " + f[0].in(r)
		switch {
		case strings.HasPrefix(r, "-") && less:
			line += ": it is more, not less."
		case strings.HasPrefix(r, "-"):
			line += ": it is less, not more."
		}
		return line
	}}, true
}

func between(m []string, _ string) (sum, bool) {
	about := ""
	if !timeLying().MatchString(m[2]) {
		about = m[2] + " "
	}
	operands := pair(m[3], m[4], onDay)
	for i := range operands {
		operands[i].said = about + operands[i].said
	}
	s := sum{
		operands: operands, soft: about != "",
		direct: lazily(`(?i)\b(?:` + plainDigit + `|` + englishNumbers + `) ` + m[1] + `\b`), work: yearsBetween,
		say: sayYears,
	}
	if strings.EqualFold(m[1], "days") {
		s.work = func(f []stated) (string, bool) {
			return fmt.Sprintf("days(%s, %s)", f[0].value, f[1].value), f[0].unit == unitDate && f[1].unit == unitDate
		}
		s.say = func(f []stated, r string) string {
			if strings.HasPrefix(r, "-") {
				return ""
			}
			return f[0].value + " to " + f[1].value + ": " + grouped(r) + " days"
		}
	}
	return s, true
}

func yearsBetween(f []stated) (string, bool) {
	if f[0].unit == unitDate && f[1].unit == unitDate {
		return fmt.Sprintf("years(%s, %s)", f[0].value, f[1].value), true
	}
	return f[1].value[:4] + " - " + f[0].value[:4], true
}

func sayYears(f []stated, r string) string {
	if strings.HasPrefix(r, "-") {
		return ""
	}
	if f[0].unit == unitDate && f[1].unit == unitDate {
		return f[0].value + " to " + f[1].value + ": " + grouped(r) + " years"
	}
	return f[1].value[:4] + " − " + f[0].value[:4] + " = " + grouped(r) + " years, counted by the years alone"
}

// product is so many times a figure that is for one of something.
func product(number, unit, of string, units func(figure) bool) (sum, bool) {
	n := strings.ReplaceAll(strings.ToLower(number), ",", "")
	if value, ok := numberValues[n]; ok {
		n = value
	}
	times := func(f stated) string {
		if f.per == "month" && stemOf(unit) == "year" {
			v, ok := new(big.Int).SetString(n, 10)
			if ok {
				return v.Mul(v, big.NewInt(12)).String()
			}
		}
		return n
	}
	s := sum{operands: []operand{{said: of, units: units, one: unit}}, work: func(f []stated) (string, bool) {
		return times(f[0]) + " * " + f[0].value, times(f[0]) != "1"
	}, say: func(f []stated, r string) string {
		most := ""
		if f[0].most {
			most = "at most "
		}
		return times(f[0]) + " × " + f[0].shown() + " = " + most + f[0].in(r)
	}}
	if n == "1" && stemOf(unit) == "year" {
		s.direct = lazily(`(?i)\b(?:an?|per|each|every) year\b|\b(?:yearly|annual(?:ly)?)\b`)
	} else if n == "1" {
		return sum{}, false
	}
	return s, true
}
