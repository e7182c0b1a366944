package tools

import (
	"encoding/json"
	"strings"

	"github.com/footnote/footnote/corpus/table"
)

// cellValues are what cells are compared with: one value or a list, texts, numbers or truth values.
//
// They are kept as they were written, since only the column that they are compared with says whether they are numbers,
// dates or texts.
type cellValues []table.Value

// UnmarshalJSON reads one value or a list. It never fails: the schema has checked what may stand there, and numbers
// keep the digits that were written.
func (v *cellValues) UnmarshalJSON(raw []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, one := range list {
		var said string
		var number json.Number
		switch {
		case json.Unmarshal(one, &said) == nil:
			*v = append(*v, table.Value{Text: said})
		case json.Unmarshal(one, &number) == nil:
			*v = append(*v, table.Value{Number: number.String()})
		default: // true or false
			*v = append(*v, table.Value{Text: string(one)})
		}
	}
	return nil
}

// operators maps further spellings of some operators to those of package table. They are in the schema's list, too.
var operators = map[string]table.Op{"!=": table.Unequal, "<=": table.AtMost, ">=": table.AtLeast}

// query is the question in the words of the table. Values of “empty” and “not empty” are dropped, as models give some
// though none are needed.
func (in queryTableInput) query() table.Query {
	q := table.Query{Sheet: in.Sheet, GroupBy: in.GroupBy, OrderBy: in.OrderBy, Limit: in.Limit}
	for _, c := range in.Where {
		op := table.Op(c.Op)
		if known, ok := operators[c.Op]; ok {
			op = known
		}
		condition := table.Condition{Column: c.Column, Op: op, Values: c.Value}
		if op == table.Empty || op == table.Filled {
			condition.Values = nil
		}
		q.Where = append(q.Where, condition)
	}
	for _, a := range in.Compute {
		q.Compute = append(q.Compute, table.Aggregate{Function: a.Function, Column: a.Column})
	}
	return q
}

// functionWords are the words by which answers name a computed value, for each function.
//
// An answer that says “altogether 4,500 €” can only be checked against a sum if it is known that “altogether” may mean
// one.
var functionWords = map[table.Function]string{
	table.Count: "count number many", table.Sum: "sum total altogether", table.Mean: "mean average",
	table.Min: "lowest least smallest minimum first earliest", table.Max: "highest most largest maximum last latest",
	table.Distinct: "distinct different",
}

// words are those of a query: of its columns, values and functions.
func (in queryTableInput) words() string {
	words := []string{in.Sheet, "row table column"}
	for _, c := range in.Where {
		words = append(words, c.Column)
		for _, v := range c.Value {
			words = append(words, v.Text, v.Number)
		}
	}
	words = append(words, in.GroupBy...)
	for _, a := range in.Compute {
		words = append(words, functionWords[a.Function], a.Column)
	}
	return strings.Join(words, " ")
}
