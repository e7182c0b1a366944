package offline

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"footnote/corpus/text"
)

// figure is an amount, a date or a year that a sentence states plainly: no range, no guess, and no number that could
// be read in two ways.
type figure struct {
	text  string // as it stands in the sentence
	value string // as calculate takes it
	unit  string // a currency, the stem of what is counted or measured, or one of those below
	per   string // the stem of what it is for one of: "month" of "£90 a month"
	most  bool   // it is a limit: "up to 45 cars"
	from  int    // where it stands
	to    int
}

const (
	unitDate = "date"
	unitYear = "year of the calendar"
)

const (
	monthNames = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|` +
		`oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`
	plainDigit = `\d+(?:[.,]\d+)*`
	scales     = `(?: (?:thousand|million|billion)\b)?`
)

var (
	dayFirst   = lazily(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? (` + monthNames + `)\.? (\d{4})\b`)
	monthFirst = lazily(`(?i)\b(` + monthNames + `)\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b`)
	isoDay     = lazily(`\b(\d{4})-(\d\d)-(\d\d)\b`)
	yearAlone  = lazily(`(?i)\b(?:in|from|of|since|until|by|year|for|(?:` + monthNames +
		`)\.?) ((?:1[5-9]|20)\d\d)\b`)
	yearEnds = lazily(
		`^(?:[.,;:)!?]|$| (?:and|but|by|with|to|when|for|from|as|at|in|on|the|it|was|were|is|after|before|because|or|` +
			`under)\b)`,
	)
	signed     = lazily(`([\p{L}]*[£$€¥]) ?(` + plainDigit + `)(` + scales + `)`)
	currencies = lazily(`(?i)\b(` + plainDigit + `)(` + scales +
		`) ?(€|euros?\b|eur\b|usd\b|dollars?\b|gbp\b|chf\b|(?:swiss )?francs?\b|(?:norwegian |danish |swedish ` +
		`)?(?:crowns?|kroner?|kronor)\b|yen\b)`)
	countedFigure = lazily(`(?i)\b(` + plainDigit + scales + `|(?:` + englishNumbers +
		`)\b)[ -]?((?:(?:square|cubic) )?\p{L}[\p{L}²³]*)`)
	wholeValue  = lazily(`^(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$`)
	twoReadings = lazily(`^[1-9]\d{0,2}\.\d{3}$`)
	hedged      = lazily(
		`(?i)(?:\b(?:about|around|nearly|almost|roughly|approximately|some|over|under|above|below|(?:more|less|` +
			`fewer) than|at least|between|circa|ca\.?|another|extra|additional|further|plus|minus|or|to)|[~≈<>` +
			`–—/+-])\s*$`,
	)
	startsAt = lazily(`(?i)\bfrom\s*$`)
	limited  = lazily(`(?i)\b(?:up to|at most|(?:a )?maximum of|(?:no|not) more than)\s*$`)
	rangeOn  = lazily(`(?i)^(?:\s?[-–—/+]\s?|\s(?:to|or)\s(?:about\s)?)[£$€¥]?\d`)
	spaced   = lazily(`^[\s ]\d{3}\b`)
	perOne   = lazily(
		`(?i)^(?: of [\p{L}-]+(?: [\p{L}-]+)?)?,? ?(?:/ ?|(?:for )?(?:each|every|per|an?|one)\s)((?:square |cubic ` +
			`)?[\p{L}]+)`,
	)
	perTime    = lazily(`(?i)\b(hourly|daily|weekly|monthly|quarterly|yearly|annual|annually)\b`)
	scaled     = lazily(`(?i) (?:thousand|million|billion)\b`)
	relativeTo = lazily(`(?i)^ (?:more|less|fewer|off|extra|cheaper|dearer|higher|lower|above|below|over|under|too|` +
		`for (?:\d|(?:` +
		englishNumbers + `)\b))`)
	// a figure beside them is another one
	changes = lazily(
		`(?i)\b(?:discount\w*|rebates?|refund\w*|sav(?:e[sd]?|ings?)|reduc\w+|increas\w+|rais(?:e[sd]?|ing)|(?:rose|` +
			`fell|rises|falls|dropped|drops|up|down) by|moved|postponed|delayed|planned|last year|penalt\w+|fines?)\b`,
	)
	otherMoney = lazily(`^(?:(?:swiss )?franc|(?:norwegian |danish |swedish )?(?:crown|kron)|chf|yen)`)
	hissing    = lazily(`(?:ch|sh|x|ss)es$`)
	noUnit     = lazily(`(?i)^(?:` + englishNumbers +
		`|hundred|thousand|million|billion|dozen|large|small|big|long|short|heavy|full|whole|paid|working|extra|` +
		`public|different|good|old|young|main|great|little|high|low|wide|red|white|black|green|blue|and|or|of|to|at|` +
		`in|on|by|for|from|per|an?|the|is|are|was|were|times|more|less|fewer|other|further|additional|new|percent|to|` +
		`until|with|than|each|every|(?:` +
		monthNames + `))$`)
	refusing = lazily(
		`(?i)\b(?:not|never|no longer|nor|without|instead of|rather than|used ` +
			`to|formerly|previously|originally|would have|if|provided|unless|except)\b|n['’]t\b`,
	)
)

