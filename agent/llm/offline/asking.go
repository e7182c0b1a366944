package offline

import (
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/text"
)

// queryTool asks tables.
const queryTool = "query_table"

// mostCellTerms is how many terms a cell has at most that names what a row is about; a longer one is a text.
const mostCellTerms = 5

// filter is what a question says of one column.
type filter struct {
	column string
	values []string // of cells
	whole  bool     // the values are whole cells, else parts of them
	not    bool     // the question says that it is otherwise
}

// asking is a question to a table, as far as its words say one.
type asking struct {
	function string // of query_table; empty: the rows are asked for
	word     string // of the question, that asks for it
	truth    bool   // the question names a column that says yes or no
	column   int    // of the table, that is computed; -1: none
	filters  []filter
}

// asksTable returns the call that computes what a question asks for of the table that its best quote is a row of. It
// needs a word that asks for a count, a total, a mean or an extreme, or a word that the words of a row can't answer: a
// negation, or the name of a column that says yes or no. Every other word of the question must name a column, a cell,
// or the table itself: of what it can't express nothing is computed. It asks once in a run, and never a table of which
// the head is uncertain, or of a text that came with the question: docs/decisions/offline.md.
func (t turn) asksTable(a answer) (step, bool) {
	if len(a.quotes) == 0 || !t.has(queryTool) || len(t.of(queryTool)) > 0 || len(t.given()) > 0 {
		return step{}, false
	}
	best := a.pile.units[a.quotes[0].first]
	if best.row == nil || best.row.table.unsure || best.row.table.head == nil {
		return step{}, false
	}
	var rows []unit
	for _, u := range a.pile.units {
		if a.pile.sameTable(best, u) && !u.names {
			rows = append(rows, u)
		}
	}
	wanted, ok := readAsking(t.question, a.words, best.row.table, rows, a.pile.around[best.source])
	if !ok {
		return step{}, false
	}
	return wanted.call(a.pile.sources[best.source], best.row.table.head), true
}

// readAsking reads a question as one to a table with such rows. around are the terms of the names of the table. Each
// word is tried in this order: a cell of one column, the name of a column, a word that asks, a small word, the table's
// name; the first word that is none of them ends it. A column that says yes or no becomes a filter by being named: “is
// paid” is Paid = yes. What has to be computed decides at the end which column it is computed of.
func readAsking(question string, words []word, t *table, rows []unit, around map[string]bool) (asking, bool) {
	tokens := tokensOf(question)
	a := asking{column: -1}
	a.function, a.word = functionOf(tokens)
	asked, small := tokensOf(a.word), text.SmallWords(question)
	var named []int
	// The first case that a word fits says what it is for; none ends the reading, as a total that leaves a condition
	// out would look right.
	for _, w := range words {
		if w.borrowed {
			continue
		}
		typed := text.Fold(w.typed)
		column, values := cellsWith(w, words, rows)
		switch {
		case column >= 0:
			f := filter{column: t.head[column], values: values.texts, whole: values.whole, not: negated(tokens, typed)}
			if f.not && !f.whole {
				return a, false
			}
			a.filters = addFilter(a.filters, f)
		case t.columnOf(w) >= 0:
			c := t.columnOf(w)
			positive, negative, ok := truthOf(rows, c)
			if !ok {
				named = append(named, c)
				break
			}
			f := filter{column: t.head[c], values: positive, whole: true, not: negated(tokens, typed)}
			if len(positive) == 0 {
				f.values, f.not = negative, !f.not
			}
			a.filters, a.truth = addFilter(a.filters, f), true
		case slices.Contains(asked, typed), slices.Contains(idle, typed), small(typed), w.in(around) > 0:
		default:
			return a, false
		}
	}
	// Without a condition and without a column the question is about the table as a whole, which quotes answer.
	if len(a.filters) == 0 && len(named) == 0 || a.leavesOut(tokens, rows) {
		return a, false
	}
	if a.function == "" {
		return a, a.truth || slices.ContainsFunc(a.filters, func(f filter) bool { return f.not })
	}
	if a.function == "count" {
		return a, !slices.ContainsFunc(named, func(c int) bool { return numbersIn(rows, c) })
	}
	a.column = t.amount(rows, named)
	return a, a.column >= 0
}

// leavesOut reports whether a question has a whole cell that is no filter: May is a small word, and a month.
func (a asking) leavesOut(tokens []string, rows []unit) bool {
	for _, r := range rows {
		for _, cell := range cellsOf(r.text) {
			said := text.Fold(cell)
			if cell != "" && slices.Contains(tokens, said) && !slices.ContainsFunc(a.filters, func(f filter) bool {
				return slices.ContainsFunc(f.values, func(v string) bool { return text.Fold(v) == said })
			}) {
				return true
			}
		}
	}
	return false
}

