package corpus

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"

	"github.com/footnote/footnote/chat"
)

// WordBox is the position of a word on its page.
type WordBox struct {
	Start, End int // rune offsets in the document's text
	Box        chat.Box
	Turn       int // clockwise quarter turns of the word on its rendered page
}

// Words are packed word boxes, about ten bytes each, since a long document has millions. nil is empty.
type Words []byte

// boxUnits is the resolution of coordinates: 1/65535 of a page, less than a hundredth of a point on A4.
const boxUnits = 65535

// PackWords encodes word boxes as varints, each value relative to the previous word. Coordinates are rounded to
// 1/65535. The length of a rotated word is negative, with the rotation in its last two bits. A box is its page and
// four coordinates.
func PackWords(words []WordBox) Words {
	if len(words) == 0 {
		return nil
	}
	b := make([]byte, 0, 12*len(words))
	var last WordBox
	var at [4]int64
	for _, w := range words {
		b = binary.AppendVarint(b, int64(w.Start-last.Start))
		length := int64(w.End - w.Start)
		if turn := w.Turn & 3; turn != 0 {
			length = -(length<<2 | int64(turn))
		}
		b = binary.AppendVarint(b, length)
		b = binary.AppendVarint(b, int64(w.Box[0]-last.Box[0]))
		for i, coordinate := range w.Box[1:] {
			v := int64(math.Round(min(max(coordinate, 0), 1) * boxUnits))
			b = binary.AppendVarint(b, v-at[i])
			at[i] = v
		}
		last = w
	}
	return b
}

var errBadWords = errors.New("word boxes are damaged")

// Unpack decodes the output of PackWords. It returns an error for invalid input.
func (b Words) Unpack() ([]WordBox, error) {
	words := make([]WordBox, 0, len(b)/8)
	var start, page int64
	var at [4]int64
	for len(b) > 0 {
		var v [7]int64
		for i := range v {
			n := 0
			if v[i], n = binary.Varint(b); n <= 0 {
				return nil, errBadWords
			}
			b = b[n:]
		}
		start += v[0]
		page += v[2]
		box := chat.Box{float64(page)}
		for i := range at {
			at[i] += v[3+i]
			box[1+i] = float64(at[i]) / boxUnits
		}
		length, turn := v[1], int64(0)
		if length < 0 {
			length, turn = -length>>2, -length&3
		}
		words = append(words, WordBox{Start: int(start), End: int(start + length), Box: box, Turn: int(turn)})
	}
	return words, nil
}

// WordPiece is a batch of consecutive words, with the text range that they cover.
type WordPiece struct {
	Words      Words
	Start, End int
}

// WordPieces repacks the words of blocks in batches of n ≥ 1. Stores keep a batch in a row, and read only those
// needed for a range.
func WordPieces(blocks []Block, n int) iter.Seq2[WordPiece, error] {
	return func(yield func(WordPiece, error) bool) {
		var piece []WordBox
		give := func() bool {
			p := WordPiece{Words: PackWords(piece), Start: piece[0].Start, End: piece[0].End}
			for _, w := range piece {
				p.Start, p.End = min(p.Start, w.Start), max(p.End, w.End)
			}
			piece = piece[:0]
			return yield(p, nil)
		}
		for _, block := range blocks {
			words, err := block.Words.Unpack()
			if err != nil {
				yield(WordPiece{}, err)
				return
			}
			for _, w := range words {
				if piece = append(piece, w); len(piece) == n && !give() {
					return
				}
			}
		}
		if len(piece) > 0 {
			give()
		}
	}
}
