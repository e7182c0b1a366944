// Package cursor makes and reads the cursors of pages, for both databases. A cursor says behind which entry the next
// page begins, so pages neither skip nor repeat entries that stay where they are, whatever is added meanwhile. Clients
// hand it back as it is.
package cursor

import (
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
)

// Limit is how many entries a page has when limit of them are asked for; 0 is the usual number. A negative number is
// treated as 0.
func Limit(limit, usual, most int) int {
	if limit <= 0 {
		return usual
	}
	return min(limit, most)
}

// Position is that of an entry in a list sorted by time, newest first: its time in microseconds since 1970, and its
// number, which orders entries of the same time.
type Position struct{ At, N int64 }

// After returns the cursor of the page that follows an entry. Numbers to the base 36 are short and need no escaping in
// an address.
func After(at time.Time, n int64) string {
	return strconv.FormatInt(at.UnixMicro(), 36) + "-" + strconv.FormatInt(n, 36)
}

// Parse reads a cursor that After wrote. An empty cursor stands for the first page. Anything else is a CodeInvalid. The
// first page begins at the latest time there can be.
func Parse(cursor string) (Position, error) {
	if cursor == "" {
		return Position{At: 1<<63 - 1}, nil
	}
	first, second, _ := strings.Cut(cursor, "-")
	at, errAt := strconv.ParseInt(first, 36, 64)
	n, errN := strconv.ParseInt(second, 36, 64)
	if errAt != nil || errN != nil {
		return Position{}, &chat.Error{
			Code: chat.CodeInvalid, Message: "This page's cursor is not valid. Start again from the first page.",
		}
	}
	return Position{At: at, N: n}, nil
}
