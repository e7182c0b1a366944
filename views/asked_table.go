package views

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
)

// rowLink returns the link from a result's row to its place in the document. It is empty for a row without a link.
//
// Links come from the log, so each is validated: only links of this server are rendered.
func rowLink(t *chat.Table, row int) string {
	if row < len(t.Links) && chat.IsLink(t.Links[row]) {
		return t.Links[row]
	}
	return ""
}

// moreRows returns the text for the number of rows that are not shown.
func moreRows(ctx context.Context, t *chat.Table) string { return rowsMore.Count(ctx, t.More) + " " }

// whichRows returns the label of the link to a result's rows.
func whichRows(ctx context.Context, t *chat.Table) string { return rowsUsed.Count(ctx, t.Used) }

// isAmount reports whether a cell is a number with an optional unit, which is aligned right. Dates and codes are
// not amounts.
//
// At most four characters beside the digits, such as a currency, are accepted, which excludes words.
func isAmount(cell string) bool {
	first, last := strings.IndexAny(cell, "0123456789"), strings.LastIndexAny(cell, "0123456789")
	if first < 0 || strings.Trim(cell[first:last+1], "0123456789., '") != "" {
		return false
	}
	if before := strings.TrimLeft(cell[:first], "-("); strings.Contains(before, "-") {
		return false // INV-4
	}
	beside := utf8.RuneCountInString(cell[:first]) + utf8.RuneCountInString(cell[last+1:])
	return beside <= 4 && strings.Count(cell[first:last+1], ".") < 2
}

// isShort reports whether a cell is a single word, number or date, which is not wrapped.
//
// The limit is 16 characters.
func isShort(cell string) bool {
	return utf8.RuneCountInString(cell) <= 16 && !strings.Contains(cell, " ")
}

// isAmountColumn reports whether the column's cell in the first row is an amount.
func isAmountColumn(t *chat.Table, column int) bool {
	return len(t.Rows) > 0 && column < len(t.Rows[0]) && isAmount(t.Rows[0][column])
}
