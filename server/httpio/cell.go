package httpio

import (
	"strconv"

	"github.com/footnote/footnote/chat"
)

// CellPlace returns the row and column of the cell in a request's path, from 0.
func CellPlace(c Context) (row, column int, err error) {
	missing := NotFound("Cell not found in this table.")
	if row, err = strconv.Atoi(c.Param("row")); err != nil || row < 0 || row >= chat.MaxGridRows {
		return 0, 0, missing
	}
	if column, err = strconv.Atoi(c.Param("column")); err != nil || column < 0 || column >= chat.MaxGridColumns {
		return 0, 0, missing
	}
	return row, column, nil
}