// foundCells are the cells of one column that have a word.
type foundCells struct {
	texts []string
	whole bool
}

// cellsWith finds the one column whose cells have a word; -1 if there is none, or more than one. The cells are whole
// values when the question has all of their terms. A word in two columns could mean either, so it means none.
func cellsWith(w word, words []word, rows []unit) (column int, cells foundCells) {
	column = -1
	for _, r := range rows {
		texts := cellsOf(r.text)
		for c, terms := range r.row.cells {
			if len(terms) == 0 || len(terms) > mostCellTerms || w.in(terms) < 1 {
				continue
			}
			if column >= 0 && column != c {
				return -1, foundCells{}
			}
			column = c
			whole := true
			for term := range terms {
				whole = whole && slices.ContainsFunc(words, func(o word) bool { return o.terms[term] == 1 })
			}
			if whole {
				cells.whole = true
				cells.texts = text.AppendNew(cells.texts, texts[c])
			}
		}
	}
	if column >= 0 && !cells.whole {
		cells.texts = []string{w.typed}
	}
	return column, cells
}

// addFilter adds what is said of a column to what was said of it before. Values of one column are alternatives: a
// question about Berlin and Munich means rows of both.
func addFilter(all []filter, f filter) []filter {
	i := slices.IndexFunc(all, func(o filter) bool { return o.column == f.column && o.whole == f.whole })
	if i < 0 {
		return append(all, f)
	}
	for _, v := range f.values {
		all[i].values = text.AppendNew(all[i].values, v)
	}
	all[i].not = all[i].not || f.not
	return all
}

// columnOf is the column that a word names best, -1 if it names none, or more than one as well.
func (t *table) columnOf(w word) int {
	found, best := -1, 0.0
	for c, terms := range t.has {
		switch worth := w.in(terms); {
		case worth > best:
			found, best = c, worth
		case worth == best:
			found = -1
		}
	}
	return found
}

// amount is the column that is to be computed: the one with numbers that the question names, else the only one there
// is; -1 without one.
func (t *table) amount(rows []unit, named []int) int {
	for _, c := range named {
		if numbersIn(rows, c) {
			return c
		}
	}
	found := -1
	for c := range t.head {
		if numbersIn(rows, c) {
			if found >= 0 {
				return -1
			}
			found = c
		}
	}
	return found
}

// numbersIn reports whether the cells of a column are numbers, as far as they are filled: amounts rather than codes,
// days and years, which nobody adds up. Half of the filled cells or less are no column of numbers.
func numbersIn(rows []unit, column int) bool {
	filled, numbers := 0, 0
	for _, r := range rows {
		cells := cellsOf(r.text)
		if column >= len(cells) || cells[column] == "" {
			continue
		}
		cell := cells[column]
		if filled++; isNumber(cell) && strings.Count(cell, "-")+strings.Count(cell, "/") < 2 &&
			strings.Count(cell, ".") < 2 {
			numbers++
		}
	}
	return 2*numbers > filled
}

// call is the question as a call of the tool. The sheet is the last part of the section before the column heads, where
// there is one. The largest and the smallest are asked for as a row too, by order and limit, since the row says more
// than its number.
func (a asking) call(src source, head []string) step {
	input := map[string]any{"document": src.document.DocID}
	if at := strings.Split(src.Section, "›"); len(at) > 0 {
		if columnsOf(src.Section) != nil {
			at = at[:len(at)-1]
		}
		if n := len(at); n > 0 && strings.TrimSpace(at[n-1]) != "" {
			input["sheet"] = strings.TrimSpace(at[n-1])
		}
	}
	var where []any
	for _, f := range a.filters {
		where = append(where, f.conditions()...)
	}
	if len(where) > 0 {
		input["where"] = where
	}
	if a.function == "" {
		input["limit"] = mostAsked
		return step{queryTool, input}
	}
	compute := map[string]any{"function": a.function}
	if a.column >= 0 {
		compute["column"] = head[a.column]
		if a.function == "min" || a.function == "max" {
			input["order_by"] = []any{map[string]any{"column": head[a.column], "descending": a.function == "max"}}
			input["limit"] = 1
		}
	}
	input["compute"] = []any{compute}
	return step{queryTool, input}
}

// conditions are a filter in the words of the tool.
func (f filter) conditions() (out []any) {
	if f.whole && !f.not && len(f.values) > 1 {
		return []any{map[string]any{"column": f.column, "op": "in", "value": f.values}}
	}
	op := "contains"
	if f.whole && f.not {
		op = "≠"
	} else if f.whole {
		op = "="
	}
	for _, v := range f.values {
		out = append(out, map[string]any{"column": f.column, "op": op, "value": v})
	}
	return out
}

