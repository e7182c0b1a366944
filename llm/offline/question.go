package offline

import (
	"slices"
	"strings"
	"unicode"

	"footnote/corpus/text"
)

// kind says which rules a question falls under.
type kind int

const (
	kindDocuments kind = iota // answered from what documents say
	kindTalk                  // a greeting or thanks
	kindArithmetic
	kindSummary
	kindListing   // of the library itself
	kindCatalogue // what the list of documents says of one of them
	kindOpening   // a document is to be shown
	kindFurther   // more of what was answered before
	kindEmpty
)

var (
	talk = lazily(
		`(?i)^(hello|hi|hey|hallo|hola|bonjour|ciao|good (morning|afternoon|evening|day)|guten ` +
			`(tag|morgen)|thanks?|thank you|thx|danke|merci|gracias|bye|goodbye|ok|okay|great|cool|nice|who are ` +
			`you|what are you|what can you do|help)( (there|you|very much|a lot|so ` +
			`much|again|footnote|everyone))*[\s!.?,:)]*$`,
	)
	gratitude = lazily(`(?i)^(thank|thx|danke|merci|gracias|ok|great|cool|nice|bye|goodbye)`)

	summarise = lazily(
		`(?i)^(?:please |can you |could you |give me )*(?:summari[sz]e|tl;?dr|sum up|(?:an?|the|a short|a brief)? ` +
			`?(?:summary|overview|gist|outline) (?:of|for|about)|what(?:'s| is| does) (?:the )?(.+?) about[?.! ` +
			`]*$|fasse|résume[rz]?|resume)\s*(.*)$`,
	)
	listing = lazily(
		`(?i)^(?:please |can you |could you )*(?:list|show|find|which|what|how many)(?: me)?(?: all)?(?: of)?(?: ` +
			`the| my| our)?(?: (pdf|markdown|html|text))? (?:documents?|files?|pdfs?|library|papers?)\b(.*)$`,
	)
	ownership = lazily(
		`(?i)^\s*(?:(?:are|is) (?:of (?:the )?(?:type|format) )?(?:an? )?(?:pdf|markdown|html|text)s?(?: files?| ` +
			`documents?)?|do (?:i|we|you) have|have i|are (?:there|available|here|in (?:the |my |our ` +
			`)?(?:library|collection|footnote))|can you (?:see|read|use)|(?:i|we) (?:have|added|uploaded)|is ` +
			`there|exist|in (?:the |my |our )?library)?[\s?.!]*$`,
	)
	byYear = lazily(
		`(?i)^\s*(?:are |were |is )?(?:written |published |dated )?(?:from|in|of)(?: the year)? ` +
			`((?:19|20)\d{2})[\s?.!]*$`,
	)
	byAuthor = lazily(`(?i)^\s*(?:are |were |is )?(?:written |authored )?by ([\p{L}][\p{L} .'-]+?)[\s?.!]*$`)

	sumWords = strings.NewReplacer(
		" plus ", " + ", " minus ", " - ", " times ", " * ", " multiplied by ", " * ", " divided by ", " / ", " over ",
		" / ", "×", "*", "÷", "/", "−", "-", " to the power of ", " ^ ", " squared", "^2",
	)
	percentOf = lazily(`(?i)(\d+(?:\.\d+)?) ?(?:%|percent) of (\d+(?:\.\d+)?)`)
	sumLead   = lazily(
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

// classify says which rules a question falls under, and its subject: the expression, or what is to be summarised or
// listed.
func classify(q string) (kind, string) {
	q = strings.Join(strings.Fields(q), " ")
	if strings.IndexFunc(q, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		return kindEmpty, ""
	}
	if talk().MatchString(q) {
		return kindTalk, ""
	}
	if further().MatchString(q) {
		return kindFurther, ""
	}
	if e := expression(q); e != "" {
		return kindArithmetic, e
	}
	if name := toOpen(q); name != "" {
		return kindOpening, name
	}
	if m := summarise().FindStringSubmatch(q); m != nil {
		return kindSummary, subject(m[1] + m[2])
	}
	if m := listing().FindStringSubmatch(q); m != nil {
		if ownership().MatchString(m[2]) || byAuthor().MatchString(m[2]) || byYear().MatchString(m[2]) {
			return kindListing, m[2]
		}
	}
	if _, ok := catalogue(q); ok {
		return kindCatalogue, q
	}
	return kindDocuments, ""
}

// expression returns the sum that a question consists of, or nothing.
func expression(q string) string {
	e := strings.TrimRight(
		sumAside().ReplaceAllString(strings.TrimRight(sumLead().ReplaceAllString(q, ""), " ?=.!"), ""), " ?=.!",
	)
	e = percentOf().ReplaceAllString(e, "$1 / 100 * $2")
	e = sumWords.Replace(e)
	e = thousands().ReplaceAllString(thousands().ReplaceAllString(e, "$1$2"), "$1$2")
	if !sumShape().MatchString(e) || !sumNeeds().MatchString(e) || isoDate().MatchString(e) ||
		plainRange().MatchString(e) && e == q {
		return ""
	}
	return strings.TrimSpace(e)
}

var fillers = lazily(
	`(?i)^(?:me |the |this |that |my |our |it\b|for me |document |file |report named |contents? of |zusammen |all ` +
		`(?:the |my )?)+|\b(?:for me|please|in (?:a few|three|two|five|\d+) ` +
		`(?:words|sentences|lines|points)|document|zusammen)\b|[?.!"“”„]+$|^["“„]`,
)

// subject takes the words around a document's name away.
func subject(s string) string {
	for range 3 {
		s = strings.TrimSpace(fillers().ReplaceAllString(strings.TrimSpace(s), ""))
	}
	return s
}

var (
	pointsBack = lazily(
		`(?i)\b(it|its|they|them|their|those|these|this|that|he|she|his|her|there|one|ones|same|both|former|latter|` +
			`more|else|also|davon|dazu|darüber|mehr|es|sie|diese[rs]?|elle|ils?|celui|ello|eso)\b`,
	)
	onward = lazily(
		`(?i)^(and|what about|how about|why|how so|tell me more|more|go on|continue|explain|und|et|y|warum|pourquoi)\b`,
	)
	ordinal = lazily(
		`(?i)\b(first|1st|second|2nd|third|3rd|fourth|4th|fifth|5th|last)(?: ` +
			`(?:one|document|file|point|item|option|result|step|answer|sentence|part|of ` +
			`(?:them|these|those))\b|\s*[?.!]*$)`,
	)
	ordinals = map[string]int{
		"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3, "fifth": 4, "5th": 4,
		"last": -1,
	}
	namesDocument = lazily(`(?i)\b(document|file|report|paper)\b`)
	marker        = lazily(`\s*\[(?:Source )?\d+\]`)
	itemStart     = lazily(`(?m)^\s*(?:[-*•]|\d+[.)])\s+`)
)

// outage is said with a word that elsewhere says nothing: "the server is down".
var outage = lazily(`(?i)\b(is|are|was|were|goes|go|went) (?:down|offline|dead)\b`)

// query is what is searched for.
type query struct {
	text     string
	words    []text.Word // of the question itself
	borrowed []text.Word // of what a follow-up question points back to
	names    []text.Word // words that must be somewhere: names, years, numbers, quoted phrases
	quoted   []string
	follows  bool
	vague    bool // words holds only words that say nothing about the subject
}

// understand makes a query of a question; one that points back borrows words of what was said before.
func understand(t turn) query {
	q := query{quoted: text.Phrases(t.question)}
	words, only := contentWords(outage().ReplaceAllString(t.question, "$1 fails"))
	q.words, q.vague = words, !only
	q.names = names(t.question, q.words)
	back := pointsBack().MatchString(t.question) || onward().MatchString(t.question) || refersToItem(t.question)
	if len(t.earlier) > 0 && (back && len(q.names) == 0 || len(q.words) < 2 || q.vague) {
		q.follows = true
		q.borrowed = borrow(t, q.words)
	}
	q.text = searchText(t.question, q)
	return q
}

// refersToItem reports whether a question means a part of the answer before it: "the second one", but not "does it
// last?".
func refersToItem(q string) bool {
	m := ordinal().FindString(q)
	return m != "" &&
		(!strings.HasPrefix(strings.ToLower(m), "last") || strings.Contains(strings.ToLower(q), "the last"))
}

// borrow returns the words that a follow-up question stands on.
func borrow(t turn, own []text.Word) []text.Word {
	var before strings.Builder
	last := t.earlier[len(t.earlier)-1]
	if m := ordinal().FindStringSubmatch(t.question); refersToItem(t.question) {
		meant := item(last.answer, ordinals[strings.ToLower(m[1])])
		if d, ok := t.pastMeant(); ok && namesDocument().MatchString(t.question) {
			meant = d.Title
		}
		before.WriteString(meant + " ")
	}
	for i := len(t.earlier) - 1; i >= 0 && before.Len() < 400; i-- {
		question := t.earlier[i].question
		if k, _ := classify(question); k == kindDocuments || k == kindSummary {
			before.WriteString(question + " ")
			if !onward().MatchString(question) && !pointsBack().MatchString(question) {
				break
			}
		}
	}
	var out []text.Word
	words, _ := contentWords(before.String())
	for _, w := range words {
		if !slices.ContainsFunc(own, func(o text.Word) bool { return o.Terms[0] == w.Terms[0] }) && len(out) < 10 {
			out = append(out, w)
		}
	}
	return out
}

// item returns the nth item of an answer, or its nth sentence if it has no items.
func item(answer string, n int) string {
	answer = marker().ReplaceAllString(answer, "")
	var items []string
	if starts := itemStart().FindAllStringIndex(answer, -1); len(starts) > 1 {
		for _, s := range starts {
			line, _, _ := strings.Cut(answer[s[1]:], "\n")
			items = append(items, line)
		}
	} else {
		runes := []rune(answer)
		for _, s := range text.Sentences(answer) {
			items = append(items, string(runes[s[0]:s[1]]))
		}
	}
	if n < 0 {
		n = len(items) - 1
	}
	if n < 0 || n >= len(items) {
		return ""
	}
	return items[n]
}