// englishNumbers are the number words that a sum reads; "one" is left out, as it is said of many things.
const englishNumbers = `two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|` +
	`seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|(?:a|one) hundred`

var numberValues = func() map[string]string {
	m := map[string]string{"a": "1", "an": "1", "one": "1", "a hundred": "100", "one hundred": "100"}
	for i, word := range strings.Split(
		"two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "+
			"eighteen nineteen twenty",
		" ",
	) {
		m[word] = fmt.Sprint(i + 2)
	}
	for i, word := range strings.Split("thirty forty fifty sixty seventy eighty ninety", " ") {
		m[word] = fmt.Sprint(10*i + 30)
	}
	return m
}()

// figuresOf returns what a sentence states plainly, in its order.
func figuresOf(s string) []figure {
	var out []figure
	left := s // what was taken is blanked
	take := func(shape pattern, read func(m []string) (figure, bool)) {
		for _, at := range shape().FindAllStringSubmatchIndex(left, -1) {
			f, ok := read(groups(left, at))
			f.from, f.to = at[0], at[1]
			if f.unit == unitYear {
				f.from = at[2]
			}
			f.text = s[f.from:f.to]
			plain := f.plain(s)
			if f.unit == unitYear && !plain {
				continue // "for 1800 loaves"
			}
			if ok && plain {
				f.most = limited().MatchString(s[:f.from])
				f.per = perUnit(s[f.to:])
				out = append(out, f)
			}
			left = left[:at[0]] + strings.Repeat("_", at[1]-at[0]) + left[at[1]:]
		}
	}
	take(dayFirst, func(m []string) (figure, bool) { return calendarDay(m[3], m[2], m[1]) })
	take(monthFirst, func(m []string) (figure, bool) { return calendarDay(m[3], m[1], m[2]) })
	take(isoDay, func(m []string) (figure, bool) { return figure{unit: unitDate, value: m[0]}, true })
	take(signed, func(m []string) (figure, bool) { return amountOf(m[2], m[3], m[1]) })
	take(currencies, func(m []string) (figure, bool) { return amountOf(m[1], m[2], currency(m[3])) })
	take(yearAlone, func(m []string) (figure, bool) { return figure{unit: unitYear, value: m[1]}, true })
	take(countedFigure, func(m []string) (figure, bool) {
		if noUnit().MatchString(m[2]) {
			return figure{}, false
		}
		number, scale, _ := strings.Cut(m[1], " ")
		if value, ok := numberValues[strings.ToLower(m[1])]; ok {
			number, scale = value, ""
		}
		return amountOf(number, scale, stemOf(m[2]))
	})
	slices.SortFunc(out, func(a, b figure) int { return cmp.Compare(a.from, b.from) })
	return out
}

func groups(s string, at []int) []string {
	out := make([]string, len(at)/2)
	for i := range out {
		if at[2*i] >= 0 {
			out[i] = s[at[2*i]:at[2*i+1]]
		}
	}
	return out
}

