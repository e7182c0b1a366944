package offline

import (
	"strings"
)

// expected is the form that an answer should have.
type expected struct {
	form  pattern // nil: any
	exact bool    // one fact is asked for
	many  bool    // a list, steps or a comparison is asked for
	what  string  // "what is X": X
}

var forms = []struct{ question, form pattern }{
	{lazily(
		`(?i)\bhow (much|expensive)\b|\b(cost|price|fee|salary|budget|rent)s?\b|\bcombien\b|\bwie ?viel\b|\bcuánto\b`,
	),
		lazily(`(?i)[$€£¥]\s?\d|\d[\d.,]*\s?([$€£¥%]|eur|usd|gbp|euros?|dollars?|pounds?|percent|per\b)|\d`)},
	{lazily(
		`(?i)\bhow (many|often|far|tall|high|wide|large|big|deep|heavy|fast|hot|cold)\b|\b(number|amount|percentage|` +
			`length|height|width|size|area|temperature|limit) of\b|\bwie (viele|oft|hoch|groß)\b`,
	),
		lazily(
			`(?i)\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|` +
				`once|twice|daily|weekly|monthly|yearly|annually|every|each|ein|zwei|drei|vier|fünf|deux|trois|dos|` +
				`tres)\b`,
		)},
	{lazily(`(?i)\bhow (long|old)\b|\bwie (lange?|alt)\b|\bkündigungsfrist\b|\bfrist\b`),
		lazily(
			`(?i)\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|a|an|einem?r?|zwei|drei|vier|sechs) ` +
				`(to \d+ |or \d+ |bis \d+ )?(business |working |calendar ` +
				`)?(second|minute|hour|day|week|month|year|decade|sekunde|minute|stunde|tag|woche|monat|jahr)(s|e|en|` +
				`n)?\b`,
		)},
	{lazily(`(?i)\bwhen\b|\b(what|which) (year|date|day|time|month)\b|\bdeadline\b|\bwann\b|\bquand\b|\bcuándo\b`),
		lazily(
			`(?i)\b(1[5-9]|20)\d\d\b|\d{1,2}[:.]\d{2}|\b\d{1,2}(st|nd|rd|th)\b|\b(jan|feb|mar|apr|may|jun|jul|aug|` +
				`sep|oct|nov|dec)[a-z]*\b|\b(mon|tues|wednes|thurs|fri|satur|sun)day|\b(day|week|month|year)s?\b|` +
				`\b(januar|februar|märz|mai|juni|juli|oktober|dezember|montag|janvier|février|mars|avril|juin|` +
				`juillet|août|enero|marzo|abril|mayo|junio|julio)\b`,
		)},
	{lazily(`(?i)\bwho(m|se)?\b|\bwer\b|\bwem\b|\bqui\b|\bquién\b`),
		lazily(
			`[\p{Ll},;:)]\s(Mr|Mrs|Ms|Dr|Prof)?\.?\s?\p{Lu}\p{Ll}+|^\p{Lu}[\p{Ll}'-]+ ` +
				`\p{Lu}[\p{Ll}'-]+|(?i)\b(manager|director|owner|tenant|landlord|company|department|team|office|` +
				`president|chair|engineer|inspector|author|founder|ltd|inc|gmbh)\b`,
		)},
	{lazily(`(?i)\bwhere\b|\bwo\b|\boù\b|\bdónde\b`),
		lazily(
			`[\p{Ll},]\s\p{Lu}\p{Ll}+|(?i)\b(in|at|on|near|under|behind|beside|inside|street|road|room|floor|` +
				`building|im|am|dans|sur|en)\b`,
		)},
	{lazily(`(?i)\bwhy\b|\breasons?\b|\bwarum\b|\bpourquoi\b|\bpor qué\b`),
		lazily(
			`(?i)\b(because|since|causes?|caused by|due to|so that|in order to|reason|therefore|caused|as a ` +
				`result|to (avoid|prevent|protect|keep|make|ensure)|weil|damit|car|parce)\b`,
		)},
}

var (
	asksMany = lazily(
		`(?i)\b(list|steps?|how (do|can|to|should)|what are|which (are|\w+s ` +
			`(are|do))|reasons|advantages|benefits|compare|difference|types|kinds|requirements|rules|features|tell ` +
			`me (more )?about|describe|everything|explain)\b`,
	)
	asksWhat = lazily(
		`(?i)^(?:what(?: is|'s| are)|define|was ist|qu'est-ce que|qué es)\s+(?:an? |the |ein(?:e)? |de[rs] |das |die ` +
			`|le |la |un )?([\p{L}\d -]{2,40}?)\s*[?.!]*$`,
	)
	definesIt = lazily(`(?i)\b(is|are|means|refers to|stands for|describes|ist|bedeutet|est|es)\b`)
)

func expects(question string) expected {
	var e expected
	for _, f := range forms {
		if f.question().MatchString(question) {
			e.form, e.exact = f.form, true
			break
		}
	}
	if asksMany().MatchString(question) {
		e.many, e.exact = true, false
	}
	if m := asksWhat().FindStringSubmatch(question); m != nil {
		e.what = strings.ToLower(m[1])
	}
	return e
}

// fit returns how well a sentence has the form that the question asks for: 1 is neutral.
func (e expected) fit(sentence, question string) float64 {
	fit := 1.0
	if e.form != nil {
		fit = 0.7
		if e.form().MatchString(sentence) {
			fit = 1.3
		}
	}
	if lower := strings.ToLower(sentence); e.what != "" && strings.Contains(lower, e.what) {
		if i := strings.Index(lower, e.what); i < 8 && definesIt().MatchString(lower[i+len(e.what):]) {
			fit *= 1.3
		}
	}
	if strings.EqualFold(strings.Trim(sentence, "?!. "), strings.Trim(question, "?!. ")) {
		fit = 0 // the question itself
	}
	return fit
}
