package sheet

import (
	"bytes"
	"html"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/english"
)

const (
	maxFormulas = 100_000 // formulas without a result of a sheet that are written
	maxFormula  = 300     // bytes of a formula that are written
)

// unstored is a formula without a stored result.
type unstored struct {
	column  int
	formula string
}

// formulas finds the formulas of a sheet whose results no program has stored, by the sheet's tags. Programs that
// only write workbooks don't calculate; some of them store 0 for each, and ask to recalculate.
type formulas struct {
	recalculated bool // the workbook is to be recalculated when it is opened
	missing      map[int][]unstored
	zeros        map[int][]unstored // results that are 0
	count        int                // in missing
	zero         int                // in zeros
	other        bool               // a formula has another result

	// The current cell.
	tag     []byte
	row     int
	column  int
	is      bool // it has a formula
	formula string
	stored  bool // it has a value element
	value   string
}

// look handles one tag with the text after it. row is the number of the current row.
func (f *formulas) look(name, tag []byte, row int) {
	switch string(name) {
	case "c":
		f.tag = append(f.tag[:0], tag...)
		if f.row != row {
			f.row, f.column = row, 0
		}
		f.column++
		f.is, f.stored, f.formula, f.value = false, false, "", ""
	case "f":
		f.is, f.formula = true, afterTag(tag)
	case "v":
		f.stored, f.value = true, ""
		if f.is {
			f.value = afterTag(tag)
		}
	}
}

// end handles the end of a cell.
func (f *formulas) end() {
	if column, _, err := excelize.CellNameToCoordinates(attribute(f.tag, "r")); err == nil {
		f.column = column
	}
	if !f.is {
		return
	}
	f.is = false
	one := unstored{f.column, "=…"} // of a group, whose first cell has the formula
	if f.formula != "" {
		one.formula = "=" + html.UnescapeString(f.formula)
	}
	kind := attribute(f.tag, "t")
	switch {
	case f.value == "" && !(f.stored && (kind == "str" || kind == "s")):
		f.count++
		add(&f.missing, f.row, one, f.count)
	case strings.Trim(f.value, "0.") == "" && f.value != "" && kind != "b" && kind != "s":
		f.zero++
		add(&f.zeros, f.row, one, f.zero)
	default:
		f.other = true
	}
}

// add adds the nth formula of a sheet.
func add(to *map[int][]unstored, row int, one unstored, n int) {
	if n > maxFormulas {
		return
	}
	if *to == nil {
		*to = map[int][]unstored{}
	}
	one.formula = strings.ToValidUTF8(one.formula[:min(len(one.formula), maxFormula)], "")
	(*to)[row] = append((*to)[row], one)
}

// afterTag returns the text after a tag, "" after one that encloses nothing.
func afterTag(tag []byte) string {
	_, said, _ := bytes.Cut(tag, []byte(">"))
	return strings.TrimSpace(string(said))
}

// fill writes the formulas of row n in place of their missing results, so that no cell seems to be empty or 0.
func (f *formulas) fill(n int, cells []string) []string {
	for _, all := range []map[int][]unstored{f.missing, f.zeros} {
		for _, one := range all[n] {
			if one.column > maxColumns {
				continue
			}
			for len(cells) < one.column {
				cells = append(cells, "")
			}
			cells[one.column-1] = one.formula
		}
	}
	return cells
}

// finish decides about the zeros: they are results unless all results of the sheet are 0 and none was calculated.
func (f *formulas) finish() {
	if !f.recalculated || f.other {
		f.zeros, f.zero = nil, 0
	}
	f.count += f.zero
}

// noteUnstored counts the formulas without a stored result in the metadata, if there are any.
func noteUnstored(x *corpus.Extracted, n int) {
	if n == 0 {
		return
	}
	left, _ := x.Meta[corpus.MetaLeftOut].(string)
	x.Meta[corpus.MetaLeftOut] = strings.TrimPrefix(left+", results of "+english.Count(n, "formula")+
		" that no program has calculated", ", ")
}