// plain reports whether nothing around a figure makes it a guess, a range or a part of another number.
func (f figure) plain(s string) bool {
	left, right := s[:f.from], s[f.to:]
	switch f.unit {
	case unitYear:
		return yearEnds().MatchString(right)
	case unitDate:
		return !rangeOn().MatchString(right)
	}
	if limited().MatchString(left) {
		left = ""
	}
	if startsWithLetter(right) || relativeTo().MatchString(right) { // "£2m", "£5 less"
		return false
	}
	return !hedged().MatchString(left) && !startsAt().MatchString(left) && !rangeOn().MatchString(right) &&
		!spaced().MatchString(right) &&
		!hasDigit().MatchString(lastOf(left)) && !strings.HasPrefix(right, "%")
}

func lastOf(s string) string {
	fields := strings.Fields(s)
	if len(fields) == 0 || strings.HasSuffix(s, ", ") {
		return ""
	}
	return fields[len(fields)-1]
}

func calendarDay(year, month, day string) (figure, bool) {
	n := map[string]int{
		"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11,
		"dec": 12,
	}[strings.ToLower(month[:3])]
	return figure{unit: unitDate, value: fmt.Sprintf("%s-%02d-%02s", year, n, day)}, true
}

// amountOf reads a number that can be read in one way only; scale is "", or a word like million.
func amountOf(number, scale, unit string) (figure, bool) {
	if !wholeValue().MatchString(number) || twoReadings().MatchString(number) {
		return figure{}, false
	}
	if scale = strings.ToLower(strings.TrimSpace(scale)); scale != "" {
		v, ok := new(big.Rat).SetString(strings.ReplaceAll(number, ",", ""))
		if !ok {
			return figure{}, false
		}
		v.Mul(v, big.NewRat(map[string]int64{"thousand": 1e3, "million": 1e6, "billion": 1e9}[scale], 1))
		if !v.IsInt() {
			return figure{}, false
		}
		number = v.Num().String()
	}
	return figure{value: number, unit: unit}, true
}

// currency is one sign or word for each currency.
func currency(said string) string {
	said = strings.ToLower(said)
	switch {
	case strings.HasPrefix(said, "eur"), said == "€":
		return "€"
	case said == "usd", strings.HasPrefix(said, "dollar"):
		return "$"
	case said == "gbp":
		return "£"
	}
	return strings.TrimSuffix(said, "s")
}

func (f figure) money() bool {
	return strings.ContainsAny(f.unit, "£$€¥") || otherMoney().MatchString(f.unit)
}

// perUnit is what a figure is for one of, read from what follows it.
func perUnit(after string) string {
	if m := perOne().FindStringSubmatch(after); m != nil {
		return stemOf(m[1])
	}
	return ""
}

var adjectives = map[string]string{
	"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year",
	"annual": "year", "annually": "year",
}

// perAdjective is the same, read from a word like "monthly".
func perAdjective(s string) string { return adjectives[strings.ToLower(perTime().FindString(s))] }

var timeUnit = lazily(`(?i)^(?:minute|hour|day|week|month|quarter|year)s?$`)

// stemOf is the stem of a word's singular.
func stemOf(word string) string {
	word = strings.ToLower(singular(word))
	if terms := text.Terms(word, "en"); len(terms) > 0 {
		return terms[len(terms)-1]
	}
	return word
}

// singular is one of what a plural names.
func singular(word string) string {
	lower := strings.ToLower(word)
	for _, end := range [][2]string{{"men", "man"}, {"children", "child"}, {"feet", "foot"}, {"people", "person"}} {
		if lower == end[0] || end[0] == "men" && strings.HasSuffix(lower, end[0]) {
			return word[:len(word)-len(end[0])] + end[1]
		}
	}
	switch {
	case len(word) < 4 || !strings.HasSuffix(lower, "s") || strings.HasSuffix(lower, "ss") ||
		strings.HasSuffix(lower, "us"):
		return word
	case strings.HasSuffix(lower, "ies"):
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(lower, "oaves"), strings.HasSuffix(lower, "alves"), strings.HasSuffix(lower, "elves"):
		return word[:len(word)-3] + "f"
	case hissing().MatchString(lower):
		return word[:len(word)-2]
	}
	return word[:len(word)-1]
}
