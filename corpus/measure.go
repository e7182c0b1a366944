package corpus

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// measure is a number with its unit, or a rate ("a month", "monthly"), whose number is perEach.
type measure struct {
	number, unit string
	kind         string // of what the unit is one: time, money, …
}

const perEach = "per"

// unitNames are the words for units, by what they measure and what they all mean.
var unitNames = map[[2]string]string{
	{"time", "second"}: "second seconds sekunde sekunden seconde secondes segundo segundos",
	{"time", "minute"}: "minute minutes minuten minuto minutos",
	{"time", "hour"}:   "hour hours stunde stunden heure heures hora horas",
	{"time", "day"}:    "day days tag tage tagen jour jours día días",
	{"time", "week"}:   "week weeks woche wochen semaine semaines semana semanas",
	{"time", "month"}:  "month months monat monate monaten mois mes meses",
	{"time", "year"}:   "year years jahr jahre jahren ans année années año años",
	{"time", "decade"}: "decade decades jahrzehnt jahrzehnte",
	{"money", "£"}:     "£ pound pounds gbp",
	{"money", "$"}:     "$ dollar dollars usd",
	{"money", "€"}:     "€ euro euros eur",
	{"length", "mm"}:   "mm millimetre millimetres millimeter millimeters",
	{"length", "cm"}:   "cm centimetre centimetres centimeter centimeters",
	{"length", "m"}:    "m metre metres meter meters",
	{"length", "km"}:   "km kilometre kilometres kilometer kilometers",
	{"length", "foot"}: "foot feet ft",
	{"length", "inch"}: "inch inches",
	{"length", "mile"}: "mile miles",
	{"mass", "g"}:      "g gram grams gramm gramme grammes",
	{"mass", "kg"}:     "kg kilogram kilograms kilo kilos",
	{"mass", "t"}:      "t tonne tonnes ton tons tonnen",
	{"data", "kb"}:     "kb kib kilobyte kilobytes",
	{"data", "mb"}:     "mb mib megabyte megabytes",
	{"data", "gb"}:     "gb gib gigabyte gigabytes",
}

var unitOf = func() map[string][2]string {
	out := map[string][2]string{}
	for unit, names := range unitNames {
		for name := range strings.FieldsSeq(names) {
			out[name] = unit
		}
	}
	return out
}()

// rates are adverbs for "each day" and the like.
var rates = map[string]string{
	"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annual": "year", "annually": "year", "annum": "year",
	"täglich": "day", "wöchentlich": "week", "monatlich": "month", "jährlich": "year", "mensuel": "month", "annuel": "year", "mensual": "month", "anual": "year",
}

// counts are what a number in words comes to.
var counts = map[string]string{
	"thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20",
	"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90", "hundred": "100",
}

var (
	withoutMarks = strings.NewReplacer(",", "", ".", "")

	eachWord = wordSet("a an per each every pro im jede jeden jedes par al por cada chaque")
	between  = wordSet("working calendar full whole consecutive paid business further more")
)

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// measureWords splits a text into its numbers, with the marks inside them, its words and its signs of money. An expression took most of the
// time of judging an answer.
func measureWords(s string) []string {
	var out []string
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case isDigit(r):
			for size < len(s) && (isDigit(rune(s[size])) || (s[size] == '.' || s[size] == ',') && size+1 < len(s) && isDigit(rune(s[size+1]))) {
				size++
			}
			out = append(out, s[:size])
		case unicode.IsLetter(r):
			if size = strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }); size < 0 {
				size = len(s)
			}
			out = append(out, s[:size])
		case strings.ContainsRune("£$€", r):
			out = append(out, s[:size])
		}
		s = s[size:]
	}
	return out
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// measuresOf returns the measures in a text.
func measuresOf(s string) []measure {
	var out []measure
	words := measureWords(strings.ToLower(s))
	at := func(i int) string {
		if i < 0 || i >= len(words) {
			return ""
		}
		return words[i]
	}
	for i, w := range words {
		if u, ok := rates[w]; ok {
			out = append(out, measure{perEach, u, "time"})
			continue
		}
		u, ok := unitOf[w]
		if n := number(at(i + 1)); ok && u[0] == "money" && len([]rune(w)) == 1 && n != "" {
			out = append(out, measure{n, u[1], u[0]}) // £5
			continue
		}
		if !ok {
			continue
		}
		before := at(i - 1)
		if between[before] {
			before = at(i - 2)
		}
		switch n := number(before); {
		case n != "":
			out = append(out, measure{n, u[1], u[0]})
		case u[0] == "time" && eachWord[before]:
			out = append(out, measure{perEach, u[1], u[0]})
		}
	}
	return out
}

// number is a number as digits without marks between thousands, and nothing if the word is none.
func number(w string) string {
	if w == "" {
		return ""
	}
	if n, ok := numerals[w]; ok {
		return n
	}
	if n, ok := counts[w]; ok {
		return n
	}
	if w[0] < '0' || w[0] > '9' {
		return ""
	}
	return withoutMarks.Replace(w)
}

// measured returns the measures in each sentence. It remembers them.
func (p *judged) measured() [][]measure {
	if p.measures == nil {
		p.measures = make([][]measure, len(p.texts))
		for i, s := range p.texts {
			p.measures[i] = measuresOf(s)
		}
	}
	return p.measures
}

// mismeasured reports whether a claim gives a number or a rate that the passages give too, but in another unit of the same kind.
func mismeasured(claim string, words []claimed, passages []*judged) bool {
	said := measuresOf(claim)
	if len(said) == 0 {
		return false
	}
	var there, close []measure
	for _, p := range passages {
		for i, found := range p.measured() {
			there = append(there, found...)
			if len(found) > 0 && p.share(i, words) >= nearShare {
				close = append(close, found...)
			}
		}
	}
	for _, m := range said {
		known, other := false, false
		for _, t := range there {
			known = known || t.unit == m.unit && (t.number == m.number || m.number == perEach) // "every six months" may be twice a year
			other = other || m.number != perEach && t.number == m.number && t.kind == m.kind && t.unit != m.unit
		}
		for _, t := range close {
			other = other || m.number == perEach && t.number == perEach && t.unit != m.unit
		}
		if other && !known {
			return true
		}
	}
	return false
}
