package views

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
)

// rowLink leads to a row of a result in its document, empty where none does.
//
// Links come from the log; what is no link of ours is not followed.
func rowLink(t *chat.Table, row int) string {
	if row < len(t.Links) && chat.IsLink(t.Links[row]) {
		return t.Links[row]
	}
	return ""
}

// moreRows counts what a result does not show.
func moreRows(ctx context.Context, t *chat.Table) string { return rowsMore.Count(ctx, t.More) + " " }

// whichRows names the link to the rows that a result comes from.
func whichRows(ctx context.Context, t *chat.Table) string { return rowsUsed.Count(ctx, t.Used) }

// isAmount reports whether a cell is a number with its unit at most, to be set at the right: a date and a code are not.
//
// At most four characters may stand beside the digits, such as a currency: a choice that keeps words out.
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

// isShort reports whether a cell is a word, a number or a day, to be kept in one line.
//
// 16 characters are a choice.
func isShort(cell string) bool {
	return utf8.RuneCountInString(cell) <= 16 && !strings.Contains(cell, " ")
}

// isAmountColumn reports whether the first row has an amount in a column.
func isAmountColumn(t *chat.Table, column int) bool {
	return len(t.Rows) > 0 && column < len(t.Rows[0]) && isAmount(t.Rows[0][column])
}
