package bert

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// charsmap is the table by which SentencePiece normalizes texts. It gives what the normalizer Precompiled of Hugging
// Face's library tokenizers gives. The form of the tree is that of the library darts-clone: a unit's lowest byte is the
// byte that leads to it, bit 8 says that a text ends there, and the rest is the way to the unit of the next byte. The
// tree is a double array: the children of a unit lie at its way, with the exclusive or of their byte.
type charsmap struct {
	units []uint32
	texts string // what is put in the place of others, each with a 0 behind it
}

// longestCluster is how many bytes characters that belong together may have to be looked up as one.
const longestCluster = 5

// newCharsmap reads the table: the bytes of the tree, the tree, the texts. Its first four bytes are the length of the
// tree, little-endian. Sizes are checked here, ways while they are followed.
func newCharsmap(raw []byte) (*charsmap, error) {
	if len(raw) < 4 {
		return nil, errors.New("it is empty")
	}
	size := binary.LittleEndian.Uint32(raw)
	if raw = raw[4:]; size == 0 || size%4 != 0 || uint64(size) > uint64(len(raw)) {
		return nil, errors.New("its tree is cut")
	}
	m := &charsmap{units: make([]uint32, size/4), texts: string(raw[size:])}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	if !utf8.ValidString(m.texts) {
		return nil, errors.New("its texts are no UTF-8")
	}
	for text := range strings.SplitSeq(m.texts, "\x00") {
		if len(text) > maxContent {
			return nil, fmt.Errorf("one of its texts has %d bytes", len(text))
		}
	}
	return m, nil
}

// fold normalizes a text: characters that belong together as one if the table has a beginning of them, else each. The
// clusters are Unicode's extended grapheme clusters (UAX #29), as in the reference. A character that the table doesn't
// have stays.
func (m *charsmap) fold(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for clusters := graphemes.FromString(text); clusters.Next(); {
		cluster := clusters.Value()
		if len(cluster) <= longestCluster {
			if by, ok := m.replacement(cluster); ok {
				b.WriteString(by)
				continue
			}
		}
		for len(cluster) > 0 {
			_, width := utf8.DecodeRuneInString(cluster)
			by, ok := m.replacement(cluster[:width])
			if !ok {
				by = cluster[:width]
			}
			b.WriteString(by)
			cluster = cluster[width:]
		}
	}
	return b.String()
}

// replacement is what stands for the shortest beginning of a text that the table has. A way out of the table, which a
// wrong one may have, leads nowhere. A unit that ends a text points to where its replacement begins among the texts.
func (m *charsmap) replacement(text string) (string, bool) {
	at := wayOf(m.units[0])
	for i := range len(text) {
		at ^= uint32(text[i])
		if text[i] == 0 || int(at) >= len(m.units) {
			return "", false
		}
		unit := m.units[at]
		if unit&(1<<31|0xFF) != uint32(text[i]) {
			return "", false
		}
		if at ^= wayOf(unit); int(at) >= len(m.units) {
			return "", false
		}
		if unit&(1<<8) != 0 {
			from := int(m.units[at] &^ (1 << 31))
			if from > len(m.texts) || from < len(m.texts) && !utf8.RuneStart(m.texts[from]) {
				return "", false
			}
			by, _, _ := strings.Cut(m.texts[from:], "\x00")
			return by, true
		}
	}
	return "", false
}

// wayOf is what the place of a unit differs by from that of the next. Bit 9 says that the way is in units of 256, for
// trees that are larger than 22 bits reach.
func wayOf(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