// tokensOf are the words of a text in plain small letters.
func tokensOf(s string) []string {
	return strings.FieldsFunc(text.Fold(s), func(r rune) bool {
		return strings.ContainsRune(" \t\n.,;:!?¿¡\"“”„«»()'’", r)
	})
}

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

// functions are the words that ask for what can be computed of many rows, in the languages that documents are most
// often in, folded. They are closed: a question with none of them is answered with quotes.
var functions = []struct {
	name    string
	phrases string
}{
	{"sum", "total|in total|sum|altogether|gesamt|gesamtsumme|insgesamt|summe|zusammen|somme|au total|suma|totale|" +
		"somma|soma|totaal|som|lacznie|razem|сумма|всего|toplam"},
	{"mean", "average|on average|mean|durchschnitt|durchschnittlich|mittelwert|moyenne|en moyenne|promedio|media|" +
		"en promedio|in media|medio|medie|gemiddelde|gemiddeld|srednia|srednio|среднее|средняя|средний|ortalama"},
	{"max", "highest|largest|biggest|most expensive|maximum|hochste|hochster|hochsten|grosste|grossten|teuerste|plus " +
		"eleve|plus elevee|plus grand|plus grande|maximal|mas alto|mas alta|mayor|maximo|piu alto|piu alta|massimo|" +
		"mais alto|mais alta|maior|hoogste|grootste|najwyzsza|najwyzszy|najwieksza|наибольший|наибольшая|" +
		"максимальная|en yuksek|en buyuk"},
	{"min", "lowest|smallest|cheapest|minimum|niedrigste|niedrigster|niedrigsten|kleinste|gunstigste|plus bas|plus " +
		"basse|plus petit|plus petite|minimal|mas bajo|mas baja|menor|minimo|piu basso|piu bassa|minimo|mais baixo|" +
		"mais baixa|laagste|kleinste|najnizsza|najnizszy|najmniejsza|наименьший|наименьшая|минимальная|en dusuk|" +
		"en kucuk"},
	{"count", "how many|number of|wie viele|wieviele|anzahl|combien de|combien d|nombre de|cuantos|cuantas|quanti|" +
		"quante|quantos|quantas|hoeveel|aantal|ile|liczba|сколько|количество|kac"},
}

// Words of the same languages that turn what they stand beside around, and what stands in columns that say yes or no.
var (
	negations = strings.Fields("not n't no without nicht kein keine keinen noch pas non sin nao senza niet geen " +
		"nie bez не без degil haven hasn didn isn aren wasn weren")
	// words beside a function that ask how large it is, and say nothing of the rows
	idle = strings.Fields("much large high list show give hoch gross betragt lautet nenne zeige eleve montre cuanto " +
		"cuanta asciende quanto quanta ammonta bedraagt hoeveel wynosi ile сколько составляет kac kadar")
	yes = strings.Fields("yes y true x ✓ ✔ ja wahr oui vrai si verdadero vero sim verdadeiro tak да evet")
	no  = strings.Fields("no n false - – ✗ nein falsch non faux falso nao nee nie нет hayir")
)

// functionOf is what a question asks to be computed, with the words that ask for it; empty for none. The longest phrase
// of a function counts, so that “in total” is taken off the question whole. Functions are tried in the order of the
// list.
func functionOf(tokens []string) (name, words string) {
	said := " " + strings.Join(tokens, " ") + " "
	for _, f := range functions {
		for phrase := range strings.SplitSeq(f.phrases, "|") {
			if strings.Contains(said, " "+phrase+" ") && len(phrase) > len(words) {
				name, words = f.name, phrase
			}
		}
		if name != "" {
			return name, words
		}
	}
	return "", ""
}

// negated reports whether a negation stands right before a word, or one word before that. A word is met by its
// beginning, as typed words come without their endings here.
func negated(tokens []string, word string) bool {
	at := slices.IndexFunc(tokens, func(t string) bool { return strings.HasPrefix(word, t) })
	return at >= 0 && slices.ContainsFunc(tokens[max(0, at-2):at], func(t string) bool {
		return slices.Contains(negations, t)
	})
}

// truthOf tells which of the cells of a column say yes and which no, each once; ok if all that are filled do.
func truthOf(rows []unit, column int) (positive, negative []string, ok bool) {
	for _, r := range rows {
		cells := cellsOf(r.text)
		if column >= len(cells) || cells[column] == "" {
			continue
		}
		switch said := text.Fold(cells[column]); {
		case slices.Contains(yes, said):
			positive = text.AppendNew(positive, cells[column])
		case slices.Contains(no, said):
			negative = text.AppendNew(negative, cells[column])
		default:
			return nil, nil, false
		}
	}
	return positive, negative, len(positive)+len(negative) > 0
}
