// Package cursor makes and reads the cursors of pages, for both databases. A cursor says behind which entry the next
// page begins, so pages neither skip nor repeat entries that stay where they are, whatever is added meanwhile. Clients
// hand it back as it is.
package cursor

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
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

// Documents is one page of documents. Its SQL calls their table d. Keyset and Order name the same columns, so that the
// condition and the sorting agree; documents_by_age serves the two orders by time.
type Documents struct {
	Limit  int
	Order  string // of ORDER BY
	Keyset string // the condition for what follows After, with a "?" for each of its values
	After  []any  // empty: this is the first page
	sort   string
}

// documentCursor is the position of a document in one of the orders.
type documentCursor struct {
	Sort string
	At   int64  `json:",omitempty"`
	Key  string `json:",omitempty"`
	N    int64
}

// ForDocuments returns the page that a filter asks for. An unknown order and the cursor of another list are a
// CodeInvalid.
func ForDocuments(f corpus.Filter) (p Documents, err error) {
	p = Documents{Limit: Limit(f.Limit, 50, 1000), sort: f.Sort}
	switch f.Sort {
	case "", "newest":
		p.sort, p.Keyset, p.Order = "newest", `(d.created_at, d.n) < (?, ?)`, `d.created_at DESC, d.n DESC`
	case "oldest":
		p.Keyset, p.Order = `(d.created_at, d.n) > (?, ?)`, `d.created_at, d.n`
	case "title":
		p.Keyset, p.Order = `(d.title_fold, d.n) > (?, ?)`, `d.title_fold, d.n`
	default:
		return p, &chat.Error{
			Code: chat.CodeInvalid, Message: `Documents can be sorted by "newest", "oldest" or "title".`,
		}
	}
	if f.Cursor == "" {
		return p, nil
	}
	var c documentCursor
	b, err := base64.RawURLEncoding.DecodeString(f.Cursor)
	if err != nil || json.Unmarshal(b, &c) != nil || c.Sort != p.sort {
		return p, &chat.Error{
			Code: chat.CodeInvalid, Message: "The cursor is not one of this list. Start again without a cursor.",
		}
	}
	p.After = []any{c.At, c.N}
	if p.sort == "title" {
		p.After = []any{c.Key, c.N}
	}
	return p, nil
}

// Next returns the cursor of the page that follows a document; fold is its title as it is sorted, n its number. The
// order is part of it, so a cursor of another order is refused instead of read as a wrong place.
func (p Documents) Next(d corpus.Document, fold string, n int64) string {
	c := documentCursor{Sort: p.sort, N: n}
	if p.sort == "title" {
		c.Key = fold
	} else {
		c.At = d.CreatedAt.UnixMicro()
	}
	b, _ := json.Marshal(c) // strings and numbers: can't fail
	return base64.RawURLEncoding.EncodeToString(b)
}
