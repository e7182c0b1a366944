package offline

import (
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// queryTool is the name of the tool that queries tables.
const queryTool = "query_table"

// mostCellTerms is the maximum number of terms of a cell that identifies a row; a longer one is prose.
const mostCellTerms = 5

// filter is a condition of a question on one column.
type filter struct {
	column string
	values []string // of cells
	whole  bool     // the values are whole cells, else substrings
	not    bool     // the condition is negated
}

// tableQuestion is a question that was parsed to a table query.
type tableQuestion struct {
	function string // of query_table; empty: rows are requested
	word     string // words of the question for the function
	truth    bool   // the question names a boolean column
	column   int    // index of the computed column; -1: none
	filters  []filter
}

// asksTable returns the call that queries the table of the best quote. The question must have words for a count, a
// total, a mean or an extreme, or a condition that quotes can't answer: a negation, or a boolean column. Every other
// word of the question must match a column, a cell, or the table itself, so that no condition is lost. It sends one
// query in a run. Tables with an uncertain head, or of a text that came with the question, are not queried:
// docs/decisions/offline.md.
func (t turn) asksTable(a answer) (step, bool) {
	asked := slices.ContainsFunc(t.of(queryTool), func(r result) bool { return !r.lists() })
	if len(a.quotes) == 0 || !t.has(queryTool) || asked || len(t.given()) > 0 {
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
	wanted, ok := readTableQuestion(t.question, a.words, best.row.table, rows, a.pile.around[best.source])
	if !ok {
		return step{}, false
	}
	return wanted.call(a.pile.sources[best.source], best.row.table.head), true
}

// readTableQuestion parses a question to a query on a table with such rows. around are the terms of the table's names.
// Each word is tried in this order: a cell of one column, a column's name, a word of the function, a stop word, the
// table's name; an unmatched word ends the parsing. A boolean column that is named becomes a filter: “is paid” is
// Paid = yes. The computed column is determined at the end.
func readTableQuestion(
	question string, words []word, t *table, rows []unit, around map[string]bool,
) (tableQuestion, bool) {
	tokens := tokensOf(question)
	a := tableQuestion{column: -1}
	a.function, a.word = functionOf(tokens)
	asked, small := tokensOf(a.word), text.SmallWords(question)
	// A comparison or a position is no stop word here.
	if slices.ContainsFunc(tokens, func(t string) bool { return degree(t) != "" && !slices.Contains(asked, t) }) {
		return a, false
	}
	var named []int
	// The first case that a word matches determines its role. An unmatched word ends the parsing, as a total without
	// one of its conditions would look right.
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
		return a, !slices.ContainsFunc(named, func(c int) bool { return numbersIn(rows, c) }) && !a.isLookup(t, rows)
	}
	a.column = t.amount(rows, named)
	return a, a.column >= 0
}

// isLookup reports whether a question for a number names a row that states it: “How many trucks are there?” for the
// row “Trucks | 12”. The only condition is then on a column that names the rows, each with another name, and selects
// a row with a number. A part of a name counts if it selects one row, or if the table has one column of values.
func (a tableQuestion) isLookup(t *table, rows []unit) bool {
	if len(a.filters) != 1 || a.truth || a.filters[0].not {
		return false
	}
	f := a.filters[0]
	column, names, matches, numbers := slices.Index(t.head, f.column), map[string]bool{}, 0, 0
	for _, r := range rows {
		cells := cellsOf(r.text)
		if column >= len(cells) {
			continue
		}
		name := text.Fold(cells[column])
		if names[name] {
			return false
		}
		names[name] = true
		if !slices.ContainsFunc(f.values, func(v string) bool {
			v = text.Fold(v)
			return name == v || !f.whole && strings.Contains(name, v)
		}) {
			continue
		}
		matches++
		if slices.ContainsFunc(slices.Delete(cells, column, column+1), isNumber) {
			numbers++
		}
	}
	return len(names) > 1 && numbers > 0 && numbers == matches && (f.whole || matches == 1 || len(t.head) == 2)
}

// leavesOut reports whether a question contains a whole cell without a filter: May is a stop word, and a month.
func (a tableQuestion) leavesOut(tokens []string, rows []unit) bool {
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

// foundCells are the cells of one column that contain a word.
type foundCells struct {
	texts []string
	whole bool
}

// cellsWith returns the only column whose cells contain a word, -1 if there is none, or several, which is ambiguous.
// The cells are whole values if the question has all of their terms.
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

// addFilter merges a filter into the others. Values of one column are alternatives: a question about Berlin and
// Munich means rows of both.
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

// columnOf returns the column whose name matches a word best, -1 without a match or with a tie.
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

// amount returns the column to compute: the numeric one that the question names, else the only numeric one, -1
// without one.
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

// numbersIn reports whether more than half of the filled cells of a column are amounts, not codes, days or years.
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

// sheetOf returns the sheet's name of a section: its last part before the column heads.
func sheetOf(section string) string {
	at := strings.Split(section, "›")
	if columnsOf(section) != nil {
		at = at[:len(at)-1]
	}
	if len(at) == 0 {
		return ""
	}
	return strings.TrimSpace(at[len(at)-1])
}

// call encodes the query as a call of the tool. For min and max it also requests the row, by order and limit, since the
// row says more than its number.
func (a tableQuestion) call(src source, head []string) step {
	input := map[string]any{"document": src.document.DocID}
	if name := sheetOf(src.Section); name != "" {
		input["sheet"] = name
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

// conditions encodes a filter for the tool.
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

// tokensOf splits a text into normalised words.
func tokensOf(s string) []string {
	return strings.FieldsFunc(text.Fold(s), func(r rune) bool {
		return strings.ContainsRune(" \t\n.,;:!?¿¡\"“”„«»()'’", r)
	})
}

// kind is the classification of a question.
type kind int

const (
	kindFind       kind = iota // facts in documents
	kindEmpty                  // nothing: it has no letter and no digit
	kindTalk                   // nothing: a greeting or thanks
	kindArithmetic             // the value of an expression
	kindSummary                // a summary of a document
	kindListing                // the list of documents
	kindOpening                // to open a document
	kindFurther                // continuation of the previous answer
	kindItems                  // all values of a kind
	kindComparison             // two documents side by side
	kindChanges                // differences between two versions
)

var (
	talk = lazy.Regexp(
		`(?i)^((hello|hi|hey|hallo|hola|bonjour|ciao|good (morning|afternoon|evening|day)|guten ` +
			`(tag|morgen)|thanks?|thank you|thx|danke|merci|gracias|bye|goodbye|ok|okay|great|cool|nice|who are ` +
			`you|what are you|how are you|what can you do|can you help me|help)( (there|you|very much|a lot|so ` +
			`much|again|footnote|everyone))*([\s!.?,:)]+|$))+$`,
	)
	gratitude = lazy.Regexp(`(?i)^(thank|thx|danke|merci|gracias|ok|great|cool|nice|bye|goodbye)`)
	listing   = lazy.Regexp(
		`(?i)^(?:please |can you |could you )*(?:list|show|which|what|how many)(?: me)?(?: all)?(?: of)?(?: the| my| ` +
			`our)? (?:documents?|files?|library)(?: (?:do (?:i|we|you) have|have i|(?:are|is) (?:there|available|in ` +
			`(?:the |my |our )?library)|can you (?:see|read)))?[\s?.!]*$`,
	)
	pointsBack = lazy.Regexp(
		`(?i)\b(it|its|they|them|their|those|these|this|that|he|she|his|her|one|ones|es|sie|ihn|ihm|er|diese[rsnm]?|` +
			`davon|dazu|elle|ils?|celui|celle|ello|eso|esto)\b`,
	)

	sumWords = strings.NewReplacer(
		" plus ", " + ", " minus ", " - ", " times ", " * ", " multiplied by ", " * ", " divided by ", " / ", " over ",
		" / ", "×", "*", "÷", "/", "−", "-", " to the power of ", " ^ ", " squared", "^2",
	)
	// A currency does not change the result.
	percentOf = lazy.Regexp(
		`(?i)(\d+(?:\.\d+)?) ?(?:%|per ?cent) of [£$€¥]?(\d[\d,]*(?:\.\d+)?)` +
			`(?: ?(?:pounds|dollars|euros?|yen|francs|gbp|usd|` +
			`eur|jpy|chf)\b)?`,
	)
	sumLead = lazy.Regexp(
		`(?i)^(?:please |can you |could you )*(?:what(?:'s| is| does)|how much ` +
			`(?:is|are)|calculate|compute|evaluate|work out)?\s*`,
	)
	sumAside = lazy.Regexp(`(?i)(?:,? (?:for me|please))+$`)
	sumShape = lazy.Regexp(
		`^[\d\s.,+\-*/^()%]*(?:(?:sqrt|pow|log10|log|sin|cos|tan|abs|round|min|max|sum|pi|e)\b[\d\s.,+\-*/^()%]*)*$`,
	)
	sumNeeds = lazy.Regexp(
		`\d\s*(?:[+\-/^%]|\*{1,2})\s*[\d(]|[)]\s*[+\-*/^]|(sqrt|pow|log10|log|sin|cos|tan|abs|round|min|max|sum)\s*\(`,
	)
	thousands  = lazy.Regexp(`(\d),(\d{3})\b`)
	plainRange = lazy.Regexp(`^\d{4}\s*-\s*\d{4}$`)
)

// classify returns a question's kind, and its object: an expression, or a document. The order matters: a sum may
// look like a name, and a name like a request. Each pattern must match the whole question; the default is a search.
func classify(q string) (kind, string) {
	q = strings.Join(strings.Fields(q), " ")
	if strings.IndexFunc(q, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		return kindEmpty, ""
	}
	if talk().MatchString(q) {
		return kindTalk, ""
	}
	if text.Further().MatchString(q) {
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
	// Requests come last, since their examples are the least specific.
	if k, about := readRequest(q); k != kindFind {
		return k, documentNamed(about)
	}
	return kindFind, ""
}

// goesOn reports whether a question has no topic of its own.
func goesOn(q string) bool {
	k, _ := classify(q)
	return k == kindFurther || k == kindTalk || k == kindEmpty || k == kindArithmetic || aboutFootnote(q)
}

// expression returns the arithmetic expression that a question consists of, or an empty string. Words for operations
// are normalised to signs. The whole must then consist of numbers, signs and known functions, with at least one
// operation. A date, a range of years and an identifier are not differences.
func expression(q string) string {
	e := strings.TrimRight(
		sumAside().ReplaceAllString(strings.TrimRight(sumLead().ReplaceAllString(q, ""), " ?=.!"), ""), " ?=.!",
	)
	e = percentOf().ReplaceAllString(e, "$1 / 100 * $2")
	e = sumWords.Replace(e)
	// Twice, as neighbouring groups share a digit, which one pass would miss.
	e = thousands().ReplaceAllString(thousands().ReplaceAllString(e, "$1$2"), "$1$2")
	if !sumShape().MatchString(e) || !sumNeeds().MatchString(e) || plainRange().MatchString(e) && e == q ||
		!strings.ContainsFunc(e, unicode.IsLetter) && !text.AsksSum(q) && !text.AsksSum(e) {
		return ""
	}
	return strings.TrimSpace(e)
}

var fillers = lazy.Regexp(
	`(?i)^(?:me |the |this |that |these |my |our |it\b|for me |document |file |report named |contents? of |` +
		`all (?:the |my ` +
		`)?)+|\b(?:for me|please|document|zusammen|` + inPieces + `)\b|[?.!"“”„]+$|^["“„]`,
)

// documentNamed trims the words around a document's name. Fillers may be nested, hence three times.
func documentNamed(s string) string {
	for range 3 {
		s = strings.TrimSpace(fillers().ReplaceAllString(strings.TrimSpace(s), ""))
	}
	return s
}

// functions are the words for functions over many rows, in the most frequent languages of documents, folded. The
// list is complete by design: a question with none of them is answered with quotes.
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

// Negations and boolean values in the same languages.
var (
	negations = strings.Fields("not n't no without nicht kein keine keinen noch pas non sin nao senza niet geen " +
		"nie bez не без degil haven hasn didn isn aren wasn weren")
	// words that ask for an amount and are no condition on rows
	idle = strings.Fields("much large high list show give hoch gross betragt lautet nenne zeige eleve montre cuanto " +
		"cuanta asciende quanto quanta ammonta bedraagt hoeveel wynosi ile сколько составляет kac kadar")
	yes = strings.Fields("yes y true x ✓ ✔ ja wahr oui vrai si verdadero vero sim verdadeiro tak да evet")
	no  = strings.Fields("no n false - – ✗ nein falsch non faux falso nao nee nie нет hayir")
)

// functionOf returns the function that a question asks for, with its words; empty for none. The longest phrase of a
// function is used, so that “in total” is matched whole. Functions are tried in the order of the list.
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

// negated reports whether a negation is one or two words before a word. A word is matched by its prefix, since typed
// words come without their endings here.
func negated(tokens []string, word string) bool {
	at := slices.IndexFunc(tokens, func(t string) bool { return strings.HasPrefix(word, t) })
	return at >= 0 && slices.ContainsFunc(tokens[max(0, at-2):at], func(t string) bool {
		return slices.Contains(negations, t)
	})
}

// truthOf returns the boolean cells of a column, deduplicated by value; ok if all filled cells are boolean.
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
