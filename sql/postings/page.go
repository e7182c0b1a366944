package postings

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/footnote/footnote/sql/bm25"
)

// maxPage and maxList are in bytes. Two pages with their keys fit into a page of PostgreSQL (8,192 bytes), and one
// into a page of SQLite (4,096 bytes, including the row's key and header).
const (
	maxPage = 3980
	maxList = 1000 // of a list among other entries
)

// The kinds of postings of a term.
const (
	once    = iota // one passage, weight 1, in the body
	single         // one passage
	several        // a list
	blocks         // a list in blocks
)

// An entry is a decoded term with its encoded postings. Its slices refer to the page and to the reader's term, so
// they are only valid until the next entry.
type entry struct {
	term   []byte // valid until the next entry
	kind   int
	count  int
	inBody bool
	row    uint32 // of a single passage
	weight float32
	list   []byte
}

// appendPostings appends the entry's passages to out, except those in blocks.
func (e *entry) appendPostings(out []bm25.Scored, base uint32) ([]bm25.Scored, error) {
	switch e.kind {
	case once, single:
		return append(out, bm25.Scored{Row: e.row, Score: e.weight}), nil
	case several:
		n := len(out)
		out, err := readList(out, base, e.list)
		if err == nil && len(out)-n != e.count {
			err = errBadPage
		}
		return out, err
	}
	return out, nil
}

// firstRow returns the row of the first passage; 0 for a list in blocks. It serves as a quick check whether a term
// is visible.
func (e *entry) firstRow(base uint32) (uint32, error) {
	if e.kind != several {
		return e.row, nil
	}
	step, n := binary.Uvarint(e.list)
	if n <= 0 || step>>1 > math.MaxUint32 {
		return 0, errBadPage
	}
	return base + uint32(step>>1), nil
}

// entries decodes a page of terms.
type entries struct {
	base uint32
	rest []byte
	term []byte
	head bool // the first entry is next
}

// readEntries starts to decode a page. Its key is the first term, which the body omits.
func readEntries(p Page) (entries, error) {
	base, n := binary.Uvarint(p.Body)
	if n <= 0 || base > math.MaxUint32 {
		return entries{}, errBadPage
	}
	return entries{base: uint32(base), rest: p.Body[n:], term: append([]byte(nil), p.Key...), head: true}, nil
}

// readNumber decodes an unsigned varint. Truncated or oversized numbers return errBadPage.
func (r *entries) readNumber() (uint64, error) {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		return 0, errBadPage
	}
	r.rest = r.rest[n:]
	return v, nil
}

