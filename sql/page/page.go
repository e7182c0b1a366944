// Package page tells where the pages of long lists begin and end, alike in every database.
package page

import (
	"strconv"
	"strings"
	"time"

	"footnote/chat"
)

// Limit is how many entries a page has when limit of them are asked for; 0 is the usual number.
func Limit(limit, usual, most int) int {
	if limit <= 0 {
		return usual
	}
	return min(limit, most)
}

// Place is behind an entry of a list that is sorted by time, newest first: its time in microseconds, and its number, which sorts those of
// one instant.
type Place struct{ At, N int64 }

// Behind is the cursor of the page behind an entry.
func Behind(at time.Time, n int64) string {
	return strconv.FormatInt(at.UnixMicro(), 36) + "-" + strconv.FormatInt(n, 36)
}

// PlaceOf reads what Behind wrote; without a cursor it is the place before the first entry. It fails with CodeInvalid for anything else.
func PlaceOf(cursor string) (Place, error) {
	if cursor == "" {
		return Place{At: 1<<63 - 1}, nil
	}
	first, second, _ := strings.Cut(cursor, "-")
	at, errAt := strconv.ParseInt(first, 36, 64)
	n, errN := strconv.ParseInt(second, 36, 64)
	if errAt != nil || errN != nil {
		return Place{}, &chat.Error{Code: chat.CodeInvalid, Message: "This page's cursor is not valid. Start again from the first page."}
	}
	return Place{At: at, N: n}, nil
}
