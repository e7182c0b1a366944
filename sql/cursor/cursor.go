// Package cursor encodes and decodes pagination cursors for both databases. A cursor is the position of the last
// entry of a page. With keyset pagination, pages neither skip nor repeat entries when others are added. Cursors are
// opaque to clients.
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

// Limit returns the page size for a requested limit: usual for 0 or a negative limit, at most `most`.
func Limit(limit, usual, most int) int {
	if limit <= 0 {
		return usual
	}
	return min(limit, most)
}

// Position is the position of an entry in a list sorted by time, newest first: its time in microseconds since 1970,
// and its number, which orders entries of the same time.
type Position struct{ At, N int64 }

// After returns the cursor of the page after an entry. Numbers in base 36 are short and need no URL encoding.
func After(at time.Time, n int64) string {
	return strconv.FormatInt(at.UnixMicro(), 36) + "-" + strconv.FormatInt(n, 36)
}

// Parse decodes a cursor of After. An empty cursor is the first page, which starts at the maximum time. An invalid
// one returns CodeInvalid.
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

// Documents is one page of documents. Its SQL uses the table alias d. Keyset and Order have the same columns. The
// index documents_by_age serves both orders by time.
type Documents struct {
	Limit  int
	Order  string // of ORDER BY
	Keyset string // the condition for entries after After, with a "?" for each of its values
	After  []any  // empty for the first page
	sort   string
}

// documentCursor is the encoded position of a document in one of the orders.
type documentCursor struct {
	Sort string
	At   int64  `json:",omitempty"`
	Key  string `json:",omitempty"`
	N    int64
}

// ForDocuments returns the page for a filter. An unknown order or a cursor of another order returns CodeInvalid.
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

// Next returns the cursor of the page after a document; fold is its normalised title for sorting, n its number. The
// cursor includes the order, so a cursor of another order is rejected.
func (p Documents) Next(d corpus.Document, fold string, n int64) string {
	c := documentCursor{Sort: p.sort, N: n}
	if p.sort == "title" {
		c.Key = fold
	} else {
		c.At = d.CreatedAt.UnixMicro()
	}
	b, _ := json.Marshal(c) // strings and numbers always encode
	return base64.RawURLEncoding.EncodeToString(b)
}
