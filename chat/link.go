package chat

import (
	"net/url"
	"strconv"
	"strings"
)

// FragmentCited is the fragment of the first marked words in the viewer.
const FragmentCited = "cited"

// ViewPages is the view of an Office file as printed pages.
const ViewPages = "pages"

// Link is a viewer address of a document, with its marks and its position. Only Document is required. All such
// addresses are built here; GET /d/{id} parses them. Common parameters have one letter, since answers hold many
// addresses.
type Link struct {
	Document string // its id
	Citation string // {run}.{number}, see CitationName: marks the words of a footnote
	Passage  string // id of a passage to mark
	Block    string // id of a block to mark
	Start    int    // with End: the words to mark, in runes of the document's text
	End      int    // with a Passage too, they are marked only while that passage exists
	Also     Ranges // with Start and End: further words to mark
	Page     int    // from 1: opens there, regardless of marks
	At       string // id of a block: the part of a long document to show
	View     string // ViewPages: an Office file as it is printed
	Fragment string // the element to scroll to: a block's id, p{page} or FragmentCited
}

// CitationName returns the name of a run's footnote, for Link.Citation.
func CitationName(runID string, number int) string { return runID + "." + strconv.Itoa(number) }

// String returns the address without the server's origin. url.Values sorts the parameters, so equal links have equal
// addresses. Empty fields are left out, and so is an empty range (End ≤ Start). The document id is escaped.
func (l Link) String() string {
	query := url.Values{}
	for _, part := range []struct{ name, value string }{
		{"c", l.Citation}, {"p", l.Passage}, {"b", l.Block}, {"at", l.At}, {"view", l.View},
	} {
		if part.value != "" {
			query.Set(part.name, part.value)
		}
	}
	if l.End > l.Start {
		query.Set("start", strconv.Itoa(l.Start))
		query.Set("end", strconv.Itoa(l.End))
		if len(l.Also) > 0 {
			query.Set("also", l.Also.String())
		}
	}
	if l.Page > 0 {
		query.Set("page", strconv.Itoa(l.Page))
	}
	address := url.URL{
		Path: "/d/" + l.Document, RawPath: "/d/" + url.PathEscape(l.Document), RawQuery: query.Encode(),
		Fragment: l.Fragment,
	}
	return address.String()
}

// MaxRanges is the maximum number of further ranges in an address.
const MaxRanges = 100

// Ranges are parts of a text, each [start, end) in runes, in order.
type Ranges [][2]int

// String encodes them for an address: "120-140,150-170".
func (r Ranges) String() string {
	pairs := make([]string, len(r))
	for i, pair := range r {
		pairs[i] = strconv.Itoa(pair[0]) + "-" + strconv.Itoa(pair[1])
	}
	return strings.Join(pairs, ",")
}

// ReadRanges parses the output of String; the empty text has no ranges. ok is false for other text, for empty or
// unordered ranges, and for more than MaxRanges. The limit and 32-bit numbers bound the cost of a handwritten
// address.
func ReadRanges(s string) (r Ranges, ok bool) {
	if s == "" {
		return nil, true
	}
	last := -1
	for pair := range strings.SplitSeq(s, ",") {
		from, to, _ := strings.Cut(pair, "-")
		start, err1 := strconv.ParseInt(from, 10, 32)
		end, err2 := strconv.ParseInt(to, 10, 32)
		if err1 != nil || err2 != nil || int(start) <= last || end <= start || len(r) == MaxRanges {
			return nil, false
		}
		last = int(end) - 1
		r = append(r, [2]int{int(start), int(end)})
	}
	return r, true
}

// IsLink reports whether an address is one of the viewer. It checks only the prefix; the viewer checks whether the
// document exists.
func IsLink(address string) bool {
	const viewer = "/d/"
	return len(address) > len(viewer) && address[:len(viewer)] == viewer
}
