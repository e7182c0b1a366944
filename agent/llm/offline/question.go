package offline

import (
	"strings"
	"unicode"

	"github.com/footnote/footnote/text"
)

// kind says what a question asks for.
type kind int

const (
	kindFind       kind = iota // what documents say
	kindEmpty                  // nothing: it has no letter and no digit
	kindTalk                   // nothing: a greeting or thanks
	kindArithmetic             // the value of an expression
	kindSummary                // what a document is about
	kindListing                // which documents there are
	kindOpening                // that a document be shown
	kindFurther                // more of what was answered before
	kindItems                  // all that documents hold of a kind
	kindComparison             // what two documents say, side by side
	kindChanges                // what differs between two versions
)

var (
	talk = lazily(
		`(?i)^((hello|hi|hey|hallo|hola|bonjour|ciao|good (morning|afternoon|evening|day)|guten ` +
			`(tag|morgen)|thanks?|thank you|thx|danke|merci|gracias|bye|goodbye|ok|okay|great|cool|nice|who are ` +
			`you|what are you|how are you|what can you do|can you help me|help)( (there|you|very much|a lot|so ` +
			`much|again|footnote|everyone))*([\s!.?,:)]+|$))+$`,
	)
	gratitude = lazily(`(?i)^(thank|thx|danke|merci|gracias|ok|great|cool|nice|bye|goodbye)`)
	listing   = lazily(
		`(?i)^(?:please |can you |could you )*(?:list|show|which|what|how many)(?: me)?(?: all)?(?: of)?(?: the| my| ` +
			`our)? (?:documents?|files?|library)(?: (?:do (?:i|we|you) have|have i|(?:are|is) (?:there|available|in ` +
			`(?:the |my |our )?library)|can you (?:see|read)))?[\s?.!]*$`,
	)
	pointsBack = lazily(
		`(?i)\b(it|its|they|them|their|those|these|this|that|he|she|his|her|one|ones|es|sie|ihn|ihm|er|diese[rsnm]?|` +
			`davon|dazu|elle|ils?|celui|celle|ello|eso|esto)\b`,
	)

	sumWords = strings.NewReplacer(
		" plus ", " + ", " minus ", " - ", " times ", " * ", " multiplied by ", " * ", " divided by ", " / ", " over ",
		" / ", "×", "*", "÷", "/", "−", "-", " to the power of ", " ^ ", " squared", "^2",
	)
	// A currency does not change the result.
	percentOf = lazily(
		`(?i)(\d+(?:\.\d+)?) ?(?:%|per ?cent) of [£$€¥]?(\d[\d,]*(?:\.\d+)?)` +
			`(?: ?(?:pounds|dollars|euros?|yen|francs|gbp|usd|` +
			`eur|jpy|chf)\b)?`,
	)
	sumLead = lazily(
		`(?i)^(?:please |can you |could you )*(?:what(?:'s| is| does)|how much ` +
			`(?:is|are)|calculate|compute|evaluate|work out)?\s*`,
	)
	sumAside = lazily(`(?i)(?:,? (?:for me|please))+$`)
	sumShape = lazily(
		`^[\d\s.,+\-*/^()%]*(?:(?:sqrt|pow|log10|log|sin|cos|tan|abs|round|min|max|sum|pi|e)\b[\d\s.,+\-*/^()%]*)*$`,
	)
	sumNeeds = lazily(
		`\d\s*(?:[+\-/^%]|\*{1,2})\s*[\d(]|[)]\s*[+\-*/^]|(sqrt|pow|log10|log|sin|cos|tan|abs|round|min|max|sum)\s*\(`,
	)
	isoDate    = lazily(`^\d{4}-\d{1,2}-\d{1,2}$`)
	thousands  = lazily(`(\d),(\d{3})\b`)
	plainRange = lazily(`^\d{4}\s*-\s*\d{4}$`)
)

// classify says what a question asks for, and of what: the expression, or the document. The order matters: a sum may
// look like a name, and a name like a request. Each form has to fit the whole question; what none fits is searched for.
func classify(q string) (kind, string) {
	q = strings.Join(strings.Fields(q), " ")
	if strings.IndexFunc(q, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		return kindEmpty, ""
	}
	if talk().MatchString(q) {
		return kindTalk, ""
	}
	if text.Further.MatchString(q) {
		return kindFurther, ""
	}
	if e := expression(q); e != "" {
		return kindArithmetic, e
	}
	if name := toOpen(q); name != "" {
		return kindOpening, name
	}
	if listing().MatchString(q) {
		return kindListing, ""
	}
	// Requests come last: their examples leave much room for what is meant.
	if k, about := readRequest(q); k != kindFind {
		return k, documentNamed(about)
	}
	return kindFind, ""
}

// goesOn reports whether a question is about nothing by itself.
func goesOn(q string) bool {
	k, _ := classify(q)
	return k == kindFurther || k == kindTalk || k == kindEmpty || k == kindArithmetic || aboutFootnote(q)
}

// expression returns the sum that a question consists of, or nothing. Words for operations become signs first; then the
// whole has to be made of numbers, signs and known functions, and have at least one operation. A day and a range of
// years look like differences and are none.
func expression(q string) string {
	e := strings.TrimRight(
		sumAside().ReplaceAllString(strings.TrimRight(sumLead().ReplaceAllString(q, ""), " ?=.!"), ""), " ?=.!",
	)
	e = percentOf().ReplaceAllString(e, "$1 / 100 * $2")
	e = sumWords.Replace(e)
	// Twice, as neighbouring groups share a digit and are not found in one pass.
	e = thousands().ReplaceAllString(thousands().ReplaceAllString(e, "$1$2"), "$1$2")
	if !sumShape().MatchString(e) || !sumNeeds().MatchString(e) || isoDate().MatchString(e) ||
		plainRange().MatchString(e) && e == q {
		return ""
	}
	return strings.TrimSpace(e)
}

var fillers = lazily(
	`(?i)^(?:me |the |this |that |these |my |our |it\b|for me |document |file |report named |contents? of |` +
		`all (?:the |my ` +
		`)?)+|\b(?:for me|please|document|zusammen|` + inPieces + `)\b|[?.!"“”„]+$|^["“„]`,
)

// documentNamed takes the words around a document's name away. Fillers may stand inside one another, hence three times.
func documentNamed(s string) string {
	for range 3 {
		s = strings.TrimSpace(fillers().ReplaceAllString(strings.TrimSpace(s), ""))
	}
	return s
}