// readBytes returns the next n bytes.
func (r *entries) readBytes(n uint64) ([]byte, error) {
	if n > uint64(len(r.rest)) {
		return nil, errBadPage
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b, nil
}

// readLength decodes a length from half a byte, extended by a varint from 15.
func (r *entries) readLength(half byte) (uint64, error) {
	if half < 15 {
		return uint64(half), nil
	}
	more, err := r.readNumber()
	if more > maxTerm {
		return 0, errBadPage
	}
	return more + 15, err
}

// nextEntry decodes the next entry. ok is false at the end of the page. All lengths and numbers are validated
// against the rest of the page.
func (r *entries) nextEntry(e *entry) (ok bool, err error) {
	if len(r.rest) == 0 {
		return false, nil
	}
	if !r.head {
		if err := r.nextTerm(); err != nil {
			return false, err
		}
	}
	r.head = false
	code, err := r.readNumber()
	if err != nil {
		return false, err
	}
	*e = entry{term: r.term, kind: int(code & 3), count: 1, inBody: true, weight: 1}
	switch e.kind {
	case once, single:
		row := uint64(r.base) + code>>2
		if row > math.MaxUint32 {
			return false, errBadPage
		}
		e.row = uint32(row)
		if e.kind == single {
			weight, err := r.readNumber()
			if err != nil {
				return false, err
			}
			e.weight, e.inBody = float32(weight>>1), weight&1 == 1
		}
		return true, nil
	case several:
		n, err := r.readNumber()
		if err != nil {
			return false, err
		}
		if e.list, err = r.readBytes(n); err != nil {
			return false, err
		}
	}
	if code>>3 > math.MaxUint32 {
		return false, errBadPage
	}
	e.count, e.inBody = int(code>>3), code>>2&1 == 1
	return true, nil
}

// nextTerm decodes a term by front coding: the length of the prefix shared with the previous term, and the rest.
func (r *entries) nextTerm() error {
	lengths, err := r.readBytes(1)
	if err != nil {
		return err
	}
	shared, err := r.readLength(lengths[0] >> 4)
	if err != nil {
		return err
	}
	own, err := r.readLength(lengths[0] & 15)
	if err != nil {
		return err
	}
	rest, err := r.readBytes(own)
	if err != nil || shared > uint64(len(r.term)) {
		return errBadPage
	}
	r.term = append(r.term[:shared], rest...)
	return nil
}

// findTerm advances to a term. ok is false if the page does not have it. The scan is linear, as front coding needs
// the previous entries; a page has some hundred.
func (r *entries) findTerm(term string, e *entry) (ok bool, err error) {
	wanted := []byte(term)
	for {
		if ok, err := r.nextEntry(e); !ok || err != nil {
			return false, err
		}
		if order := bytes.Compare(e.term, wanted); order >= 0 {
			return order == 0, nil
		}
	}
}

// readList appends the decoded passages of a list to out. Weights are small integers in float32, so that scores can
// replace them in place.
func readList(out []bm25.Scored, base uint32, list []byte) ([]bm25.Scored, error) {
	row := uint64(base)
	for len(list) > 0 {
		step, n := binary.Uvarint(list)
		if n <= 0 {
			return out, errBadPage
		}
		list = list[n:]
		if row += step >> 1; row > math.MaxUint32 || step>>1 > math.MaxUint32 {
			return out, errBadPage
		}
		weight := uint64(1)
		if step&1 == 1 {
			if weight, n = binary.Uvarint(list); n <= 0 {
				return out, errBadPage
			}
			list = list[n:]
		}
		out = append(out, bm25.Scored{Row: uint32(row), Score: float32(weight)})
	}
	return out, nil
}

// appendPosting encodes a passage after one in row before. The lowest bit marks an explicit weight, so a passage
// with one occurrence takes one number.
func appendPosting(list []byte, before uint32, p bm25.Scored) []byte {
	step := uint64(p.Row-before) << 1
	if p.Score == 1 {
		return binary.AppendUvarint(list, step)
	}
	return binary.AppendUvarint(binary.AppendUvarint(list, step|1), uint64(p.Score))
}

// appendTerm encodes a term with front coding against the previous one.
func appendTerm(page, before, term []byte) []byte {
	shared := 0
	for shared < len(before) && shared < len(term) && before[shared] == term[shared] {
		shared++
	}
	own := len(term) - shared
	page = append(page, byte(min(shared, 15)<<4|min(own, 15)))
	for _, n := range [...]int{shared, own} {
		if n >= 15 {
			page = binary.AppendUvarint(page, uint64(n-15))
		}
	}
	return append(page, term[shared:]...)
}

// appendRows encodes the page with a segment's rows: pairs of skipped and included rows.
func appendRows(runs []RowRange) Page {
	var body []byte
	end := uint32(0)
	for _, r := range runs {
		body = binary.AppendUvarint(binary.AppendUvarint(body, uint64(r.First-end)), uint64(r.Count))
		end = r.First + r.Count
	}
	return Page{Key: []byte{}, Body: body}
}

// readRows decodes the page of appendRows.
func readRows(p Page) (runs []RowRange, err error) {
	if len(p.Key) > 0 {
		return nil, errBadPage
	}
	r := entries{rest: p.Body}
	for end := uint64(0); len(r.rest) > 0; {
		skipped, err := r.readNumber()
		if err != nil {
			return nil, err
		}
		count, err := r.readNumber()
		if err != nil {
			return nil, err
		}
		if skipped > math.MaxUint32 || count > math.MaxUint32 || end+skipped+count > math.MaxUint32 {
			return nil, errBadPage
		}
		runs = append(runs, RowRange{uint32(end + skipped), uint32(count)})
		end += skipped + count
	}
	return runs, nil
}
