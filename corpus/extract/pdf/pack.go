package pdf

import (
	"encoding/binary"
	"errors"

	"footnote/chat"
	"footnote/corpus"
)

// boxSteps is how finely boxes are kept: finer than a pixel, and short on the wire.
const boxSteps = 16384

// packed is a block on its way from the worker, its words as bytes: a long document has millions of them.
type packed struct {
	Block corpus.Block
	Words []byte
}

// pack takes the words out of a block. Each is its distance from the end of the one before, its length, and its box.
func pack(b corpus.Block) packed {
	buf := make([]byte, 0, 11*len(b.Words))
	at := b.Start
	for _, w := range b.Words {
		buf = binary.AppendUvarint(buf, uint64(w.Start-at))
		buf = binary.AppendUvarint(buf, uint64(w.End-w.Start))
		for _, side := range w.Box[1:] {
			buf = binary.BigEndian.AppendUint16(buf, uint16(side*boxSteps))
		}
		at = w.End
	}
	b.Words = nil
	return packed{b, buf}
}

// unpack puts the words back.
func (p packed) unpack() (corpus.Block, error) {
	b, buf, at := p.Block, p.Words, p.Block.Start
	if len(buf) > 0 {
		b.Words = make([]corpus.WordBox, 0, len(buf)/10)
	}
	for len(buf) > 0 {
		gap, n := binary.Uvarint(buf)
		length, m := binary.Uvarint(buf[max(n, 0):])
		if n <= 0 || m <= 0 || len(buf) < n+m+8 || gap > 1<<30 || length > 1<<30 {
			return b, errors.New("words that can't be unpacked")
		}
		buf = buf[n+m:]
		w := corpus.WordBox{Start: at + int(gap), End: at + int(gap+length), Box: chat.Box{float64(b.Page)}}
		for i := range 4 {
			w.Box[i+1] = float64(binary.BigEndian.Uint16(buf[2*i:])) / boxSteps
		}
		buf = buf[8:]
		b.Words = append(b.Words, w)
		at = w.End
	}
	return b, nil
}
