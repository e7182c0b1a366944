package sqlite

import (
	"bytes"
	"encoding/binary"

	"footnote/corpus"
	"footnote/sql/bm25"
)

// leafHead is the length of what stands before a leaf's data: where its first row begins, if one does, and where the data ends.
const leafHead = 4

// A leaf is a page of terms, each followed by its doclist. What is left of the last doclist of the page before comes first.
type leaf struct {
	data     []byte
	firstRow int
	terms    varints // behind the data: where each term of the page begins, counted from the one before
}

func parseLeaf(block []byte) (leaf, error) {
	if len(block) < leafHead {
		return leaf{}, errBadIndex
	}
	end := int(binary.BigEndian.Uint16(block[2:]))
	if end < leafHead || end > len(block) {
		return leaf{}, errBadIndex
	}
	return leaf{data: block[:end], firstRow: int(binary.BigEndian.Uint16(block)), terms: varints{data: block[end:]}}, nil
}

// nextTerm returns where the next term of the page begins, the end of the data if none does.
func (p *leaf) nextTerm(after int) int {
	if len(p.terms.data) == 0 {
		return len(p.data)
	}
	return after + int(min(p.terms.next(), uint64(len(p.data))))
}

// find returns where the doclist of a term lies on the page; from is 0 if the term is not there. A term shares what it begins
// with with the one before, but for the page's first.
func (p *leaf) find(key []byte) (from, to int, err error) {
	var term []byte
	first := true
	for at := p.nextTerm(0); at < len(p.data); first = false {
		next := p.nextTerm(at)
		if at < leafHead || next <= at || next > len(p.data) {
			return 0, 0, errBadIndex
		}
		r := varints{data: p.data[at:next]}
		var keep uint64
		if !first {
			keep = r.next()
		}
		more := r.next()
		if r.bad || keep > uint64(len(term)) || more > uint64(len(r.data)) {
			return 0, 0, errBadIndex
		}
		term = append(term[:keep], r.data[:more]...)
		switch bytes.Compare(term, key) {
		case 0:
			return next - len(r.data) + int(more), next, nil
		case 1:
			return 0, 0, nil
		}
		at = next
	}
	return 0, 0, nil
}

// leafKey is how a term is written in a leaf: those of the main index, and there is no other, begin with a 0.
func leafKey(term string) []byte { return append([]byte{'0'}, term...) }

// A doclist is read page by page: each row's number, counted from the one before unless it is the first of the list or of
// its page, then twice the length of its places in bytes, then the places. A 1 among them is followed by a column's number.
type doclist struct {
	list     []bm25.Scored
	page     int64 // the id of the one that was read last, of the segment's first before
	sought   bool  // its first page was read
	ended    bool
	row      uint64
	left     uint64 // bytes of the last row's places that are still to come
	inTitle  bool   // column 0 is the title, and what is not said to be in another column is in it
	atColumn bool
}

// add reads the segment's next page. The term is sought on the first one.
func (d *doclist) add(page int64, block, key []byte) error {
	d.page = page
	if d.ended {
		return nil
	}
	p, err := parseLeaf(block)
	if err != nil {
		return err
	}
	from, to := leafHead, 0
	if d.sought {
		to = p.nextTerm(0)
	} else {
		d.sought = true
		if from, to, err = p.find(key); err != nil || from == 0 {
			d.ended = true
			return err
		}
	}
	d.ended = to < len(p.data)
	return d.read(p, from, to)
}

func (d *doclist) read(p leaf, from, to int) error {
	if from > to || to > len(p.data) {
		return errBadIndex
	}
	r := varints{data: p.data[from:to]}
	for len(r.data) > 0 {
		if d.left == 0 {
			absolute := len(d.list) == 0 || to-len(r.data) == p.firstRow
			number := r.next()
			d.left = r.next() >> 1 // the last bit marks a deletion, which contentless_delete has no use for
			if r.bad {
				return errBadIndex
			}
			if absolute {
				d.row = number
			} else {
				d.row += number
			}
			d.inTitle, d.atColumn = true, false
			d.list = append(d.list, bm25.Scored{Row: uint32(d.row)})
			continue
		}
		here := min(d.left, uint64(len(r.data)))
		d.count(r.data[:here])
		d.left -= here
		r.data = r.data[here:]
	}
	return nil
}

// count adds up the places of the last row. Numbers of several bytes, whose last one has no high bit, are neither 1 nor a column's.
func (d *doclist) count(places []byte) {
	var weight float32
	inside := false
	for _, b := range places {
		switch {
		case b&0x80 != 0:
			inside = true
			continue
		case d.atColumn:
			d.inTitle, d.atColumn = b == 0, false
		case b == 1 && !inside:
			d.atColumn = true
		case d.inTitle:
			weight += corpus.TitleWeight
		default:
			weight++
		}
		inside = false
	}
	d.list[len(d.list)-1].Score += weight
}

// varints reads SQLite's numbers of variable length: seven bits in each byte, the highest first, and eight in a ninth.
type varints struct {
	data []byte
	bad  bool // there was less than was asked for
}

func (r *varints) next() (n uint64) {
	for i, b := range r.data {
		if i == 8 {
			r.data = r.data[9:]
			return n<<8 | uint64(b)
		}
		n = n<<7 | uint64(b&0x7f)
		if b&0x80 == 0 {
			r.data = r.data[i+1:]
			return n
		}
	}
	r.data, r.bad = nil, true
	return 0
}

func (r *varints) skip(n int) {
	for range n {
		r.next()
	}
}
