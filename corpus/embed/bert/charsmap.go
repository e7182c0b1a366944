package bert

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// charsmap is SentencePiece's normalisation table, equivalent to the normalizer Precompiled of Hugging Face's
// library tokenizers. It is a trie in the double-array format of the library darts-clone: the lowest byte of a unit
// is its label, bit 8 marks the end of a key, the rest is the offset to the next unit. The children of a unit are
// at its offset, XORed with their labels.
type charsmap struct {
	units []uint32
	texts string // replacements, each terminated by a 0 byte
}

// longestCluster is the maximum length in bytes of a grapheme cluster that is looked up as a whole.
const longestCluster = 5

// newCharsmap parses the table: the length of the trie in four bytes, little-endian, the trie, the replacements. It
// validates sizes; offsets are checked during lookups.
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

// fold normalises a text by grapheme clusters: it replaces a cluster with a prefix in the table as a whole, else
// its characters. Clusters are Unicode's extended grapheme clusters (UAX #29), as in the reference. Characters that
// are not in the table stay.
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

// replacement returns the replacement of the shortest prefix of a text in the table. It treats an invalid offset as
// not found. A unit at the end of a key holds the offset of its replacement.
func (m *charsmap) replacement(text string) (string, bool) {
	at := unitOffset(m.units[0])
	for i := range len(text) {
		at ^= uint32(text[i])
		if text[i] == 0 || int(at) >= len(m.units) {
			return "", false
		}
		unit := m.units[at]
		if unit&(1<<31|0xFF) != uint32(text[i]) {
			return "", false
		}
		if at ^= unitOffset(unit); int(at) >= len(m.units) {
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

// unitOffset returns the XOR offset from a unit to the next. With bit 9 the offset is in units of 256, for tries larger
// than 22 bits.
func unitOffset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
