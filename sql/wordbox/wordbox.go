// Package wordbox packs where the words of a document stand on its pages, for the stores.
package wordbox

import (
	"encoding/binary"
	"errors"
	"math"

	"footnote/chat"
	"footnote/corpus"
)

// boxUnits is how finely a word's coordinates are kept: 1/65535 of a page, less than a hundredth of a point on A4.
const boxUnits = 65535

// Encode packs word boxes as varints, each value but the first relative to the word before: about 10 bytes a word.
func Encode(words []corpus.WordBox) []byte {
	b := make([]byte, 0, 12*len(words))
	var last corpus.WordBox
	var at [4]int64
	for _, w := range words {
		b = binary.AppendVarint(b, int64(w.Start-last.Start))
		b = binary.AppendVarint(b, int64(w.End-w.Start))
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

// Decode is the reverse of Encode, to within boxUnits. It fails for anything that Encode did not make.
func Decode(b []byte) ([]corpus.WordBox, error) {
	words := make([]corpus.WordBox, 0, len(b)/8)
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
		words = append(words, corpus.WordBox{Start: int(start), End: int(start + v[1]), Box: box})
	}
	return words, nil
}
