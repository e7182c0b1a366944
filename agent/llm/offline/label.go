package offline

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// labelled returns the unit that answers a question from a table: the only row with a cell that the question names,
// whose other cell is of the kind that it asks for. In a table of more than two columns, the question also names the
// column of the other cell. Each other word is in a column's name, in the document's or the section's name, or it is
// grammar. One verb needs no match if the interrogative gives the kind: “Where does Béla live?”. ok is false without
// such a row, or with several.
func (p pool) labelled(question string, words []word) (at int, ok bool) {
	at = -1
	tokens := text.Terms(question, "")
	if slices.ContainsFunc(tokens, func(t string) bool { return slices.Contains(negations, t) }) {
		return -1, false
	}
	for i, u := range p.units {
		if u.row == nil || u.names {
			continue
		}
		for key, terms := range u.row.cells {
			if !namesCell(terms, words) {
				continue
			}
			for value := range u.row.cells {
				if value == key || !u.row.asksColumn(value, words) || !p.asksCell(i, value, tokens, words) {
					continue
				}
				if at >= 0 && p.units[at].text != u.text {
					return -1, false
				}
				at = i
			}
		}
	}
	return at, at >= 0
}

// asksColumn reports whether the question names a column, or the row has only one beside its name.
func (r *row) asksColumn(column int, words []word) bool {
	return len(r.cells) == 2 || !r.table.unsure && column < len(r.table.has) && namesCell(r.table.has[column], words)
}

// namesCell reports whether words of the question are exactly the terms of a cell.
func namesCell(terms map[string]bool, words []word) bool {
	if len(terms) == 0 || len(terms) > mostCellTerms {
		return false
	}
	for term := range terms {
		if !slices.ContainsFunc(words, func(w word) bool { return !w.borrowed && w.terms[term] == 1 }) {
			return false
		}
	}
	return true
}

// Interrogatives of places and times in the most frequent languages of documents.
var (
	asksPlace = strings.Fields("where wo ou donde dove onde waar")
	asksTime  = strings.Fields("when wann quand cuando quando wanneer")
)

// asksCell reports whether the other words of a question are explained, and the cell is of the kind that it asks for.
func (p pool) asksCell(i, value int, tokens []string, words []word) bool {
	u := p.units[i]
	cells := cellsOf(u.text)
	if value >= len(cells) || cells[value] == "" || len(tokens) == 0 {
		return false
	}
	said, verb := cells[value], false // the interrogative gives the kind of the value, so that a verb adds nothing
	asking := tokens[:1]
	switch {
	case slices.Contains(asksPlace, tokens[0]):
		if verb = true; isNumber(said) {
			return false
		}
	case slices.Contains(asksTime, tokens[0]):
		if verb = true; !aDate.isIn(said) && !year().MatchString(said) {
			return false
		}
	case tokens[0] == "how" || tokens[0] == "wie":
		if asking = tokens[:min(2, len(tokens))]; !aNumber.isIn(said) { // how long
			return false
		}
	}
	if function, asked := functionOf(tokens); function == "count" {
		if !aNumber.isIn(said) {
			return false
		}
		asking = append(strings.Fields(asked), asking...)
	}
	unexplained := 0
	small := text.SmallWords(strings.Join(tokens, " "))
	for _, w := range words {
		typed := text.Fold(w.typed)
		switch {
		case w.borrowed, w.in(u.terms) > 0, w.in(p.around[u.source]) > 0, slices.Contains(idle, typed), small(typed),
			slices.Contains(asking, typed),
			slices.ContainsFunc(u.row.table.has, func(name map[string]bool) bool { return w.in(name) > 0 }):
		case slices.ContainsFunc(p.units, func(o unit) bool { // the first row, which may be the head
			return o.row != nil && o.row.first && p.sameTable(o, u) && w.in(o.terms) > 0
		}):
		default:
			unexplained++
		}
	}
	return unexplained == 0 || verb && unexplained == 1 && !namesMore(tokens[0], words, u)
}

// namesMore reports whether the word without a match is a number or a name, which is no verb. first is the
// first word of the question.
func namesMore(first string, words []word, u unit) bool {
	return slices.ContainsFunc(words, func(w word) bool {
		if w.in(u.terms) > 0 || w.borrowed || text.Fold(w.typed) == first {
			return false
		}
		return strings.ContainsAny(w.typed, "0123456789") || text.Fold(w.typed[:1]) != w.typed[:1]
	})
}
